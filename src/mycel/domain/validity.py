"""When a memory holds in the world, beside when it is believed: judged at a moment, and in words."""

from __future__ import annotations

from datetime import datetime, time
from enum import StrEnum


class Validity(StrEnum):
    """Whether a memory holds at a moment; what others contradict is contested until somebody decides."""

    UPCOMING = "upcoming"
    CURRENT = "current"
    PAST = "past"
    CONTESTED = "contested"


def validity_at(moment: datetime, *, since: datetime | None, until: datetime | None) -> Validity:
    """Both ends belong to the time in which it holds."""
    if until is not None and until < moment:
        return Validity.PAST
    return Validity.UPCOMING if since is not None and moment < since else Validity.CURRENT


def contested_words(contested_by: int) -> str:
    """Such as `contradicted by 2 others`; empty for what nothing contradicts."""
    if not contested_by:
        return ""
    return f"contradicted by {contested_by} other{'' if contested_by == 1 else 's'}"


def validity_words(validity: Validity | None, *, since: datetime | None, until: datetime | None) -> str:
    """Such as `no longer valid: it held until 2026-01-02`; empty for what holds from ever and for ever."""
    if validity is Validity.PAST and until is not None:
        return f"no longer valid: it held until {shown_end(until)}"
    if validity is Validity.UPCOMING and since is not None:
        ending = f" until {shown_end(until)}" if until is not None else " on"
        return f"not valid yet: it holds from {shown_beginning(since)}{ending}"
    return f"valid until {shown_end(until)}" if until is not None else ""


def shown_beginning(moment: datetime) -> str:
    return _shown(moment, whole_day=time.min)


def shown_end(moment: datetime) -> str:
    return _shown(moment, whole_day=time.max)


def _shown(moment: datetime, *, whole_day: time) -> str:
    """The day alone where all of it is meant."""
    return f"{moment:%Y-%m-%d}" if moment.time() == whole_day else f"{moment:%Y-%m-%d %H:%M}Z"
