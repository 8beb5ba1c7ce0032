"""Checks for values that come from outside: each returns the clean value or names the field that is wrong."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeVar, cast

from mycel.errors import InvalidInput

# What JSON readers keep as a whole number.
MAX_COUNT = 2**53
MAX_ITEMS = 1000
MAX_TEAMS = 10_000
MAX_REASON_BYTES = 2000
MAX_URI_BYTES = 1024
MAX_NOTED_BYTES = 2 * 1024
MAX_VIEW_QUERY_BYTES = 8 * 1024
MAX_SHARED_TEXT_BYTES = 1024 * 1024
MAX_BRIEFED = 50
DEFAULT_TOKEN_BUDGET = 2000
LEAST_TOKEN_BUDGET, MOST_TOKEN_BUDGET = 100, 100_000
# With the longest id before it, the key of a profile fact is still a label.
MAX_PROFILE_KEY = 70


EnumT = TypeVar("EnumT", bound=StrEnum)

MAX_LABEL = 200
MAX_PATH = 512
MAX_PATH_PARTS = 16
MAX_TAGS = 32
MAX_TAGS_BYTES = 8 * 1024
MAX_LIST = 100
MAX_METADATA_BYTES = 16 * 1024
MAX_DEPTH = 32
MAX_PAGE = 1000
MAX_SECONDS = 10**10
# The longest option has 16.
MAX_REPEATED = 24
# What SQLite and Postgres both keep as a whole number.
LEAST_INTEGER, MOST_INTEGER = -(2**63), 2**63 - 1
# Classes of characters, named one by one and not by the tables of the running Python: what is a name today is one
# everywhere and later on. The first are control characters, separators of lines, invisible formatting and tags.
INVISIBLE = (
    r"\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
)
# Spaces but the one, which look like it and are not.
ODD_SPACES = r"\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
UNPRINTABLE = INVISIBLE + ODD_SPACES
_UNPRINTABLE = re.compile(f"[{UNPRINTABLE}]")
_SPACING = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029{ODD_SPACES}]")
_FORMATTING = re.compile(f"[{INVISIBLE}]")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TTL = re.compile(r"(\d{1,10})\s*([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def text(value: object, *, field: str, max_bytes: int) -> str:
    """Any Unicode but NUL and lone surrogates, which one database or the other cannot keep."""
    if not isinstance(value, str):
        raise InvalidInput(f"must be text, not {type(value).__name__}", field=field)
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidInput("holds a lone surrogate, which is not valid Unicode text", field=field) from None
    if "\0" in value:
        raise InvalidInput("holds a NUL character", field=field)
    if size > max_bytes:
        raise InvalidInput(f"is {size:,} bytes long; at most {max_bytes:,} are kept", field=field)
    return value


def filled_text(value: object, *, field: str, max_bytes: int) -> str:
    found = text(value, field=field, max_bytes=max_bytes)
    if not found.strip():
        raise InvalidInput("must not be empty", field=field)
    return found


def label(value: object, *, field: str) -> str:
    """A short name on one line, such as a category, a key or a session."""
    found = filled_text(value, field=field, max_bytes=4 * MAX_LABEL).strip()
    if len(found) > MAX_LABEL:
        raise InvalidInput(f"is {len(found)} characters long; at most {MAX_LABEL} are kept", field=field)
    if not is_one_line(found):
        raise InvalidInput("must be one line without control characters", field=field)
    return found


def is_one_line(text: str) -> bool:
    """Whether a name could be this text."""
    return (text.isascii() and text.isprintable()) or _UNPRINTABLE.search(text) is None


def one_line(text: str) -> str:
    """The text as a name could be it: without what cannot be seen, and one space between words."""
    return " ".join(_FORMATTING.sub("", _SPACING.sub(" ", text)).split())


def place(value: object, *, field: str) -> str:
    """The name of a project or repo; it becomes a folder of the logical tree."""
    found = label(value, field=field)
    if "/" in found or "\\" in found or found in {".", ".."}:
        raise InvalidInput("must be a plain name without '/' or '\\'", field=field)
    return found


def choice(value: object, options: type[EnumT], *, field: str) -> EnumT:
    try:
        if isinstance(value, str):
            return options(value.replace("-", "_"))
    except ValueError:
        pass
    known = ", ".join(option.value for option in options)
    raise InvalidInput(f"{_shown(value)} is not one of: {known}", field=field)


def choices(value: object, options: type[EnumT], *, field: str) -> tuple[EnumT, ...]:
    """One option, or several; each is kept once, in the order given."""
    return tuple(dict.fromkeys(choice(one, options, field=field) for one in several(value, field=field)))


def several(value: object, *, field: str, most: int = MAX_LIST) -> tuple[object, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
        found = tuple(islice(cast(Iterable[object], value), most + 1))
        if len(found) > most:
            raise InvalidInput(f"has more than {most} entries", field=field)
        return found
    raise InvalidInput("must be text or a list of texts", field=field)


def tags(value: object, *, field: str = "tags", most: int = MAX_TAGS) -> tuple[str, ...]:
    """A list, or one comma-separated text; lower case, each once, in the order given."""
    if isinstance(value, str):
        value = [part for part in text(value, field=field, max_bytes=MAX_TAGS_BYTES).split(",") if part.strip()]
    return tuple(dict.fromkeys(label(one, field=field).lower() for one in several(value, field=field, most=most)))


def path(value: object, *, field: str = "path") -> str:
    """A logical path: `/` and names below it, none of them empty, `.` or `..`."""
    found = text(value, field=field, max_bytes=4 * MAX_PATH)
    if not found.startswith("/"):
        raise InvalidInput("must start with '/'", field=field)
    trimmed = found.rstrip("/")
    parts = trimmed.split("/")[1:]
    if any(part.strip() != part or part in {"", ".", ".."} for part in parts):
        raise InvalidInput("has an empty part, '.', '..' or a part with outer spaces", field=field)
    if not is_one_line(trimmed) or "\\" in trimmed:
        raise InvalidInput("holds a control character or a backslash", field=field)
    if len(trimmed) > MAX_PATH or len(parts) > MAX_PATH_PARTS:
        raise InvalidInput(f"is longer than {MAX_PATH} characters or {MAX_PATH_PARTS} parts", field=field)
    return trimmed or "/"


def fraction(value: object, *, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput("must be a number from 0 to 1", field=field)
    # NaN fails both comparisons.
    if not 0 <= value <= 1:
        raise InvalidInput("must be a number from 0 to 1", field=field)
    return float(value)


def whole(value: object, *, field: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(f"must be a whole number from {least} to {most}", field=field)
    return value


def flag(value: object, *, field: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput("must be true or false", field=field)
    return value


def moment(value: object, *, field: str) -> datetime:
    """An aware time in UTC, from a datetime or an ISO 8601 text."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise InvalidInput("must be an ISO 8601 time such as 2026-11-15T09:00:00Z", field=field) from None
    if not isinstance(value, datetime):
        raise InvalidInput("must be a time", field=field)
    if value.tzinfo is None:
        raise InvalidInput("needs a time zone, for example +00:00", field=field)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput("is outside the years 1 to 9999", field=field) from None


