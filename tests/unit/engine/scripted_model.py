"""A language model that says what a test tells it to, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mycel.domain.source import Transcript, Turn


class ScriptedModel:
    def __init__(self, *answers: Mapping[str, Any], max_characters: int = 48_000) -> None:
        self._answers = list(answers)
        self._max_characters = max_characters
        self.materials: list[str] = []
        self.instructions: list[str] = []
        self.respond: Callable[[str], Mapping[str, Any]] | None = None

    @property
    def model(self) -> str:
        return "scripted"

    @property
    def max_characters(self) -> int:
        return self._max_characters

    def answer(self, instructions: str, material: str, *, schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        assert set(schema["required"]) == set(schema["properties"])
        assert name in schema["properties"]
        self.instructions.append(instructions)
        self.materials.append(material)
        return self.respond(material) if self.respond else self._answers.pop(0)

    def close(self) -> None: ...


def talk(*said: tuple[str, str] | tuple[str, str, str]) -> Transcript:
    """Turns of role and words, and perhaps a speaker, with the role before each in the text as captured talk has it."""
    text, turns = "", list[Turn]()
    for role, words, *speaker in said:
        text += f"{role}: "
        turns.append(Turn(role, len(text), len(text) + len(words), *speaker))
        text += f"{words}\n"
    return Transcript(text, tuple(turns))
