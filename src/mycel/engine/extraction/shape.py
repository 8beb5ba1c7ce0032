"""How a sentence is built: who does what, in which tense, or what is done to what."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from mycel.engine.extraction.verbs import BASE, THIRD_PERSON, is_doing, is_participle, is_past
from mycel.engine.extraction.wordset import word_set

CACHED_WORDS = 32_768

_THIRD, _BASE, _PAST, _PARTICIPLE, _DOING, _ADVERB = 1, 2, 4, 8, 16, 32

_ADVERBS = word_set("now only always never just also not already still then simply all both no longer rarely usually")
_NOT_SUBJECTS = word_set(
    """
    a about across after all an and any are as at be been before between both by can could did do does each every
    few for from had has have he her his i if in into is its it's last less many may me might more most must my new
    next no of off old on once one or other our out over per same several should some than that's the their them
    these they this those three to too two under until us via was we were what when which while who will with
    without would you your
    """
)
_SINGULAR_PRONOUNS = word_set("it that which this he she")
_NO_PLURALS = word_set(
    "is was has does this its us as always perhaps yes thanks it's that's there's status bus lens less"
)
# With "we" before them these tell how it is, not what is done.
_STATIVE = word_set(
    """
    agree believe care discuss expect feel find get guess have hear hope know look lose mean need remember say see
    seem talk think understand want wonder worry
    """
)
# What a base form says by the word before it.
_BASE_AFTER = {
    "we'll": "we will",
    "will": "will do",
    "shall": "will do",
    "they'll": "will do",
    "it'll": "will do",
    "to": "to do",
    "i": "I do",
}
_NOTHING_AFTER = word_set("must should may cannot can't doesn't don't won't can could would might")
# What a past form says by the word before it.
_PAST_AFTER = (
    dict.fromkeys(
        word_set("is are it's that's they're there's gets get isn't aren't stays stay remains remain"), "is done"
    )
    | dict.fromkeys(word_set("was were been wasn't weren't got"), "was done")
    | dict.fromkeys(word_set("have has had we've i've they've you've"), "has done")
    | {"be": "be done", "i": "I did", "we": "we did"}
)
_RUN_UP = word_set("and so but also please pls ok okay then well yes oh btw right fine good agreed alright no")
_FINITE = word_set(
    """
    is are was were has have had will can can't cannot must may should does did do doesn't don't didn't isn't aren't
    wasn't won't would could might it's that's there's they're we're i'm gets get stays stay goes go keeps keep
    """
)
_TELLS = frozenset(
    ("it does", "they do", "we do", "we feel", "will do", "it did", "I did", "we did", "we will", "has done")
)
_NO_BARE_NOUNS = word_set(
    """
    the a an this that these those our my your their its his her each every all any some both no one two three four
    five six seven eight nine ten i we you he she it they i'll i'm i've we'll we're we've it's that's there there's
    who what why how where when which if because since
    """
)
_AFTER_PLURALS = word_set(
    "are go stay get have need must will may can come only never always don't can't run older above below with without"
    " from of in for"
)


def add_build_signs(found: set[str], words: Sequence[str]) -> None:
    """What the verbs show, each seen with the word before it, and what the sentence begins with."""
    before = ""
    for word in words:
        kind = _kind(word)
        if kind & _ADVERB and before:
            continue
        if kind:
            _add_verb(found, before, word, kind)
        before = word
    _add_subject_signs(found, words)


@lru_cache(maxsize=CACHED_WORDS)
def _kind(word: str) -> int:
    return (
        _THIRD * (word in THIRD_PERSON)
        | _BASE * (word in BASE)
        | _PAST * is_past(word)
        | _PARTICIPLE * is_participle(word)
        | _DOING * is_doing(word)
        | _ADVERB * (word in _ADVERBS)
    )


def _add_verb(found: set[str], before: str, word: str, kind: int) -> None:
    if kind & _THIRD and ((before and before not in _NOT_SUBJECTS and word != "has") or before in _SINGULAR_PRONOUNS):
        found.add("it does")
    if kind & _BASE:
        sign = _base_sign(before, word)
        if sign:
            found.add(sign)
    if kind & (_PAST | _PARTICIPLE):
        sign = _past_sign(before, kind)
        if sign:
            found.add(sign)
    elif kind & _DOING and before in _DOING_AFTER:
        found.add(_DOING_AFTER[before])


_DOING_AFTER = {
    "": "doing first",
    "we're": "we are doing",
    "are": "we are doing",
    "i'm": "I am doing",
    "am": "I am doing",
}


def _base_sign(before: str, word: str) -> str | None:
    if before == "we":
        return "we feel" if word in _STATIVE else "we do"
    if before in _BASE_AFTER:
        return _BASE_AFTER[before]
    if before in _NOTHING_AFTER or before in _NOT_SUBJECTS:
        return None
    return "they do" if _is_plural(before) else None


def _past_sign(before: str, kind: int) -> str | None:
    after = _PAST_AFTER.get(before)
    if after in ("is done", "was done"):
        return after if kind & _PARTICIPLE else None
    if after is not None:
        return after
    if not before:
        return "did first"
    return "it did" if kind & _PAST and before not in _NOT_SUBJECTS else None


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith("ss") and word not in _NO_PLURALS


def _add_subject_signs(found: set[str], words: Sequence[str]) -> None:
    start = next((place for place, word in enumerate(words) if word not in _RUN_UP), len(words))
    if start == len(words):
        return
    first = words[start]
    if first[0].isdigit() or first in ("one", "two", "three", "half"):
        found.add("number first")
    elif first not in _NO_BARE_NOUNS and first not in BASE and _begins_with_plural(words[start : start + 5]):
        found.add("bare plural first")
    if first not in BASE and len(words) - start >= 3 and found.isdisjoint(_TELLS) and _FINITE.isdisjoint(words[start:]):
        found.add("no verb")


def _begins_with_plural(words: Sequence[str]) -> bool:
    """Whether its subject is a plural without an article: "entries older than a day are dropped"."""
    for word, following in pairwise(words):
        if word in _FINITE:
            return False
        if _is_plural(word):
            return following in _AFTER_PLURALS or following in BASE
    return False
