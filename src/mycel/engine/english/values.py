"""Values read from words, so that 30 s is 0.5 min and half is 50 %: amounts with units, versions, dates and times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from mycel.engine.english import word_set
from mycel.engine.judging.clauses import CLOCK, DATE, MONEY, ORDINAL, PERIOD, PLAIN, SHARE, SIZE, TIME, WEEKDAY, Value

_NUMBER = re.compile(r"([$€£]?)([0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?)-?([A-Za-zµ%]*)")
_VERSION = re.compile(r"[vV]?([0-9]+(?:\.[0-9x]+)*(?:-?(?:rc|alpha|beta|dev|post)[-.]?[0-9]*)?)", re.IGNORECASE)
_CLOCK = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?(?::[0-9]{2})?(am|pm)?", re.IGNORECASE)
_ISO_DATE = re.compile(r"([0-9]{4})-([0-9]{2})(?:-([0-9]{2}))?")
_DAY = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)?")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")

_SECONDS = {
    "ms msec millisecond milliseconds": 0.001,
    "s sec secs second seconds": 1,
    "m min mins minute minutes": 60,
    "h hr hrs hour hours": 3600,
    "d day days": 86_400,
    "week weeks": 604_800,
    # A mean month and year: 12 months are a year, and nobody means 30 days by a month.
    "month months": 2_629_746,
    "yr year years": 31_556_952,
}
_BYTES = {
    "b byte bytes": 1,
    "kb kilobyte kilobytes": 1e3,
    "mb megabyte megabytes": 1e6,
    "gb gigabyte gigabytes": 1e9,
    "tb terabyte terabytes": 1e12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
_SHARES = {"% percent pct": 1}
_MONIES = {"usd dollar dollars": 1, "eur euro euros": 1}
_MULTIPLES = {"k": 1e3, "thousand": 1e3, "million": 1e6, "mio": 1e6, "billion": 1e9, "hundred": 1e2, "dozen": 12}
_NUMBERS_IN_ORDER = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_MONTHS_IN_ORDER = (
    "january jan|february feb|march|april apr|may|june jun|july jul|august aug|september sep sept|october oct|"
    "november nov|december dec"
)
_WORD_NUMBERS = {word: number for number, word in enumerate(_NUMBERS_IN_ORDER.split())} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
    "hundred": 100,
}
_FRACTIONS = {"half": 50.0, "quarter": 25.0, "third": 100 / 3, "fifth": 20.0, "tenth": 10.0}
_MONTHS = {name: number for number, names in enumerate(_MONTHS_IN_ORDER.split("|"), start=1) for name in names.split()}
# Also ordinary words when they begin small.
_CAPITALISED_MONTHS = frozenset(("may", "march"))
_WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
_PERIODS = {
    "hourly": 3600.0,
    "daily": 86_400.0,
    "nightly": 86_400.0,
    "weekly": 604_800.0,
    "biweekly": 1_209_600.0,
    "fortnightly": 1_209_600.0,
    "monthly": 2_629_746.0,
    "quarterly": 7_889_238.0,
    "yearly": 31_556_952.0,
    "annually": 31_556_952.0,
}
_BEFORE_YEAR = word_set("in since until till by from during of the our")
_DAYS_OF = word_set("business working calendar full whole")
_BEFORE_ONE_UNIT = word_set("for after within in every of least most than is takes lasts about over under last")
_CLOCK_WORDS = {"noon": 720, "midday": 720, "midnight": 0}
# Minutes before or after the hour, as they are spoken.
_MINUTES_OF_HOUR = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20}
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
_EVERY_SO_MANY = {"other": 2, "second": 2, "third": 3, "fourth": 4}
# How often something is said to happen, though nothing lasts a quarter.
_PERIOD_UNITS = {"quarter": 7_889_238.0, "fortnight": 1_209_600.0, "night": 86_400.0}


def read_value(raws: Sequence[str], at: int) -> tuple[Value, int] | None:
    """The value that begins at a word, and how many words it takes; None when none does."""
    for reader in (_period, _date, _clock, _clock_in_words, _time_in_words, _share_in_words, _one_unit, _number):
        found = reader(raws, at)
        if found is not None:
            return found
    word = raws[at].casefold()
    if word.removesuffix("s") in _WEEKDAYS:
        return Value(WEEKDAY, word.removesuffix("s")), 1
    ordinal = _DAY.fullmatch(word)
    return None if ordinal is None else (Value(ORDINAL, ordinal[1]), 1)


def _units() -> Iterator[tuple[str, tuple[str, float]]]:
    for dimension, table in ((TIME, _SECONDS), (SIZE, _BYTES), (SHARE, _SHARES), (MONEY, _MONIES)):
        for names, factor in table.items():
            for name in names.split():
                yield name, (dimension, float(factor))


_UNITS: Mapping[str, tuple[str, float]] = dict(_units())


def _number(raws: Sequence[str], at: int) -> tuple[Value, int] | None:
    written = raws[at]
    match = _NUMBER.fullmatch(written)
    if match is None:
        return _word_number(raws, at) or _version(written)
    sign, digits, suffix = match.groups()
    amount, taken = float(digits.replace(",", "")), 1
    unit = suffix.casefold()
    # "5 m" and "5 b" are no units when the letter stands alone: a list, a name.
    following = _word(raws, at + 1)
    if following in _DAYS_OF and _word(raws, at + 2) in {"day", "days"}:
        # Ten business days are two weeks.
        amount *= 1.4 if following in {"business", "working"} else 1
        following, taken = "days", 2
    if not unit and following and (len(following) > 1 or following in {"s", "h", "%"}):
        unit, taken = following, taken + 1
    if unit in _MULTIPLES:
        amount, unit = amount * _MULTIPLES[unit], ""
        if _word(raws, at + taken) in _UNITS:
            unit, taken = _word(raws, at + taken), taken + 1
    elif suffix == "M":
        amount, unit = amount * 1e6, ""
    elif unit not in _UNITS:
        if suffix:
            return None
        return (_plain(digits, money=bool(sign)), 1)
    return _measured(amount, unit, money=bool(sign)), taken


def _measured(amount: float, unit: str, *, money: bool) -> Value:
    if not unit:
        return _plain(f"{amount:.12g}", money=money)
    dimension, factor = _UNITS[unit]
    return Value(dimension, f"{amount * factor:.9g}")


def _plain(digits: str, *, money: bool) -> Value:
    written = digits.replace(",", "")
    return Value(MONEY, f"{float(written):.9g}") if money else Value(PLAIN, written)


def _word_number(raws: Sequence[str], at: int) -> tuple[Value, int] | None:
    word = raws[at].casefold()
    if word == "dozen":
        return Value(PLAIN, "12"), 1
    head, _, unit = word.partition("-")
    if head not in _WORD_NUMBERS or (unit and unit not in _UNITS):
        return None
    amount, taken = float(_WORD_NUMBERS[head]), 1
    if _word(raws, at + 1) in _MULTIPLES:
        amount, taken = amount * _MULTIPLES[_word(raws, at + 1)], 2
    if not unit and len(_word(raws, at + taken)) > 1 and _word(raws, at + taken) in _UNITS:
        unit, taken = _word(raws, at + taken), taken + 1
    return _measured(amount, unit, money=False), taken


def _version(written: str) -> tuple[Value, int] | None:
    match = _VERSION.fullmatch(written)
    return None if match is None else (Value(PLAIN, match[1].casefold()), 1)


def _time_in_words(raws: Sequence[str], at: int) -> tuple[Value, int] | None:
    """Three quarters of an hour, an hour and a half, two and a half hours, half an hour."""
    word = _word(raws, at)
    if word not in _WORD_NUMBERS and word not in {"a", "an"} and not word.isdigit() and not word.startswith("half"):
        return None
    parts = _word(raws, at + 1)
    share = _FRACTIONS.get(parts.removesuffix("s")) if parts.endswith("s") else None
    if share is not None and word in _WORD_NUMBERS:
        share *= _WORD_NUMBERS[word]
        of = at + 2 + (_word(raws, at + 2) == "of")
        unit = _time_unit(raws, of + 1) if _word(raws, of) in {"a", "an"} else None
        if unit is not None:
            return Value(TIME, f"{share / 100 * unit:.9g}"), of + 2 - at
        return (Value(SHARE, f"{share:.9g}"), 2) if of > at + 2 else None
    if word == "half" and (unit := _time_unit(raws, at + 1)) is not None:
        return Value(TIME, f"{unit / 2:.9g}"), 2
    if word.startswith("half-") and word[5:] in _UNITS and _UNITS[word[5:]][0] == TIME:
        return Value(TIME, f"{_UNITS[word[5:]][1] / 2:.9g}"), 1
    if word in {"a", "an", "one"} and (unit := _time_unit(raws, at + 1)) is not None:
        has_half = [_word(raws, at + place) for place in (2, 3, 4)] == ["and", "a", "half"]
        return (Value(TIME, f"{1.5 * unit:.9g}"), 5) if has_half else None
    if [_word(raws, at + place) for place in (1, 2, 3)] == ["and", "a", "half"]:
        whole = float(word) if word.isdigit() else _WORD_NUMBERS.get(word)
        unit = _time_unit(raws, at + 4)
        if whole is not None and unit is not None:
            return Value(TIME, f"{(whole + 0.5) * unit:.9g}"), 5
    return None


def _time_unit(raws: Sequence[str], at: int) -> float | None:
    """The seconds of a unit of time that is written out."""
    word = _word(raws, at)
    unit = _UNITS.get(word)
    return unit[1] if unit is not None and unit[0] == TIME and len(word) > 2 else None


def _share_in_words(raws: Sequence[str], at: int) -> tuple[Value, int] | None:
    """Half of it, a quarter of it; but "next quarter" is a time and "a third one" a place in a row."""
    word = _word(raws, at)
    of = at + 1 + (_word(raws, at + 1) == "of")
    unit = _UNITS.get(_word(raws, of + 1)) if _word(raws, of) in {"a", "an"} else None
    if word in _FRACTIONS and unit is not None and unit[0] == TIME:
        return Value(TIME, f"{_FRACTIONS[word] / 100 * unit[1]:.9g}"), of + 2 - at
    if word == "half" or (word in _FRACTIONS and _word(raws, at + 1) == "of"):
        return Value(SHARE, f"{_FRACTIONS[word]:.9g}"), 1
    return None


def _one_unit(raws: Sequence[str], at: int) -> tuple[Value, int] | None:
    """For an hour, but not ten times an hour."""
    if _word(raws, at) not in {"a", "an"} or not at or _word(raws, at - 1) not in _BEFORE_ONE_UNIT:
        return None
    unit = _UNITS.get(_word(raws, at + 1))
    if unit is None or unit[0] != TIME or len(_word(raws, at + 1)) < 3:
        return None
    return Value(TIME, f"{unit[1]:.9g}"), 2


def _period(raws: Sequence[str], at: int) -> tuple[Value, int] | None:
    """How often: daily, every day, once a day, twice a week, every 6 hours, every other year, every half hour."""
    word = _word(raws, at)
    if word in _PERIODS:
        return Value(PERIOD, f"{_PERIODS[word]:.9g}"), 1
    if word not in _TIMES and word not in {"every", "each"} and _word(raws, at + 1) != "times":
        return None
    if word in {"every", "each"}:
        return _every(raws, at)
    times, taken = _times(raws, at)
    unit = _period_unit(raws, at + taken) if times else None
    if unit is not None:
        return Value(PERIOD, f"{unit / times:.9g}"), taken + 1
    # "Once every 6 hours" is every 6 hours; "twice every 6 hours" nobody says.
    found = _every(raws, at + 1) if times == 1 else None
    return None if found is None else (found[0], found[1] + 1)


def _every(raws: Sequence[str], at: int) -> tuple[Value, int] | None:
    """Every day, every other day, every 6 hours, every half hour; the word at this place is "every" or "a"."""
    unit, every = _period_unit(raws, at + 1), _EVERY_SO_MANY.get(_word(raws, at + 1))
    following = _period_unit(raws, at + 2)
    if every is not None and following is not None:
        return Value(PERIOD, f"{every * following:.9g}"), 3
    if unit is not None and _word(raws, at + 2) != "of":
        return Value(PERIOD, f"{unit:.9g}"), 2
    readers = (_time_in_words, _share_in_words, _number) if at + 1 < len(raws) else ()
    found = next((value for reader in readers if (value := reader(raws, at + 1)) is not None), None)
    if found is None or found[0].dimension != TIME:
        return None
    return Value(PERIOD, found[0].amount), found[1] + 1


def _times(raws: Sequence[str], at: int) -> tuple[float, int]:
    """How many times, and the words up to the unit: once a, three times per; 0 where nothing is counted."""
    word = _word(raws, at)
    if word in _TIMES:
        times, taken = float(_TIMES[word]), 1
    elif _word(raws, at + 1) == "times" and (word.isdigit() or word in _WORD_NUMBERS):
        times, taken = float(word) if word.isdigit() else float(_WORD_NUMBERS[word]), 2
    else:
        return 0.0, 0
    leads = _word(raws, at + taken) in {"a", "an", "per", "every", "each"}
    return (times, taken + 1) if leads and times else (0.0, 0)


def _period_unit(raws: Sequence[str], at: int) -> float | None:
    return _PERIOD_UNITS.get(_word(raws, at)) or _time_unit(raws, at)


def _clock(raws: Sequence[str], at: int) -> tuple[Value, int] | None:
    word = _word(raws, at)
    if word in _CLOCK_WORDS:
        return Value(CLOCK, str(_CLOCK_WORDS[word])), 1
    match = _CLOCK.fullmatch(word)
    if match is None:
        return None
    hours, minutes, half = match.groups()
    taken = 1
    if half is None and _word(raws, at + 1).replace(".", "") in {"am", "pm"}:
        half, taken = _word(raws, at + 1).replace(".", ""), 2
    if half is None and minutes is None:
        return None
    hour = int(hours) % 12 + (12 if half == "pm" else 0) if half else int(hours)
    return Value(CLOCK, str(60 * hour + int(minutes or 0))), taken


def _clock_in_words(raws: Sequence[str], at: int) -> tuple[Value, int] | None:
    """Half past two in the afternoon, a quarter to nine, 9 o'clock."""
    side = _word(raws, at + 1)
    if side not in {"past", "to", "o'clock", "oclock"}:
        return None
    minutes = _MINUTES_OF_HOUR.get(_word(raws, at))
    if minutes is not None and side in {"past", "to"}:
        hour = _hour(raws, at + 2)
        if hour is None or (side == "to" and minutes == 30):
            return None
        of_day, taken = 60 * hour + (minutes if side == "past" else -minutes), 3
    else:
        hour = _hour(raws, at)
        if hour is None or side in {"past", "to"}:
            return None
        of_day, taken = 60 * hour, 2
    part = (
        _word(raws, at + taken + 2) if [_word(raws, at + taken), _word(raws, at + taken + 1)] == ["in", "the"] else ""
    )
    if part in {"afternoon", "evening"}:
        return Value(CLOCK, str((of_day + 720) if of_day < 720 else of_day)), taken + 3
    if part == "morning":
        return Value(CLOCK, str(of_day % 1440)), taken + 3
    return Value(CLOCK, str(of_day % 1440)), taken


