"""What the engine expects of a language model, if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class LanguageModel(Protocol):
    """Answers a question about given material with one JSON object. Safe to use from any thread.

    Raises `Unavailable` when it cannot answer now (it is down, slow, overloaded, or what it said is no JSON object)
    and `Misconfigured` when it never will (a refused key, an unknown model). Errors hold no text of the material.
    """

    @property
    def model(self) -> str:
        """Its name, as it stands in what it made."""
        ...

    @property
    def max_characters(self) -> int:
        """How much material one question may hold."""
        ...

    def answer(self, instructions: str, material: str, *, schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        """One object. The endpoint is told the JSON schema, but may not keep to it: check what comes back.

        `material` is data, kept apart from the instructions. `name` says what is asked for, such as `candidates`.
        """
        ...

    def close(self) -> None: ...
