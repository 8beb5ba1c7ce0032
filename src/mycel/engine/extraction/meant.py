"""Which of what is said outright is not meant: by the sentences around it, or by one way of reading it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from mycel.contracts.judge import Judge, Sentence, SentenceOdds
from mycel.engine.extraction.talk import Talk, is_one_voice
from mycel.engine.language import announces_other_text, supposes, takes_back
from mycel.errors import Unavailable

# Others may have asked, before somebody takes back what they said.
TURNS_TAKEN_BACK = 2


def undone(talk: Talk) -> frozenset[int]:
    """The places of what was announced as a text, was told of a supposed case, or was then taken back."""
    turns = [list(places) for _, places in groupby(range(len(talk.statements)), lambda at: talk.statements[at].turn)]
    return frozenset((*_announced(talk), *_supposed(talk), *_taken_back(talk, turns)))


def _announced(talk: Talk) -> Iterator[int]:
    """What follows a line that ends with a colon, up to the next empty line, or in the next turn of the same voice."""
    at, last = 0, ""
    for number, turn in enumerate(talk.turns):
        if number and not is_one_voice(talk.turns[number - 1], turn):
            last = ""
        end, is_announced = turn.start, False
        for line in talk.original(turn.start, turn.end).splitlines(keepends=True):
            end += len(line)
            said = line.strip()
            is_announced = announces_other_text(last) or (is_announced and said != "")
            while at < len(talk.statements) and talk.statements[at].start < end:
                if is_announced:
                    yield at
                at += 1
            last = said or last


def _supposed(talk: Talk) -> Iterator[int]:
    for place in range(1, len(talk.statements)):
        if talk.is_same_voice(place - 1, place) and supposes(talk.text(place - 1)):
            yield place


def _taken_back(talk: Talk, turns: Sequence[Sequence[int]]) -> Iterator[int]:
    """What people said before, in the same turn and the last ones."""
    spoken = [places for places in turns if not talk.is_assistant(places[0])]
    for number, places in enumerate(spoken):
        last = next((place for place in reversed(places) if takes_back(talk.text(place))), None)
        if last is not None:
            yield from (place for place in places if place < last)
            for earlier in spoken[max(0, number - TURNS_TAKEN_BACK) : number]:
                yield from earlier


def doubted(
    talk: Talk, places: Sequence[int], judge: Judge, is_meant: Callable[[SentenceOdds], bool]
) -> frozenset[int]:
    """Those that the judge does not take for meant by themselves, or as one text with what leads up to them.

    Who tells of somebody else's rules says so just before, and a judge that wavers is not sure.
    """
    alone = [Sentence(talk.text(place), talk.turn(place).role or "user") for place in places]
    led_up = [
        one._replace(text=f"{talk.led_up_to(place)} {one.text}".strip())
        for place, one in zip(places, alone, strict=True)
    ]
    try:
        read = zip(places, judge.weigh(alone), judge.weigh(led_up), strict=True)
    except Unavailable:
        return frozenset(places)
    return frozenset(place for place, *odds in read if not all(map(is_meant, odds)))