def day_or_moment(value: object, *, field: str, ends: bool = False) -> datetime:
    """A moment as above, or a day such as 2026-12-31 in UTC: its first moment, or its last where something ends."""
    if isinstance(value, str) and _DAY.fullmatch(value):
        try:
            day = datetime.combine(date.fromisoformat(value), time.max if ends else time.min, UTC)
        except ValueError:
            raise InvalidInput("must be a day such as 2026-12-31", field=field) from None
        return day
    return moment(value, field=field)


def lifetime(value: object, *, field: str = "ttl") -> timedelta:
    """A timedelta, a number of seconds, or a text such as `7d` or `12h`."""
    found: timedelta | None = None
    if isinstance(value, timedelta):
        found = value
    elif isinstance(value, str) and (match := _TTL.fullmatch(value.strip())):
        found = timedelta(seconds=min(int(match[1]) * _SECONDS[match[2]], MAX_SECONDS))
    elif isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < MAX_SECONDS:
        # However short, it is a time.
        found = max(timedelta(seconds=value), timedelta.resolution)
    if found is None or not timedelta() < found <= timedelta(days=36_525):
        raise InvalidInput("must be a time span above zero and at most 100 years, such as 7d", field=field)
    return found


def metadata(value: object, *, field: str = "metadata") -> Mapping[str, Any]:
    """A JSON object of bounded size and depth, with finite numbers and valid text."""
    if not isinstance(value, Mapping):
        raise InvalidInput("must be an object of names and values", field=field)
    copied = json_value(cast(Mapping[object, object], value), field=field)
    if len(json.dumps(copied, ensure_ascii=False).encode()) > MAX_METADATA_BYTES:
        raise InvalidInput(f"is larger than {MAX_METADATA_BYTES:,} bytes", field=field)
    return MappingProxyType(cast(dict[str, Any], copied))


def json_value(value: object, *, field: str, depth: int = 1, max_text_bytes: int = MAX_METADATA_BYTES) -> object:
    """A copy of the value that any JSON reader can take back unchanged."""
    if depth > MAX_DEPTH:
        raise InvalidInput(f"is nested more than {MAX_DEPTH} deep", field=field)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value, field=field, max_bytes=max_text_bytes)
    if isinstance(value, int):
        if not LEAST_INTEGER <= value <= MOST_INTEGER:
            raise InvalidInput("holds a whole number outside 64 bits", field=field)
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput("holds a number that is not finite", field=field)
        return value
    if type(value) is dict or isinstance(value, Mapping):
        named = cast(Mapping[object, object], value)
        return _json_object(named, field=field, depth=depth, max_text_bytes=max_text_bytes)
    if isinstance(value, list | tuple):
        items = cast(list[object] | tuple[object, ...], value)
        return [json_value(item, field=field, depth=depth + 1, max_text_bytes=max_text_bytes) for item in items]
    raise InvalidInput(f"holds a {type(value).__name__}, which JSON cannot carry", field=field)


def _json_object(value: Mapping[object, object], *, field: str, depth: int, max_text_bytes: int) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, item in value.items():
        if not isinstance(name, str):
            raise InvalidInput("has a name that is not text", field=field)
        key = text(name, field=field, max_bytes=max_text_bytes)
        found[key] = json_value(item, field=field, depth=depth + 1, max_text_bytes=max_text_bytes)
    return found


def _shown(value: object) -> str:
    """A misspelt word is repeated; a text that was meant for another field is not."""
    if not isinstance(value, str):
        return f"a {type(value).__name__}"
    return ascii(value) if len(value) <= MAX_REPEATED else f"a text of {len(value)} characters"
