"""Judging two statements that are not English, by their letters alone.

Neither the rules nor the trained judge know their words. So only what is written alike is the same, and only another
value between the same words contradicts; nothing is said of meaning.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import zip_longest

from mycel.engine.judging.clauses import PLAIN
from mycel.engine.judging.judgement import LIKELY_SAME, MOST_UNLIKELY_SAME, Judgement
from mycel.engine.language import is_negation, is_small_word, read_value

# Said in the same words in the same order.
SAME = 0.95
# The words are there in another order or with another ending: a person says.
OTHER_VALUE = 0.8
LEAST_WORDS = 3
# Writing without spaces has a word in two signs, so that fewer say nothing.
LEAST_SIGNS = 6
# Two forms of one word begin with so many of the same letters, and differ in an ending.
LEAST_STEM = 5
MOST_ENDING = 3

_TOKEN = re.compile(r"[\d]+(?:[.,:/-]\d+)*%?|[^\W\d_]+|[%€$£]")
# Scripts that put no space between words: each sign is compared by itself.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
# Particles and endings that join words or make a sentence polite.
_PARTICLES = re.compile("(?:でした|ました|ます|です|である|だ|は|が|を|に|へ|で|も|の|と|的|了|地|得|吗|呢|吧|啊)")
_NEGATING_SIGNS = re.compile("[不没沒无無未非勿别莫]|ない|ません|なし|ずに|ไม่")


def judge_unread(earlier: str, later: str) -> Judgement:
    """Compare two texts of which at least one is not English."""
    first, second = _tokens(earlier), _tokens(later)
    if first == second:
        return Judgement(SAME, 0.0, supersedes=False, reason="the same words")
    if _negations(earlier, first) == _negations(later, second):
        if _numbers(first) == _numbers(second) and _are_same_words(first, second):
            reason = "the same words in another order or form"
            return Judgement(LIKELY_SAME, 0.0, supersedes=False, reason=reason, doubtful=True)
        other = _other_value(first, second)
        if other:
            return Judgement(MOST_UNLIKELY_SAME, OTHER_VALUE, supersedes=False, reason=other)
    shared, total = Counter(first) & Counter(second), len(first) + len(second)
    alike = min(MOST_UNLIKELY_SAME, 2 * shared.total() / total) if total else 0.0
    return Judgement(alike, 0.0, supersedes=False, reason="different statements")


def _tokens(text: str) -> list[str]:
    """The words and numbers of a text; of a script without spaces its signs."""
    found: list[str] = []
    for token in _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()):
        found.extend(token if _UNSPACED.search(token) else (token,))
    return found


def _negations(text: str, tokens: list[str]) -> Counter[str]:
    signs = _NEGATING_SIGNS.findall(text)
    return Counter("not" for token in tokens if is_negation(token)) + Counter(signs)


def _numbers(tokens: list[str]) -> Counter[str]:
    return Counter(token for token in tokens if token[0].isdigit() or not token[0].isalnum())


def _are_same_words(first: list[str], second: list[str]) -> bool:
    """Whether each word that says something has its partner in the other, in whatever order and form."""
    ones, others = (_content(tokens) for tokens in (first, second))
    is_unspaced = any(_UNSPACED.match(token) for token in (*ones, *others))
    if is_unspaced:
        # Moved about, the same signs may say who does what to whom the other way round.
        return len(ones) >= LEAST_SIGNS and _PARTICLES.sub("", "".join(ones)) == _PARTICLES.sub("", "".join(others))
    if len(ones) != len(others) or len(ones) < LEAST_WORDS:
        return False
    left = Counter(others)
    unmatched = [word for word in ones if not _take(left, word)]
    open_words = list(left.elements())
    for word in unmatched:
        partner = next((other for other in open_words if _are_forms_of_one(word, other)), None)
        if partner is None:
            return False
        open_words.remove(partner)
    return True


def _content(tokens: list[str]) -> list[str]:
    return [token for token in tokens if not is_small_word(token)]


def _take(left: Counter[str], word: str) -> bool:
    if not left[word]:
        return False
    left[word] -= 1
    return True


def _are_forms_of_one(one: str, other: str) -> bool:
    shorter = min(len(one), len(other))
    common = next((at for at, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs), shorter)
    return common >= LEAST_STEM and max(len(one), len(other)) - common <= MOST_ENDING


def _other_value(first: list[str], second: list[str]) -> str:
    """Name the one value that differs between the same words in the same order.

    A number without a unit is one at the end alone: before other words it may be the number of a room or a ticket.
    """
    if len(first) != len(second) or len(first) <= LEAST_WORDS:
        return ""
    differing = [at for at, (one, other) in enumerate(zip_longest(first, second)) if one != other]
    if len(differing) != 1:
        return ""
    (at,) = differing
    one, other = read_value(first, at), read_value(second, at)
    if one is None or other is None or one[0].dimension != other[0].dimension:
        return ""
    if one[0].dimension == PLAIN and at + 1 < len(first):
        return ""
    return "" if one[0].agrees_with(other[0]) else f"other value: {first[at]} / {second[at]}"
