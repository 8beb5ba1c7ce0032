"""The signs that a sentence shows: its phrases and its build."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from mycel.engine.extraction.phrases import PHRASES
from mycel.engine.extraction.shape import add_build_signs
from mycel.engine.extraction.topic import Topic
from mycel.engine.extraction.verbs import BASE
from mycel.engine.extraction.wordset import word_set

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
