"""Whether a statement says that it replaces an earlier one: "no longer", "from X to Y", "instead of X", "as of"."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from mycel.engine.judging.clauses import Tense
from mycel.engine.judging.findings import NOTHING, Finding
from mycel.engine.judging.lexing import Lexeme, Part
from mycel.engine.judging.opposites import NEGATORS
from mycel.engine.judging.reading import Reading, written_terms
from mycel.engine.judging.verbs import AUXILIARIES, CONDITIONS, stem, stems
from mycel.engine.judging.vocabulary import light_terms
from mycel.engine.judging.word_sets import word_set

# A statement that names what it gives up contradicts the one that still has it.
REPLACED = 0.8
# Of what is given up, so much must be in the earlier statement.
LEAST_SHARE = 0.5

_GIVEN_UP_AFTER = word_set("no-longer instead-of rather-than in-place-of")
_MOVING = "switch move migrate change upgrade downgrade rename raise lower increase reduce bump go port convert shift"
_REPLACING = "replace supersede displace"
_ENDING = "stop drop retire remove deprecate abandon decommission discontinue ditch sunset cancel revoke"
_NOW = word_set("now as-of from-now-on henceforth starting effective")
_ENDS_PHRASE = word_set("to with by for because since so-that so but and in-favour-of in-favor-of")


def replacement(first: Reading, second: Reading, *, against: Finding) -> Finding:
    """`against` is what speaks against both being true; without it, "now" replaces nothing."""
    if all(clause.tense is Tense.FUTURE for clause in second.clauses):
        return NOTHING
    for given_up in _given_up(second):
        kept = [text for term, text in given_up.items() if term in first.counts]
        if kept and len(kept) >= LEAST_SHARE * len(given_up) and _is_about_more(first, second, given_up.keys()):
            return Finding(max(REPLACED, against.score), f"replaced: {' '.join(dict.fromkeys(kept))}")
    if against.score >= 0.5 and _says_now(second):
        return against
    return NOTHING


def _is_about_more(first: Reading, second: Reading, given_up: Collection[str]) -> bool:
    """Whether they share a word besides what is given up, or there is nothing else in the earlier one."""
    rest = first.counts.keys() - set(given_up)
    return not rest or len(given_up) > 1 or not rest.isdisjoint(second.counts.keys())


def _says_now(reading: Reading) -> bool:
    return any(_is_now(part, at) for sentence in reading.sentences for part in sentence for at in range(len(part)))


def _is_now(part: Part, at: int) -> bool:
    word = part[at].word
    if word in _NOW:
        return True
    following = part[at + 1] if at + 1 < len(part) else None
    is_since = word == "since" and following is not None and following.value is not None
    return is_since or (stem(word) in stems(_MOVING) and any(lexeme.word == "to" for lexeme in part[at + 1 :]))


def _given_up(reading: Reading) -> Iterator[Mapping[str, str]]:
    """Each thing that the text gives up, as its terms and how they are written."""
    for sentence in reading.sentences:
        if any(lexeme.word in CONDITIONS and lexeme.value is None for part in sentence for lexeme in part):
            continue
        for part in sentence:
            for at, lexeme in enumerate(part):
                if lexeme.value is None and (found := _terms(_given_up_at(part, at))):
                    yield found


def _given_up_at(part: Part, at: int) -> Sequence[Lexeme]:
    """The words that name what is given up, if the word at this place says that something is."""
    word = part[at].word
    if word in _GIVEN_UP_AFTER:
        return _phrase(part, at + 1)
    if any(lexeme.word in NEGATORS for lexeme in part[:at]):
        return ()
    if stem(word) in stems(_MOVING):
        begin = next((place for place in range(at + 1, len(part)) if part[place].word == "from"), None)
        return () if begin is None else _phrase(part, begin + 1)
    if stem(word) in stems(_REPLACING) or (stem(word) in stems(_ENDING) and word.endswith("ed")):
        return _done_to(part, at)
    return ()


def _done_to(part: Part, at: int) -> Sequence[Lexeme]:
    """What was removed, or what we removed; what is being removed, or may be, is still there."""
    before = part[at - 1].word if at else ""
    if before not in AUXILIARIES:
        return _phrase(part, at + 1)
    is_over = before in {"was", "were", "been"} or stem(part[at].word) in stems(_REPLACING)
    return [lexeme for lexeme in part[: at - 1] if lexeme.word not in AUXILIARIES] if is_over else ()


def _phrase(part: Part, begin: int) -> Sequence[Lexeme]:
    end = next((place for place in range(begin, len(part)) if part[place].word in _ENDS_PHRASE), len(part))
    return part[begin:end]


def _terms(lexemes: Iterable[Lexeme]) -> Mapping[str, str]:
    found = {term: lexeme.text for lexeme in lexemes for term in written_terms(lexeme)}
    return {term: text for term, text in found.items() if term not in light_terms()}
