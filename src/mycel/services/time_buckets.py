"""Time cut into whole days, weeks or months, for rates over time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mycel.contracts.episode_store import TimeBucket
from mycel.domain.episode import RateBy
from mycel.errors import InvalidState

MOST_BUCKETS = 400
_LAST_MOMENT = datetime.max.replace(tzinfo=UTC)
_LENGTHS = {RateBy.DAY: timedelta(days=1), RateBy.WEEK: timedelta(days=7)}


def time_buckets(since: datetime, until: datetime, way: RateBy) -> list[TimeBucket]:
    """Whole days, weeks or months in UTC, the first and last as far as asked for."""
    start = since.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if way is RateBy.MONTH:
        start = start.replace(day=1)
    elif way is RateBy.WEEK:
        start -= timedelta(days=start.weekday())
    found: list[TimeBucket] = []
    while start < until:
        end = _end_of(start, way)
        found.append((max(start, since), min(end, until)))
        if len(found) > MOST_BUCKETS:
            raise InvalidState(f"is more than {MOST_BUCKETS} {way.value}s back: ask for a shorter time", field="since")
        start = end
    return found


def _end_of(start: datetime, way: RateBy) -> datetime:
    try:
        return (start + timedelta(days=32)).replace(day=1) if way is RateBy.MONTH else start + _LENGTHS[way]
    except OverflowError:
        return _LAST_MOMENT


def stretch_name(start: datetime, way: RateBy) -> str:
    return f"{start:%Y-%m}" if way is RateBy.MONTH else f"{start:%Y-%m-%d}"
