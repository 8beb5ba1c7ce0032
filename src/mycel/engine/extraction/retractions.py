"""Which of what a talk says is taken back or replaced later in the same talk."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mycel.domain.memory import MemoryType
from mycel.engine.extraction.talk import SILENT_ROLES, Talk, is_one_voice
from mycel.engine.extraction.verdict import Verdict
from mycel.engine.judging.judgement import CONTRADICTS, Statement
from mycel.engine.judging.pair import judge
from mycel.engine.language import (
    Turnabout,
    find_turnabout,
    is_question,
    naming_terms,
    said_outright,
    share_of,
    split_sentences,
    values_by_dimension,
    words_of,
)

# So many turns of people later, somebody takes back what they said: others have asked and objected meanwhile.
MOST_TURNS_LATER = 3
# A remark of a few words of its own is about what was said before it.
MOST_WORDS_OF_ITS_OWN = 4
# So much of one statement is in another that repeats it.
REPEATS = 0.6
MOST_REMARK_CHARS = 300
# More is a pasted text, and no remark.
MOST_TURN_CHARS = 2000
MOST_WORDS_OF_A_REMARK = 10
# So many statements before it a remark can be about.
MOST_STATEMENTS_BEFORE = 20
_DECISION = MemoryType.DECISION


class Retraction(NamedTuple):
    """The remark that takes a statement back, and whether it surely does."""

    words: str
    is_sure: bool


class _Remark(NamedTuple):
    """A sentence by somebody who is no assistant: what it may be about begins at the turn `since`.

    `last` is the turn of people before it.
    """

    start: int
    text: str
    turn: int
    since: int
    last: int
    turnabout: Turnabout


def find_retractions(talk: Talk, verdicts: Mapping[int, Verdict]) -> dict[int, Retraction]:
    """Find for each place of a statement the later remark that takes it back.

    Only people take back, and only what stands shortly before: mostly their own last statement. A remark that is not
    surely about a statement makes it wait.
    """
    if not verdicts:
        return {}
    places, starts = sorted(verdicts), [talk.statements[place].start for place in sorted(verdicts)]
    found: dict[int, Retraction] = {}
    for remark in _remarks(talk, [talk.statements[place].turn for place in places]):
        last = bisect_left(starts, remark.start)
        near = [
            place
            for place in reversed(places[max(0, last - MOST_STATEMENTS_BEFORE) : last])
            if talk.statements[place].turn >= remark.since
            and talk.statements[place].end <= remark.start
            and not (place in found and found[place].is_sure)
        ]
        target = _target(talk, near, verdicts, remark) if near else None
        if target is not None:
            found[target[0]] = Retraction(remark.text[:MOST_REMARK_CHARS], target[1])
    found.update(list(_restated(talk, verdicts, found)))
    found.update(list(_repeated(talk, verdicts, found)))
    return found


def _remarks(talk: Talk, turns: Sequence[int]) -> Iterator[_Remark]:
    """Those that take back or replace something, after one of the given turns."""
    spoken: list[int] = []
    for number, turn in enumerate(talk.turns):
        if turn.role in SILENT_ROLES or turn.role == "assistant":
            continue
        spoken.append(number)
        since = spoken[-MOST_TURNS_LATER - 1] if len(spoken) > MOST_TURNS_LATER else 0
        if bisect_left(turns, since) == bisect_right(turns, number):
            continue
        text = talk.original(turn.start, turn.end).replace("\u2019", "'")
        if len(text) > MOST_TURN_CHARS:
            continue
        for start, end in split_sentences(text, keep_code=False):
            sentence = " ".join(text[start:end].split())
            turnabout = None if sentence.endswith("?") else find_turnabout(sentence)
            if turnabout is not None and not is_question(sentence, words=words_of(sentence.lower())):
                last = spoken[-2] if len(spoken) > 1 else 0
                yield _Remark(turn.start + start, sentence, number, since, last, turnabout)


def _target(
    talk: Talk, places: Sequence[int], verdicts: Mapping[int, Verdict], remark: _Remark
) -> tuple[int, bool] | None:
    """The statement that a remark is about, the newest first, and whether it surely is."""
    turnabout, named = remark.turnabout, naming_terms(remark.text)
    own = [place for place in places if is_one_voice(talk.turn(place), talk.turns[remark.turn])]
    gone = turnabout.gone
    given_up = next((at for at in places if gone and 2 * len(gone & naming_terms(talk.text(at))) > len(gone)), None)
    if turnabout.takes_back:
        alike = next((place for place in own if named & naming_terms(talk.text(place))), None)
        about = next((place for place in (given_up, alike, *own[:1]) if place is not None), None)
        if about is not None:
            return about, about in own
        # Of what somebody else has just said, it may be about something else that was said there.
        is_reply = not turnabout.is_own and talk.statements[places[0]].turn >= remark.last
        return (places[0], False) if is_reply else None
    if given_up is not None and _is_settled(talk, given_up, verdicts):
        is_short = len(named) <= MOST_WORDS_OF_A_REMARK
        return given_up, given_up in own and is_short
    own = [place for place in own if _is_settled(talk, place, verdicts)]
    corrected = next((place for place in own if _corrects_value(talk.text(place), remark.text, turnabout)), None)
    if corrected is not None:
        return corrected, True
    if turnabout.replaces and named and own and talk.statements[own[0]].turn != remark.turn:
        shares = bool(named & naming_terms(talk.text(own[0])))
        return own[0], (shares or len(named) <= MOST_WORDS_OF_ITS_OWN) and len(named) <= MOST_WORDS_OF_A_REMARK
    return None


def _is_settled(talk: Talk, place: int, verdicts: Mapping[int, Verdict]) -> bool:
    """Whether it says that something shall be or is so, which another word can replace: a promise or a cause cannot."""
    marked = said_outright(talk.text(place))
    return verdicts[place].outright or (marked is not None and (marked.grounds or verdicts[place].type is _DECISION))


def _corrects_value(said: str, remark: str, turnabout: Turnabout) -> bool:
    """Whether the remark is another value for what was said, and hardly anything else."""
    before, after = values_by_dimension(said), values_by_dimension(remark)
    if not any(amounts - before[dimension] for dimension, amounts in after.items() if dimension in before):
        return False
    of_its_own = naming_terms(remark) - naming_terms(said)
    if turnabout.replaces or turnabout.gone:
        return len(of_its_own) <= MOST_WORDS_OF_ITS_OWN
    return len(of_its_own) <= 1 and not naming_terms(remark) - of_its_own


def _restated(
    talk: Talk, verdicts: Mapping[int, Verdict], found: Mapping[int, Retraction]
) -> Iterator[tuple[int, Retraction]]:
    """What is said outright, and later in the same talk with another value: the later word counts."""
    outright = [place for place, verdict in sorted(verdicts.items()) if verdict.outright]
    for number, place in enumerate(outright):
        if place in found:
            continue
        for later in outright[number + 1 : number + 1 + MOST_STATEMENTS_BEFORE]:
            judged = judge(Statement(talk.text(place)), Statement(talk.text(later)), cosine=None)
            if judged.contradiction >= CONTRADICTS and later not in found:
                is_own = is_one_voice(talk.turn(place), talk.turn(later))
                yield place, Retraction(talk.text(later)[:MOST_REMARK_CHARS], is_own)
                break


def _repeated(
    talk: Talk, verdicts: Mapping[int, Verdict], found: Mapping[int, Retraction]
) -> Iterator[tuple[int, Retraction]]:
    """What repeats a statement before it is taken back, such as the assistant that has noted it."""
    places = sorted(verdicts)
    for place, retraction in found.items():
        said, values = naming_terms(talk.text(place)), values_by_dimension(talk.text(place))
        at = bisect_left(places, place)
        for other in places[at + 1 : at + 1 + MOST_STATEMENTS_BEFORE]:
            text = talk.text(other)
            if other in found or not said or find_turnabout(text) is not None:
                continue
            if share_of(said, naming_terms(text)) >= REPEATS and values_by_dimension(text) == values:
                yield other, retraction
