"""The signs that a sentence shows: its phrases, its form, and how it is built."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from mycel.engine.english import word_set
from mycel.engine.english.phrases import PHRASES
from mycel.engine.english.verbs import BASE, THIRD_PERSON, is_doing, is_past, is_past_participle
from mycel.engine.extraction.rules import Topic

CACHED_TOPICS = 1024

_WORD = re.compile(r"[a-z0-9][a-z0-9'_-]*")
_QUANTITY = re.compile(
    r"\d ?%|\d[,.]*k? (?:ms|s|sec|seconds?|min|minutes?|hours?|h|days?|weeks?|months?|years?|rows|events|connections"
    r"|requests|times|per|in total|[kKMGT]?i?B|[kMG]?Hz|million)\b|\d(?:ms|[kKMGT]i?B|s|h|k|M)\b"
)
_PLACE = re.compile(r"://|\w/\w|\w\.(?:md|pdf|ya?ml|toml|py|json|rb|txt|csv|docx?|xlsx?|sql|html|sh)\b")
_DATE = re.compile(r"\bthe \d{1,2}(?:st|nd|rd|th)\b|\bversion \d", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_CONCLUDES = word_set("so then agreed")
_OPENER = word_set("ok okay fine good right alright great yes yep no sure agreed exactly cool perfect")
# How a sentence begins, by its first word.
_BEGINNINGS: dict[str, str] = {
    "I first": "i i'm i've i'll i'd my",
    "it first": "it it's that that's this they these those there there's",
    "thing first": "the our each every all any a an",
    "no first": "no",
    "imperative": " ".join(BASE - {"live", "need", "back", "last", "please"}),
}
_FIRST = {word: name for name, words in _BEGINNINGS.items() for word in words.split()}
_RUN_UP = word_set("and so but also please pls ok okay then well yes oh btw")
# By the sort of word, in the order of `Topic`, and how many of them.
_TOPIC_SIGNS = (
    ("technical", 0, 1),
    ("technical twice", 0, 2),
    ("technical thrice", 0, 3),
    ("work", 1, 1),
    ("work twice", 1, 2),
    ("personal", 2, 1),
)


def words_of(lowered: str) -> list[str]:
    return _WORD.findall(lowered)


def add_signs(found: set[str], text: str, *, words: Sequence[str], topic: Topic) -> None:
    """Adds the names of all signs of the sentence but those of phrases, as they stand in the table of weights."""
    add_build_signs(found, words)
    _add_form_signs(found, text, words=words)
    found.update(_topic_signs(topic))


@lru_cache(maxsize=CACHED_TOPICS)
def _topic_signs(topic: Topic) -> tuple[str, ...]:
    return tuple(name for name, sort, least in _TOPIC_SIGNS if topic[sort] >= least)


# What must follow the first two words, and the sign that it then is.
_Rest = tuple[list[str], str]


def _index() -> tuple[dict[str, list[str]], dict[str, dict[str, list[_Rest]]]]:
    """Signs by their only word, and by the first word, the second, and what must follow them."""
    single: dict[str, list[str]] = {}
    longer: dict[str, dict[str, list[_Rest]]] = {}
    for name, phrases in PHRASES.items():
        for phrase in phrases.split("|"):
            first, *rest = phrase.split()
            if rest:
                longer.setdefault(first, {}).setdefault(rest[0], []).append((rest[1:], name))
            else:
                single.setdefault(first, []).append(name)
    return single, longer


_SINGLE, _LONGER = _index()


def phrase_signs(words: Sequence[str]) -> set[str]:
    """The names of what its phrases are a sign of."""
    found: set[str] = set()
    for word in words:
        if word in _SINGLE:
            found.update(_SINGLE[word])
    for place, (word, following) in enumerate(pairwise(words)):
        if word in _LONGER and following in _LONGER[word]:
            for rest, name in _LONGER[word][following]:
                if not rest or words[place + 2 : place + 2 + len(rest)] == rest:
                    found.add(name)
    return found


def _add_form_signs(found: set[str], text: str, *, words: Sequence[str]) -> None:
    _add_beginning_signs(found, text, words=words)
    if words and words[-1] == "then":
        found.add("then last")
    if "`" in text:
        found.add("code")
    if ", " in text:
        found.add("comma")
    if ": " in text or "; " in text:
        found.add("colon")
    if ("/" in text or "." in text[:-1]) and _PLACE.search(text):
        found.add("place name")
    if _DIGIT.search(text):
        found.update(name for name, pattern in (("quantity", _QUANTITY), ("date", _DATE)) if pattern.search(text))
    if len(words) < 6:
        found.add("short")
    elif len(words) >= 9:
        found.update(("nine words", "fifteen words") if len(words) >= 15 else ("nine words",))


def _add_beginning_signs(found: set[str], text: str, *, words: Sequence[str]) -> None:
    first = next((word for word in words if word not in _RUN_UP), "")
    if first in _FIRST:
        found.add(_FIRST[first])
    if first == "our":
        found.add("our first")
    if text.startswith("`"):
        found.add("thing first")
    if words[:1] and words[0] in _OPENER:
        found.add("opener")
    if next((word for word in words if word not in _OPENER), "") in _CONCLUDES or words[:1] == ["agreed"]:
        found.add("concludes")


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
_LONG_RUN_UP = _RUN_UP | word_set("right fine good agreed alright no")
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
        | _PARTICIPLE * is_past_participle(word)
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
    start = next((place for place, word in enumerate(words) if word not in _LONG_RUN_UP), len(words))
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
