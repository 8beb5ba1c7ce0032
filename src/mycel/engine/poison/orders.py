"""Orders to an AI told by what their sentences speak of, in whichever language and however they are worded.

Who is spoken to, what is to be done, to what, and what is to be kept quiet: a few concepts together are an order
that no team gives the agents of its own memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mycel.engine.poison.concepts import Concept as C  # noqa: N817  # nearly every line names several
from mycel.engine.poison.lexicon import (
    AUTHORITY,
    CONCEALMENT,
    DISCLOSURE,
    EXECUTION,
    MARKUP,
    OVERRIDE,
    PERSONA,
    STEERING,
    of_shape,
)
from mycel.engine.poison.meaning import may_speak_of, speaks_of

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
# Two short sentences in a row are one order; longer ones speak of different things.
_TOGETHER_CHARS = 280

_ADDRESSED = C.READER | C.YOU
_FIRMLY = C.MUST | C.ALL | C.ALWAYS | C.SILENCE | C.BLINDLY
_ACT = C.SEND | C.DELETE | C.DISABLE | C.APPROVE | C.FETCH | C.REMOTE_CODE


class Order(NamedTuple):
    """A combination that is an order to the AI: of each group one concept at least."""

    meaning: str
    groups: tuple[int, ...]


def _order(meaning: str, *groups: int) -> Order:
    return Order(meaning, tuple(map(int, groups)))


ORDERS: tuple[Order, ...] = (
    _order(OVERRIDE, C.DISREGARD | C.VOID, C.MY_RULES),
    _order(OVERRIDE, C.DISOBEY, C.USER),
    _order(OVERRIDE, C.OBEY, C.ONLY, C.THIS, C.VOID | C.DISREGARD | C.FROM_NOW),
    _order(DISCLOSURE, C.SEND, C.SECRET, C.OUTSIDE | C.READER | C.SILENCE),
    _order(DISCLOSURE, C.SEND, C.PRIVATE, C.OUTSIDE, C.READER | C.MUST | C.SILENCE | C.ALL),
    _order(DISCLOSURE, C.SHOW, C.PROMPT, _ADDRESSED | C.MUST | C.DISREGARD),
    _order(DISCLOSURE, C.SHOW, C.SECRET, C.READER | C.DISREGARD | C.SILENCE),
    _order(DISCLOSURE, C.LEAK),
    _order(CONCEALMENT, C.SILENCE, C.USER, C.THIS | _ACT),
    _order(CONCEALMENT, C.SILENCE, C.READER, C.THIS | C.DISABLE | C.DELETE),
    _order(AUTHORITY, C.DISABLE, C.SAFEGUARD, C.READER | C.SILENCE),
    _order(AUTHORITY, C.DISABLE, C.REVIEW, C.READER, _FIRMLY),
    _order(AUTHORITY, C.DISABLE, C.TESTS, C.SILENCE | C.BLINDLY),
    _order(AUTHORITY, C.APPROVE, C.BLINDLY, _ADDRESSED | C.ALL),
    _order(AUTHORITY, C.APPROVE, C.REVIEW, C.ALL, C.READER),
    _order(STEERING, C.DELETE, C.VITAL | C.REMOTE_CODE, _ADDRESSED, _FIRMLY),
    _order(STEERING, C.DELETE, C.MEMORY, C.ALL, C.SAVE | C.TRUST),
    _order(STEERING, C.SAVE, C.THIS_NOTE, C.TEAMS),
    _order(STEERING, C.APPROVE | C.TRUST, C.MEMORY, C.ALWAYS | C.THIS_NOTE),
    _order(STEERING, C.FETCH, C.OUTSIDE, C.OBEY, C.READER | _FIRMLY),
    _order(EXECUTION, C.UNSEEN_CODE),
    _order(EXECUTION, C.REMOTE_CODE, _ADDRESSED | C.MUST),
    _order(PERSONA, C.UNLIMITED, C.FROM_NOW, _ADDRESSED),
    _order(MARKUP, C.HIDDEN, C.READER, C.CALLED | C.YOU | C.MUST | _ACT),
)


def order_in(said: str, hints: int) -> tuple[str, str] | None:
    """The first order to an AI in a plain text, given what it may speak of: what the order means, and its words."""
    orders = given(ORDERS, hints)
    return _first_of(orders, said) if orders else None


def runs_unseen(command: str) -> bool:
    """Whether a text that was encoded is a command that does harm: nobody hides a harmless one."""
    return bool(of_shape(command.lower()) & (C.REMOTE_CODE | C.LEAK | C.UNSEEN_CODE))


def _first_of(orders: list[Order], said: str) -> tuple[str, str] | None:
    before, hints_before = "", 0
    for sentence in filter(None, _SENTENCE_END.split(said)):
        hints = may_speak_of(sentence)
        is_near = before and len(before) + len(sentence) <= _TOGETHER_CHARS
        possible = given(orders, hints | hints_before if is_near else hints)
        spoken = speaks_of(sentence, hints) if possible else 0
        if found := given(possible, spoken):
            return found[0].meaning, sentence
        if is_near and (possible := given(possible, spoken | hints_before)):
            found = given(possible, spoken | speaks_of(before, hints_before))
            if found:
                return found[0].meaning, f"{before} {sentence}"
        before, hints_before = sentence, hints
    return None


def given(orders: Sequence[Order], spoken: int) -> list[Order]:
    """Those of the orders for which everything is there."""
    found: list[Order] = []
    if not spoken:
        return found
    for order in orders:
        for group in order.groups:
            if not spoken & group:
                break
        else:
            found.append(order)
    return found
