"""A transcript as its statements, each with what is known about it: words, topic, speaker, place in the talk."""

from __future__ import annotations

from functools import cached_property

from mycel.domain.source import Transcript
from mycel.engine.extraction.people import assigns, name_pattern
from mycel.engine.extraction.signals import words_of
from mycel.engine.extraction.statements import Statement, list_statements
from mycel.engine.extraction.surroundings import Surroundings
from mycel.engine.extraction.topic import Topic, is_about_work, topic_of

# So many sentences before and after show what the talk is about.
NEARBY = 12

_NO_NAMES = frozenset(("user", "assistant", "agent", "human"))
# Each for one other character, so that places stay the same: straight quotes, and spaces for emphasis and line breaks.
_PLAIN = (("\u2019", "'"), ("\u2018", "'"), ("\u201c", '"'), ("\u201d", '"'), ("*", " "), ("\u00a0", " "), ("\n", " "))


class Talk:
    """Statements are known by their place in the list."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._plain = _plain(transcript.text)
        self.statements: list[Statement] = list_statements(transcript)
        self._names = frozenset(turn.speaker.lower() for turn in transcript.turns if turn.speaker) - _NO_NAMES
        self._named = name_pattern(self._names)
        self._first_names = frozenset(words_of(name)[0] for name in self._names if words_of(name))
        self._words = [words_of(self.text(place).lower()) for place in range(len(self.statements))]
        self._topics: dict[int, Topic] = {}
        self._surroundings = Surroundings(transcript)

    def text(self, place: int) -> str:
        """Without emphasis, on one line, with plain quotes; each character at its place."""
        statement = self.statements[place]
        return self._plain[statement.start : statement.end]

    def original(self, start: int, end: int) -> str:
        return self._transcript.text[start:end]

    def words(self, place: int) -> list[str]:
        return self._words[place]

    def topic(self, place: int) -> Topic:
        found = self._topics.get(place)
        if found is None:
            found = self._topics[place] = topic_of(self.text(place), words=self.words(place), names=self._names)
        return found

    def is_about_work(self, place: int) -> bool:
        first, last = max(0, place - NEARBY), min(len(self.statements), place + NEARBY + 1)
        (weight, personal), (weight_before, personal_before) = self._sums[last], self._sums[first]
        return is_about_work(
            self.topic(place),
            weight=weight - weight_before,
            personal=personal - personal_before,
            sentences=last - first,
        )

    def assigns(self, place: int) -> bool:
        """Whether work is given to one of those who speak; their names are looked for by the first word."""
        if self._named is None or self._first_names.isdisjoint(self._words[place]):
            return False
        return assigns(self.text(place), named=self._named)

    def is_assistant(self, place: int) -> bool:
        return self._transcript.turns[self.statements[place].turn].role == "assistant"

    def setting_signs(self, place: int) -> set[str]:
        """Who speaks, and what stands around the sentence."""
        statement = self.statements[place]
        found = self._surroundings.signs(statement)
        if self.is_assistant(place):
            found.add("assistant")
        if self._surroundings.is_opening(statement.turn):
            found.add("opening")
        return found

    @cached_property
    def _sums(self) -> list[tuple[float, int]]:
        """What all statements before each place weigh together."""
        weight, personal = 0.0, 0
        sums = [(weight, personal)]
        for place in range(len(self.statements)):
            topic = self.topic(place)
            weight += topic.weight
            personal += topic.personal
            sums.append((weight, personal))
        return sums


def _plain(text: str) -> str:
    for written, plain in _PLAIN:
        text = text.replace(written, plain)
    return text
