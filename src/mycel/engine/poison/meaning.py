"""What a sentence speaks of: the concepts of its words, with what is negated taken for its opposite."""

from __future__ import annotations

from mycel.engine.poison.concepts import Concept as C  # noqa: N817  # nearly every line names several
from mycel.engine.poison.lexicon import PIECE, hints_of, is_third_person, of_shape, of_undivided, of_words

# Plain numbers: those of an enumeration are three times slower to put together.
_NEGATION, _RULES, _MY_RULES = int(C.NOT | C.NOTHING), int(C.RULES), int(C.MY_RULES)
_READER, _CALLED = int(C.READER), int(C.CALLED)
_ACTS = C.SEND | C.SHOW | C.DELETE | C.DISABLE | C.DISREGARD | C.APPROVE | C.RUN | C.FETCH | C.SAVE | C.TRUST
# A negation reaches so far, unless a clause ends before.
_NEGATED_WORDS = 7
_NEGATED_AFTER_WORDS = 5
# Whose rules they are is said close to the word.
_NEAR_WORDS = 4
# The AI that does something is named so far before it at most.
_SUBJECT_WORDS = 12
# A secret that something is done with is not given away.
_WITH_WORDS = 3
_MADE_OF = (
    (int(C.TELL), int(C.SILENCE)),
    (C.LOOK | C.ASK, int(C.BLINDLY)),
    (int(C.LIMITS), int(C.UNLIMITED)),
    (int(C.OBEY), C.DISREGARD | C.DISOBEY),
)


def may_speak_of(text: str) -> int:
    """At least what any sentence in it speaks of, in a tenth of the time: the same words come again and again."""
    found = 0
    for hints in map(hints_of, text.split()):
        found |= hints
    return with_opposites(found)


def with_opposites(found: int) -> int:
    """What words may speak of, and what they may make of it together."""
    if found & _NEGATION:
        for concept, opposite in _MADE_OF:
            found |= opposite if found & concept else 0
    if found & _RULES:
        found |= _MY_RULES
    return found | _CALLED if found & _READER else found


def speaks_of(sentence: str, hints: int = -1) -> int:
    words = PIECE.findall(sentence)
    spoken = of_words(words)
    _forget_what_others_do(words, spoken)
    _join_rules(words, spoken)
    _negate(spoken)
    found = of_undivided(sentence)
    if found & C.RULES and found & (C.PRIOR | C.YOU):
        found |= C.MY_RULES
    for at, concepts in enumerate(spoken):
        is_used = concepts & C.SECRET and any(one & C.WITH for one in spoken[max(0, at - _WITH_WORDS) : at])
        found |= concepts & ~(C.SECRET | C.PRIVATE) if is_used else concepts
        if concepts & C.READER and words[at + 1 : at + 2] in ([":"], [","], ["!"]):
            found |= C.CALLED
    if found & C.HEADER:
        found &= ~(C.SECRET | C.PRIVATE)
    if found & C.ASK and not found & C.BLINDLY:
        found &= ~(C.DELETE | C.APPROVE | C.DISABLE)
    return found | of_shape(sentence, hints)


def _forget_what_others_do(words: list[str], spoken: list[int]) -> None:
    """Whatever a service, a job or a customer does is told, not ordered."""
    for at, concepts in enumerate(spoken):
        if concepts & _ACTS and is_third_person(words[at]):
            before = spoken[max(0, at - _SUBJECT_WORDS) : at]
            if not any(one & C.READER for one in before):
                spoken[at] &= ~_ACTS


def _join_rules(words: list[str], spoken: list[int]) -> None:
    """Rules with a subject of their own are about work; those before this text, or of its reader, are not."""
    for at, concepts in enumerate(spoken):
        if not concepts & C.RULES:
            continue
        if at + 1 < len(spoken) and spoken[at + 1] & C.SUBJECT:
            spoken[at] &= ~C.RULES
        elif concepts & (C.PRIOR | C.YOU) or any(
            one & (C.PRIOR | C.YOU) for one in spoken[max(0, at - _NEAR_WORDS) : at + 1 + _NEAR_WORDS]
        ):
            spoken[at] |= C.MY_RULES


def _negate(spoken: list[int]) -> None:
    left = 0
    for at, concepts in enumerate(spoken):
        if concepts & C.CLAUSE and not concepts & C.NOT:
            left = 0
        if left and concepts:
            spoken[at] = _opposite(concepts)
        elif concepts & C.TELL and any(one & C.NOTHING for one in spoken[at + 1 : at + 1 + _NEGATED_AFTER_WORDS]):
            spoken[at] |= C.SILENCE
        left = _NEGATED_WORDS if concepts & C.NOT else max(0, left - 1)


def _opposite(concepts: int) -> int:
    found = concepts & ~(_ACTS | C.TELL | C.LOOK | C.ASK | C.OBEY | C.REVIEW | C.VITAL)
    for concept, opposite in _MADE_OF:
        found |= opposite if concepts & concept else 0
    return found
