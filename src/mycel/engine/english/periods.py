"""From when until when a statement says that it holds: `from December 20 to January 2`, `until 2026-12-31`.

Days are those of UTC. A day without its year is resolved against the moment it was said.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from mycel.engine.english.days import DAYS_AHEAD, WEEKDAYS, next_weekday

# A longer text tells of more than one thing, and a period in it is not that of the whole.
LONGEST_STATEMENT = 600
# How far before a day the words may begin that say what it is.
_CUE_LENGTH = 24
# A leap day may be eight years away.
_YEARS_AROUND = 8

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
# Verbs, unless they are written as names.
_ALSO_VERBS = frozenset(("march", "mar", "may"))

_DAY = re.compile(
    r"""(?<![\w/.-])(?:
      (?P<iso>[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:Z|[+-][0-9]{2}:[0-9]{2}))?)(?![\w-])
      | (?P<end>(?:the\ )?end\ of\ )?
        (?:(?P<before>[0-9]{1,2})(?:st|nd|rd|th)?\ (?:of\ )?)?
        (?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?
          |oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?
        (?:\ (?:the\ )?(?P<after>[0-9]{1,2})(?:st|nd|rd|th)?(?!\w|[.,:][0-9]))?
        (?:,?\ (?P<year>[0-9]{4})(?![\w-]|[.,:][0-9]))?(?!\ [0-9])
      | (?:the\ )?end\ of\ (?:the\ |this\ )?(?P<close>month|year|[0-9]{4})\b
      | (?:on\ |this\ |next\ )?(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b
      | (?P<relative>today|tonight|tomorrow)\b)""",
    re.I | re.X,
)
# What may stand before a day that begins or ends something. The first look, which most texts do not pass.
_ANY_CUE = re.compile(
    r"\b(?:until|till|thr(?:ough|u)|from|between|as of|effective|start|begin|since)|[\u2013\u2014]|- ", re.I
)
_CUE = re.compile(
    r"""(?<!\w)(?:
      (?P<until>until|till|through|thru|up\ to\ and\ including)
      | (?P<since>since)
      | (?P<between>between)
      | (?P<range>from)
      | (?P<starts>as\ of|as\ from|effective(?:\ from|\ on|\ as\ of)?|start(?:ing|s)(?:\ on|\ from)?|beginning(?:\ on)?)
    )\ $""",
    re.I | re.X,
)
_JOINT = re.compile(r" ?(?:(?:to|until|till|through|thru|(?P<also>and)) |[\u2013\u2014] ?|- )", re.I)
_ONWARDS = re.compile(r" (?:on|onwards?|forward)\b", re.I)
# What was until June 30 may be over or not: only a year tells.
_PAST_TENSE = re.compile(r"\b(?:was|were|had|used|ran|lasted|ended)\b", re.I)
_SPACES = re.compile(r"\s+")


class Period(NamedTuple):
    """Both ends belong to it; None where it has none."""

    since: datetime | None = None
    until: datetime | None = None


NO_PERIOD = Period()


class _Day(NamedTuple):
    """What was written: a moment, or the first and last day of something, of a year that may have to be chosen."""

    first: Callable[[int], date]
    last: Callable[[int], date]
    year: int | None = None
    moment: datetime | None = None


Choice = Callable[[Callable[[int], date], date], date]


def may_say_period(text: str) -> bool:
    """The first look."""
    return len(text) <= LONGEST_STATEMENT and _ANY_CUE.search(text) is not None


def period_in(text: str, *, said_at: datetime) -> Period | None:
    """The one period that a statement speaks of; None where it speaks of none, or of several."""
    if not may_say_period(text):
        return None
    said = _SPACES.sub(" ", text)
    days = [match for match in _DAY.finditer(said) if _is_day(match)]
    try:
        found = set(_periods(said, days, said_at.astimezone(UTC).date())) if days else set[Period]()
    except (ValueError, OverflowError):
        # A day that no calendar has.
        return None
    return found.pop() if len(found) == 1 else None


def _is_day(match: re.Match[str]) -> bool:
    month = match["month"]
    return month is None or not (month in _ALSO_VERBS or (match["before"] and match["after"]))


def _periods(said: str, days: Sequence[re.Match[str]], today: date) -> Iterator[Period]:
    is_told = _PAST_TENSE.search(said) is not None
    place = 0
    while place < len(days):
        first, last = days[place], days[place + 1] if place + 1 < len(days) else None
        cue = _CUE.search(said, max(0, first.start() - _CUE_LENGTH), first.start())
        joint = None if last is None else _JOINT.fullmatch(said, first.end(), last.start())
        word = "" if cue is None else cue.lastgroup or ""
        if last is not None and joint is not None and _is_range(first, last, word, also=bool(joint["also"])):
            period = _range(_read(first, today), _read(last, today), today)
            place += 1
        else:
            period = _open_period(_read(first, today), word, today, onwards=_ONWARDS.match(said, first.end()))
        if period is not None and (not is_told or any(day["iso"] or day["year"] or day["close"] for day in days)):
            yield period
        place += 1


def _is_range(first: re.Match[str], last: re.Match[str], word: str, *, also: bool) -> bool:
    """From Monday to Friday is every week."""
    return also == (word == "between") and not first["weekday"] and not last["weekday"]


def _range(first: _Day, last: _Day, today: date) -> Period | None:
    """The end is the next such day, and the beginning the last one before it; a year that is said counts for both."""
    if last.year is None and first.year is not None:
        since = _beginning(first, today, _nearest)
        return Period(since, _end(last, since.date(), _upcoming))
    until = _end(last, today, _upcoming)
    since = _beginning(first, until.date(), _previous)
    return Period(since, until) if since <= until else None


def _open_period(day: _Day, word: str, today: date, *, onwards: object) -> Period | None:
    if word == "until":
        return Period(until=_end(day, today, _upcoming))
    if word == "since":
        since = _beginning(day, today, _previous)
        return Period(since=since) if since.date() <= today else None
    if word == "starts" or (word == "range" and onwards):
        return Period(since=_beginning(day, today, _nearest))
    return None


def _read(match: re.Match[str], today: date) -> _Day:
    if match["iso"]:
        moment = datetime.fromisoformat(match["iso"].upper())
        if moment.tzinfo is None:
            return _on(moment.date())
        return _on(moment.date())._replace(moment=moment.astimezone(UTC))
    if match["month"]:
        return _in_month(match)
    if close := (match["close"] or "").lower():
        if close.isdigit():
            return _on(date(int(close), 12, 31))
        return _on(_last_of(today.month if close == "month" else 12)(today.year))
    if match["weekday"]:
        return _on(next_weekday(WEEKDAYS.index(match["weekday"].lower()), today))
    return _on(today + timedelta(days=DAYS_AHEAD[match["relative"].lower()]))


def _in_month(match: re.Match[str]) -> _Day:
    month = _MONTHS.index(match["month"][:3].lower()) + 1
    year = int(match["year"]) if match["year"] else None
    last = _last_of(month)
    if match["end"]:
        return _Day(last, last, year)
    day = match["before"] or match["after"]
    if day is None:
        return _Day(_day_of(month, 1), last, year)
    return _Day(_day_of(month, int(day)), _day_of(month, int(day)), year)


def _day_of(month: int, day: int) -> Callable[[int], date]:
    return lambda of: date(of, month, day)


def _last_of(month: int) -> Callable[[int], date]:
    return lambda of: date(of, month, monthrange(of, month)[1])


def _on(day: date) -> _Day:
    def same(_: int) -> date:
        return day

    return _Day(same, same, day.year)


def _beginning(day: _Day, near: date, choose: Choice) -> datetime:
    return day.moment or datetime.combine(_chosen(day.first, day.year, near, choose), time.min, UTC)


def _end(day: _Day, near: date, choose: Choice) -> datetime:
    return day.moment or datetime.combine(_chosen(day.last, day.year, near, choose), time.max, UTC)


def _chosen(of_year: Callable[[int], date], year: int | None, near: date, choose: Choice) -> date:
    return choose(of_year, near) if year is None else of_year(year)


def _upcoming(of_year: Callable[[int], date], near: date) -> date:
    return min(day for day in _around(of_year, near) if day >= near)


def _previous(of_year: Callable[[int], date], near: date) -> date:
    return max(day for day in _around(of_year, near) if day <= near)


def _nearest(of_year: Callable[[int], date], near: date) -> date:
    return min(_around(of_year, near), key=lambda day: abs(day - near))


def _around(of_year: Callable[[int], date], near: date) -> Iterator[date]:
    for year in range(near.year - _YEARS_AROUND, near.year + _YEARS_AROUND + 1):
        try:
            yield of_year(year)
        except ValueError:
            # February 29, most of the time.
            continue