def _hour(raws: Sequence[str], at: int) -> int | None:
    word = _word(raws, at)
    hour = int(word) if word.isdigit() and len(word) <= 2 else _WORD_NUMBERS.get(word)
    return hour if hour is not None and hour <= 24 else None


def _date(raws: Sequence[str], at: int) -> tuple[Value, int] | None:
    iso = _ISO_DATE.fullmatch(raws[at])
    if iso is not None:
        return Value(DATE, f"{iso[1]}-{iso[2]}-{iso[3] or '??'}"), 1
    day, taken = "", 0
    if _day(raws, at) and _month(raws, at + 1):
        day, taken = _day(raws, at), 1
    month = _month(raws, at + taken)
    if not month:
        return _year(raws, at)
    taken += 1
    if not day and _day(raws, at + taken):
        day, taken = _day(raws, at + taken), taken + 1
    year = _word(raws, at + taken)
    if _YEAR.fullmatch(year):
        return Value(DATE, f"{year}-{month:02}-{day or '??'}"), taken + 1
    return Value(DATE, f"????-{month:02}-{day or '??'}"), taken


def _year(raws: Sequence[str], at: int) -> tuple[Value, int] | None:
    led = _word(raws, at - 1) if at else ""
    if _YEAR.fullmatch(raws[at]) and led in _BEFORE_YEAR:
        return Value(DATE, f"{raws[at]}-??-??"), 1
    return None


def _month(raws: Sequence[str], at: int) -> int:
    word = _word(raws, at)
    if word in _CAPITALISED_MONTHS and raws[at][0].islower():
        return 0
    # A sentence that begins with "May" asks, unless a day follows.
    return 0 if word == "may" and at == 0 and not _day(raws, 1) else _MONTHS.get(word, 0)


def _day(raws: Sequence[str], at: int) -> str:
    match = _DAY.fullmatch(_word(raws, at))
    return f"{int(match[1]):02}" if match and 1 <= int(match[1]) <= 31 else ""


def _word(raws: Sequence[str], at: int) -> str:
    return raws[at].casefold() if 0 <= at < len(raws) else ""
