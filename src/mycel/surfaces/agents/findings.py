"""What a check comes to: it is well, it could be better, or something does not work, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

OK, WARNING, PROBLEM = "ok", "warning", "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    state: str
    text: str
    advice: str | None = None


def ok(name: str, text: str) -> Finding:
    return Finding(name, OK, text)


def warning(name: str, text: str, advice: str) -> Finding:
    return Finding(name, WARNING, text, advice)


def problem(name: str, text: str, advice: str) -> Finding:
    return Finding(name, PROBLEM, text, advice)
