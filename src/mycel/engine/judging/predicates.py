"""The verb of a clause with its auxiliaries: what is done, whether it is denied, and when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from mycel.engine.judging.clauses import Tense
from mycel.engine.judging.lexing import Lexeme, Part
from mycel.engine.judging.opposites import NEGATORS
from mycel.engine.judging.verbs import (
    AUXILIARIES,
    PREPOSITIONS,
    is_gerund,
    is_participle,
    is_regular_past,
    known_verbs,
    stem,
    stems,
)
from mycel.engine.judging.vocabulary import ARTICLES, BE, IRREGULAR, terms
from mycel.engine.judging.word_sets import word_set

PAST = word_set("was were had did wasn't weren't hadn't didn't ago originally formerly previously yesterday")
FUTURE = word_set("will won't shall soon tomorrow")

_HAVE = word_set("has have had having hasn't haven't hadn't")
_DO = word_set("do does did")
_GET = word_set("get gets got")
_NO = word_set("no nobody none nothing")
_ADVERBS = word_set("always still now only also already to just then")
_PLANNING = "plan intend"
# Who chose something has it: what is said is how it is now.
_DECIDING = (
    "choose decide pick select agree settle adopt switch move migrate change replace give set make put raise lower "
    "increase reduce configure limit pin enable disable turn"
)
# "Stopped working" says that it does not work.
_ENDING = "stop cease quit avoid"
_REFUSING = "refuse fail decline forget"
# "Is called X" says no more than "is X".
_NAMING = "call name title dub know"
# They say little by themselves: "uses port 80" is "is on port 80".
_PLAIN = "use run set get make do receive need require rely choose decide pick select"
_PERFORMING = "make do perform happen occur"
# What goes on for good: "we are using", "it is running on".
_LASTING = "use run own maintain host support require keep store rely plan migrate move"


class VerbGroup(NamedTuple):
    """`end` is where the rest of the clause begins, `shown` the places of the words with weight.

    `switch` is what "is on" and "is off" stand for. A verb is told where its form is a past one, whatever it says of
    the present, and it performs where its subject says what is done.
    """

    end: int
    shown: tuple[int, ...] = ()
    switch: str = ""
    verb: str = ""
    tense: Tense | None = None
    is_told: bool = False
    is_negated: bool = False
    is_scene: bool = False
    is_passive: bool = False
    is_lasting: bool = False
    is_plain: bool = True
    performs: bool = False


@dataclass(slots=True)
class _Auxiliaries:
    has_be: bool = False
    is_being: bool = False
    has_have: bool = False
    is_negated: bool = False
    ends_with_no: bool = False
    tense: Tense | None = None
    adverbs: list[int] = field(default_factory=list[int])


def read_verb_group(part: Part, begin: int) -> VerbGroup:
    seen = _Auxiliaries()
    at = begin
    while at < len(part) and not seen.ends_with_no and _is_auxiliary(part, at, seen):
        at += 1
    plain = VerbGroup(
        at,
        tuple(seen.adverbs),
        verb="have" if seen.has_have else "",
        tense=seen.tense,
        is_negated=seen.is_negated,
        is_plain=not seen.has_have,
    )
    if seen.ends_with_no or at >= len(part) or part[at].value is not None or part[at].word in ARTICLES:
        return plain
    word = part[at].word
    if seen.has_be and word in {"off", "on"} and (at + 1 == len(part) or part[at + 1].word in PREPOSITIONS):
        return plain._replace(end=at + 1, switch="enabled" if word == "on" else "disabled")
    return _with_verb(part, at, plain, seen) if _is_main_verb(part, at, seen) else plain


def _is_auxiliary(part: Part, at: int, seen: _Auxiliaries) -> bool:
    """Whether the word still leads to the verb; what it says is noted."""
    lexeme = part[at]
    word = lexeme.word
    is_got = word in _GET and at + 1 < len(part) and is_participle(part[at + 1].word)
    seen.tense = Tense.FUTURE if word in FUTURE else Tense.PAST if word in PAST else seen.tense
    if word in AUXILIARIES or lexeme.is_copula or is_got:
        seen.has_be = seen.has_be or word in BE or is_got
        seen.is_being = seen.is_being or word == "being"
        seen.has_have = seen.has_have or (word in _HAVE and at + 1 < len(part))
        seen.is_negated = seen.is_negated or word in NEGATORS
        return True
    if word in NEGATORS:
        seen.is_negated, seen.ends_with_no = True, word in _NO
        return True
    if _is_adverb(lexeme):
        seen.adverbs.append(at)
        return True
    return False


def _is_adverb(lexeme: Lexeme) -> bool:
    return (lexeme.word.endswith("ly") and not lexeme.is_name) or lexeme.word in _ADVERBS


def _is_main_verb(part: Part, at: int, seen: _Auxiliaries) -> bool:
    word = part[at].word
    if part[at].is_name or word in PREPOSITIONS:
        return False
    if seen.has_be:
        return is_participle(word) or "-" in word or word == "own"
    if seen.has_have:
        return is_participle(word)
    # "We do full refunds": what is done is not always a verb.
    return not (at and part[at - 1].word in _DO and stem(word) not in known_verbs())


def _with_verb(part: Part, at: int, plain: VerbGroup, seen: _Auxiliaries) -> VerbGroup:
    word = part[at].word
    found = plain._replace(
        end=at + 1,
        tense=_tense(word, seen),
        is_told=_is_past(word, seen),
        is_scene=seen.has_be and (is_gerund(word) or seen.is_being),
        is_passive=seen.has_be and is_participle(word) and (not word.endswith("ing") or seen.is_being),
        is_lasting=stem(word) in stems(_LASTING),
    )
    following = part[at + 1].word if at + 1 < len(part) else ""
    ends = stem(word) in stems(_ENDING) and is_gerund(following)
    if ends or (stem(word) in stems(_REFUSING) and following == "to"):
        return found._replace(is_negated=True, tense=Tense.PRESENT)
    is_named = bool(terms(word)) and not (seen.has_be and following != "by" and stem(word) in stems(_NAMING))
    return found._replace(
        shown=(*plain.shown, at),
        verb=terms(word)[0] if is_named else "",
        is_plain=not is_named or stem(word) in stems(_PLAIN),
        performs=stem(word) in stems(_PERFORMING),
    )


def _tense(word: str, seen: _Auxiliaries) -> Tense | None:
    if seen.tense is Tense.FUTURE or stem(word) in stems(_PLANNING):
        return Tense.FUTURE
    if stem(word) in stems(_DECIDING):
        return Tense.PRESENT
    return Tense.PAST if _is_past(word, seen) else seen.tense


def _is_past(word: str, seen: _Auxiliaries) -> bool:
    is_form = is_regular_past(word) or (word in IRREGULAR and not word.endswith("s"))
    return is_form and not (seen.has_be or seen.has_have)
