"""Two statements, and what is made of them: what every way of judging takes and gives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

# Raised when pairs are judged otherwise than before: links that earlier rules made are then looked at again, once.
RULES = 2
# What a likeness stands for: from the first on two statements are merged, from the second on a person is asked.
SURELY_SAME = 0.85
LIKELY_SAME = 0.75
# What differs in a word is by rules alone never taken for the same, however near its meaning.
MOST_UNLIKELY_SAME = 0.74
CONTRADICTS = 0.5
NEARLY_ALIKE = 0.6


@dataclass(frozen=True, slots=True)
class Statement:
    """`text` is what is said; `subject` are words of its surroundings, such as project, key or category."""

    text: str
    subject: tuple[str, ...] = ()
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """`likeness` from 0.85 on is the same statement, from 0.75 on probably, about 0.6 a near one.

    `contradiction` counts from 0.5 on. Of what is `doubtful` rules and judge are not sure: whoever knows more may say.
    """

    likeness: float
    contradiction: float
    supersedes: bool
    reason: str
    doubtful: bool = False
