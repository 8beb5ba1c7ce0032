"""Days that only the day of a talk can tell: "by Friday", "tomorrow", "end of the week"."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, datetime, timedelta

from mycel.engine.english.verbs import is_past

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DAYS_AHEAD = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1}


def next_weekday(number: int, today: date) -> date:
    """The next one, as people mean it: on a Friday, Friday is in a week."""
    return today + timedelta(days=(number - today.weekday() - 1) % 7 + 1)


def last_of_month(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


_DAY_NAMES = "|".join((*WEEKDAYS, "mon", "tues?", "wed", "thurs?", "fri"))
_MOMENT = re.compile(
    rf"""(?<![\w/.-])(?:
      (?P<near>today|tonight|tomorrow|yesterday)(?:\ (?:morning|afternoon|evening|night|noon))?
      | (?:this|tomorrow)\ (?P<part>morning|afternoon|evening)
      | (?:(?:the|this)\ )?end\ of\ (?:the\ |this\ )?(?P<close>week|month|next\ week|next\ month)
      | (?P<span>this|next|last)\ (?P<unit>week|month)
      | (?:(?P<which>this|next|last|coming)\ )?(?P<day>{_DAY_NAMES})(?:\ (?:morning|afternoon|evening|night|noon))?
      | in\ (?P<count>[0-9]{{1,2}}|a|two|three|four|five|six|seven|ten)\ (?P<units>day|week)s?
      | the\ (?P<ordinal>[0-9]{{1,2}})(?:st|nd|rd|th)(?!\ (?:of|\w+\ (?:time|one)))
    )(?![\w-]|'s)""",
    re.IGNORECASE | re.VERBOSE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Capitals only: to march and may are verbs.
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
# A day that comes every week is no date.
_EVERY = re.compile(r"\b(?:every|each|a|any|per|most|on all|always on|never on)\s+$", re.IGNORECASE)
# Nor is one that is counted within a month: "the first Monday in January", "the last Friday of the month".
_COUNTED = re.compile(r"\b(?:first|second|third|fourth|fifth|other|[1-5](?:st|nd|rd|th))\s+$", re.IGNORECASE)
_OF_A_MONTH = re.compile(
    rf"\s+(?:of|in)\s+(?:(?i:(?:the|each|every|a|next|this|that)\s+(?:month|quarter|year|sprint))\b|{_MONTH})"
)
# "Never deploy on Friday" is about every Friday, "always ask me, but ship it by Friday" about one.
_AT_ALL_TIMES = re.compile(r"\b(?:never|always|usually|normally)\b", re.IGNORECASE)
_UP_TO = re.compile(r"\b(?:by|until|till|before|this|next|coming)\s+$", re.IGNORECASE)
# Of another time than now: what day is meant there cannot be told from today.
_ELSEWHEN = re.compile(
    r"\b(?:last|next|that|this|every|each) (?:year|quarter|spring|summer|autumn|fall|winter)\b", re.IGNORECASE
)
# So many of something, and so long it took: no time that is to come.
_MANY = re.compile(
    r"\b(?:[0-9][0-9.,]*|once|twice|several|many|few|no|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|\w+teen|\w+ty|dozens?|hundreds?)\s+(?:[\w-]+\s+){0,2}$",
    re.IGNORECASE,
)
_MANY_CHARS = 60
# The verb that tells when stands no farther from the day.
_TENSE_CHARS = 40
# And what says that it is still to come no farther than this.
_CLAUSE_CHARS = 200
_PAST_WORDS = frozenset(("since", "was", "were", "been", "last", "ago"))
_AHEAD = re.compile(r"\b(?:by|until|till|before|next|coming|to|for)\s+$|\b(?:will|due)\b|'ll\b", re.IGNORECASE)
# "From the 17th on there is": it has begun.
_HOLDS_SINCE = re.compile(
    r" (?:on|onwards?)\b,? (?:(?!will\b|shall\b|please\b)[\w-]+ ){0,3}?(?:there's|(?:it|that)'s|is|are|has|have)\b",
    re.IGNORECASE,
)
_SINCE = re.compile(r"\bsince\s+$", re.IGNORECASE)
_COUNTS = {"a": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_PREPOSITION = re.compile(r"\b(?:by|on|until|till|before|after|from|since|for|to|at|due|of|in)\s+$", re.IGNORECASE)


_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    *("twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
    *("twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth"),
    *("twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first"),
)
_NTH = rf"[0-9]{{1,2}}(?:st|nd|rd|th)?|(?i:{'|'.join(reversed(_ORDINALS))})"
# The name of the day before it says nothing more.
_DATE = re.compile(
    rf"(?<![\w/.-])(?:(?i:{_DAY_NAMES}),? )?(?:"
    rf"(?:[Tt]he )?(?P<first>{_NTH}) (?:of )?(?P<of>{_MONTH})"
    rf"|(?P<close>(?:[Tt]he )?end of )(?P<ending>{_MONTH})"
    rf"|(?P<month>{_MONTH}) (?P<second>[0-9]{{1,2}}(?:st|nd|rd|th)?))(?!,? ?[0-9]|[\w:-])"
)


def _with_years(text: str, today: date) -> str:
    """Days of a month with their year: the one that makes them nearest to the day of the talk."""

    def dated(match: re.Match[str]) -> str:
        month = _MONTHS.index((match["of"] or match["ending"] or match["month"])[:3].lower()) + 1
        day = match["first"] or match["second"]
        found = [one for year in (-1, 0, 1) if (one := _day_of(today.year + year, month, day)) is not None]
        return f"{min(found, key=lambda one: abs(one - today))}" if found else match[0]

    return _DATE.sub(dated, text)


def _day_of(year: int, month: int, day: str | None) -> date | None:
    """The last day of the month where none is named; None where no calendar has it."""
    try:
        return last_of_month(date(year, month, 1)) if day is None else date(year, month, _number(day.lower()))
    except ValueError:
        return None


def _number(day: str) -> int:
    return _ORDINALS.index(day) + 1 if day in _ORDINALS else int(day.rstrip("stndrh"))


def resolve_days(text: str, said_at: datetime) -> str:
    """With days in place of what only the day of the talk could tell: "by Friday" becomes "by 2026-11-20"."""
    today = said_at.date()
    text = _with_years(text, today)
    pieces: list[str] = []
    at = 0
    for match in _MOMENT.finditer(text):
        if _is_no_date(text, match):
            continue
        leads = _PREPOSITION.search(text, max(0, match.start() - 8), match.start())
        before = text[max(0, match.start() - _CLAUSE_CHARS) : match.start()]
        is_told = _is_told(before) or (leads is not None and _HOLDS_SINCE.match(text, match.end()) is not None)
        found = _resolved(match, today, leads=leads, is_told=is_told)
        if found is not None:
            pieces += (text[at : match.start()], found)
            at = match.end()
    return "".join((*pieces, text[at:]))


def _is_no_date(text: str, match: re.Match[str]) -> bool:
    """Whether these words mean a day of every week, one of another year, or how long something took."""
    start = match.start()
    if _EVERY.search(text, max(0, start - 12), start):
        return True
    if match["day"] and (_COUNTED.search(text, max(0, start - 12), start) or _OF_A_MONTH.match(text, match.end())):
        return True
    is_up_to = _UP_TO.search(text, max(0, start - 12), start) is not None
    if match["day"] and not is_up_to and _AT_ALL_TIMES.search(text, max(0, start - _CLAUSE_CHARS), start):
        return True
    if match["day"] or match["ordinal"]:
        return _ELSEWHEN.search(text, max(0, start - _CLAUSE_CHARS), start) is not None
    before = text[max(0, start - _MANY_CHARS) : start]
    return bool(match["units"]) and (_MANY.search(before) is not None or _is_told(before))


def _is_told(before: str) -> bool:
    """Whether a day after these words is one that has been."""
    if _SINCE.search(before):
        return True
    if _AHEAD.search(before):
        return False
    words = before[-_TENSE_CHARS:].lower().split()
    return any(word in _PAST_WORDS or is_past(word.strip(",;:")) for word in words)


def _resolved(match: re.Match[str], today: date, *, leads: object, is_told: bool) -> str | None:
    on = "" if leads else "on "
    if near := (match["near"] or "").lower():
        return f"{on}{today + timedelta(days=DAYS_AHEAD[near])}"
    if match["part"]:
        ahead = 1 if match[0].lower().startswith("tomorrow") else 0
        return f"{on}{today + timedelta(days=ahead)}"
    if close := match["close"]:
        return _close(close.lower(), today)
    if match["unit"]:
        return _span(match["span"].lower(), match["unit"].lower(), today, leads=leads)
    if match["day"]:
        which = (match["which"] or ("last" if is_told else "")).lower()
        return f"{on}{_weekday(match['day'].lower(), which, today)}"
    if match["units"]:
        count = _COUNTS.get(match["count"].lower()) or int(match["count"])
        return f"by {today + timedelta(days=count * (7 if match['units'].lower() == 'week' else 1))}"
    return _on_the(int(match["ordinal"]), today, on=on, is_told=is_told)


def _weekday(name: str, which: str, today: date) -> date:
    number = next(number for number, day in enumerate(WEEKDAYS) if day.startswith(name[:3]))
    if which == "last":
        return today - timedelta(days=(today.weekday() - number - 1) % 7 + 1)
    return next_weekday(number, today)


def _close(what: str, today: date) -> str:
    """The end of a week is its Friday."""
    if what.endswith("week"):
        friday = today + timedelta(days=4 - today.weekday() + (7 if what.startswith("next") else 0))
        return f"{friday if friday >= today else friday + timedelta(days=7)}"
    return f"{last_of_month(_first_of_next(today) if what.startswith('next') else today)}"


def _span(which: str, unit: str, today: date, *, leads: object) -> str | None:
    step = {"this": 0, "next": 1, "last": -1}[which]
    if unit == "month":
        return None
    monday = today + timedelta(days=7 * step - today.weekday())
    return f"{'' if leads else 'in '}the week of {monday}"


def _on_the(day: int, today: date, *, on: str, is_told: bool) -> str | None:
    this = today.replace(day=1)
    for month in (this, (this - timedelta(days=1)).replace(day=1)) if is_told else (this, _first_of_next(today)):
        try:
            found = month.replace(day=day)
        except ValueError:
            continue
        if found <= today if is_told else found >= today:
            return f"{on}{found}"
    return None


def _first_of_next(day: date) -> date:
    return last_of_month(day) + timedelta(days=1)
