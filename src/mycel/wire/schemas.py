"""The words of the API's descriptions: JSON Schemas of texts, names, times and lists, as the domain reads them.

Definitions have names, so that a description says `Label` and not its pattern each time; `at` says where they stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, cast

from mycel.domain import fields
from mycel.domain.artifact import MAX_PATH as MAX_ARTIFACT_PATH
from mycel.domain.artifact import MAX_PATH_PARTS as MAX_ARTIFACT_PATH_PARTS
from mycel.domain.cursor import CURSOR
from mycel.domain.draft import MAX_CONTENT_BYTES, MAX_NOTE_BYTES
from mycel.domain.link import PROJECT_PREFIX, REPO_PREFIX
from mycel.domain.team import ENGINE, MEMBER_ID, NO_TEAM_NAME, TEAM_NAME

Schema = dict[str, Any]

DEFINITIONS_AT = "#/$defs/"
NULL: Schema = {"type": "null"}
FLAG: Schema = {"type": "boolean"}
FRACTION: Schema = {"type": "number", "minimum": 0, "maximum": 1}
# What Python strips; what `\s` means differs between regular expressions.
_BLANK = r"\x09-\x0d\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
NO_NUL: Schema = {"not": {"pattern": r"\x00"}}
_UNPRINTABLE = fields.UNPRINTABLE
_IN_PATH = rf"{_UNPRINTABLE}/\\"
_PLACE = f"[^{_IN_PATH}]*[^{_IN_PATH} .][^{_IN_PATH}]*"
_PART = rf"\.?[^{_IN_PATH} .](?:[^{_IN_PATH}]*[^{_IN_PATH} ])?"
_IN_FILE = rf"{fields.INVISIBLE}/\\"
_FILE_PART = rf"\.?[^{_IN_PATH} .][^{_IN_FILE}]*"
_FILE = rf"(?:{_FILE_PART}/){{0,{MAX_ARTIFACT_PATH_PARTS - 1}}}{_FILE_PART}"
_TAG = rf"[^{_UNPRINTABLE},]{{0,{fields.MAX_LABEL}}}"
_LONG = 64 * 1024
_BASE64 = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
_SPANS = ("[1-9][0-9]{0,8}s", "[1-9][0-9]{0,6}m", "[1-9][0-9]{0,4}h", "[1-9][0-9]{0,3}d", "[1-9][0-9]{0,2}w")
_FROM_LINK = "From the `Link` of the page before."
_HUNDRED_YEARS = 36_525 * 86_400


def text(most: int, **more: Any) -> Schema:
    return {"type": "string", **_bound(most), **NO_NUL, **more}


def filled(most: int, **more: Any) -> Schema:
    blank = {"pattern": rf"\x00|^[{_BLANK}]*$"}
    return {"type": "string", "minLength": 1, **_bound(most), "not": blank, **more}


def _bound(most: int) -> Schema:
    """Counted in bytes by the service, which here can only be counted in characters.

    Of what is long, escaped, as much as a body may hold, only people are told.
    """
    return {"maxLength": most} if most <= _LONG else {"description": f"At most {most:,} bytes."}


def whole(least: int, most: int, **more: Any) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most, **more}


def one_of(options: Iterable[StrEnum], **more: Any) -> Schema:
    return {"type": "string", "enum": [option.value for option in options], **more}


def some_of(options: Iterable[StrEnum], **more: Any) -> Schema:
    """One, or several."""
    one = one_of(options)
    return either({**one, "enum": [*one["enum"], *more.pop("or_else", ())]}, listed(one), **more)


def listed(item: Schema, *, most: int = fields.MAX_LIST, **more: Any) -> Schema:
    return {"type": "array", "items": item, "maxItems": most, **more}


def one_or_more(item: Schema, *, most: int = fields.MAX_LIST, **more: Any) -> Schema:
    return either(item, listed(item, most=most), **more)


def either(*options: Schema, **more: Any) -> Schema:
    return {"anyOf": list(options), **more}


def nullable(schema: Schema) -> Schema:
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], NULL]}
    inner = {name: value for name, value in schema.items() if name != "description"}
    about = {name: value for name, value in schema.items() if name == "description"}
    return {"anyOf": [inner, NULL], **about}


def ref(name: str, **more: Any) -> Schema:
    return {"$ref": DEFINITIONS_AT + name, **more}


def closed(properties: Mapping[str, Schema], *, required: Iterable[str] = (), **more: Any) -> Schema:
    """An object with these names and no others."""
    wanted = sorted(required)
    named = {"required": wanted} if wanted else {}
    return {"type": "object", "properties": dict(properties), **named, "additionalProperties": False, **more}


def placed(schema: Schema, *, at: str) -> Schema:
    """The same schema for a document that keeps its definitions elsewhere."""
    return cast(Schema, _placed(schema, at))


def _placed(value: object, at: str) -> object:
    if isinstance(value, dict):
        named = cast(dict[str, object], value)
        return {name: _target(name, one, at) for name, one in named.items()}
    if isinstance(value, list):
        return [_placed(one, at) for one in cast(list[object], value)]
    return value


def _target(name: str, value: object, at: str) -> object:
    if name == "$ref" and isinstance(value, str) and value.startswith(DEFINITIONS_AT):
        return at + value.removeprefix(DEFINITIONS_AT)
    return _placed(value, at)


CONTENT, NOTE = ref("Content"), ref("Note")
LABEL, PLACE, PATH, ID, MEMBER, TEAM = map(ref, ("Label", "Place", "Path", "Id", "MemberId", "TeamName"))
MOMENT, LIFETIME, TAGS, JSON = map(ref, ("Moment", "Lifetime", "Tags", "Json"))
DAY_OR_MOMENT = ref("DayOrMoment")
ARTIFACT_PATH, METADATA = ref("ArtifactPath"), ref("Metadata")
ARTIFACT_FOLDER: Schema = {"type": "string", "maxLength": MAX_ARTIFACT_PATH, "pattern": f"^{_FILE}/?$"}
LINKED: Schema = either(
    ID,
    *(
        {"type": "string", "maxLength": len(kind) + fields.MAX_LABEL, "pattern": f"^{kind}{_PLACE}$"}
        for kind in (PROJECT_PREFIX, REPO_PREFIX)
    ),
)

TAG_LIST = listed(LABEL, most=fields.MAX_TAGS)
# One of them is its action.
EPISODE_TAGS = either(
    listed(LABEL, most=fields.MAX_TAGS - 1),
    {"type": "string", "pattern": rf"^{_TAG}(?:,{_TAG}){{0,{fields.MAX_TAGS - 2}}}$"},
)
FILE_CONTENT: Schema = either(
    {"type": "string", **NO_NUL},
    closed({"base64": {"type": "string", "pattern": rf"^{_BASE64}$"}}, required=["base64"]),
    description="Text, or bytes in base64.",
)
MEMORY_CURSOR, EPISODE_CURSOR, ARTIFACT_CURSOR = (
    {
        "type": "string",
        "maxLength": 4096,
        "pattern": f"^(?:{form})$",
        "description": "From the `Link` of the page before.",
    }
    for form in (CURSOR, "[0-9]{1,18}", r"[0-9]{1,18}\.[0-9]{1,18}")
)
ID_CURSOR: Schema = {**ID, "description": _FROM_LINK}
# Of their own names: as they stand in a description, or in the `$defs` of a single schema.
DEFINITIONS: Mapping[str, Schema] = {
    "Label": {
        "type": "string",
        "minLength": 1,
        "maxLength": fields.MAX_LABEL,
        "pattern": rf"^[^{_UNPRINTABLE}]*[^{_UNPRINTABLE} ][^{_UNPRINTABLE}]*$",
        "description": "A name on one line, without control characters and not blank; spaces around it are dropped.",
    },
    "Place": {
        "type": "string",
        "minLength": 1,
        "maxLength": fields.MAX_LABEL,
        "pattern": f"^{_PLACE}$",
        "description": "The name of a project or repo: a label without slashes.",
    },
    "Path": {
        "type": "string",
        "maxLength": fields.MAX_PATH,
        "pattern": rf"^/$|^(?:/{_PART}){{1,{fields.MAX_PATH_PARTS}}}/?$",
        "description": "A logical folder such as `/decisions`.",
        "examples": ["/decisions"],
    },
    "ArtifactPath": {
        "type": "string",
        "maxLength": MAX_ARTIFACT_PATH,
        "pattern": f"^{_FILE}$",
        "description": "A file below a workspace folder, as POSIX writes it. An absolute path is taken too, if it lies "
        "in a workspace folder of the service.",
        "examples": ["src/uploads.py"],
    },
    "Id": {
        "type": "string",
        "format": "uuid",
        "pattern": "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
        "description": "The id of a memory, source, event, recall or report. A request may name a memory by 8 or more "
        "characters from the beginning or the end of its id. Where the caller sees several memories that begin or end "
        "so, nothing is done, and the error `ambiguous` lists them; a purge takes the whole id.",
    },
    "Content": filled(MAX_CONTENT_BYTES, description="Text that is not blank, in bytes at most as long."),
    "Note": filled(MAX_NOTE_BYTES, description="Text that is not blank, in bytes at most as long."),
    "MemberId": {"type": "string", "pattern": f"^{MEMBER_ID}$", "not": {"const": ENGINE}},
    "TeamName": {"type": "string", "pattern": f"^{TEAM_NAME}$", "not": {"pattern": f"^(?:{NO_TEAM_NAME})$"}},
    "Moment": {"type": "string", "format": "date-time", "description": "A time with its zone, as ISO 8601 writes it."},
    "DayOrMoment": either(
        {"type": "string", "format": "date", "examples": ["2026-12-31"]},
        {"type": "string", "format": "date-time"},
        description="A day in UTC, or a time with its zone, as ISO 8601 writes them.",
    ),
    "Lifetime": either(
        {"type": "number", "exclusiveMinimum": 0, "maximum": _HUNDRED_YEARS},
        {"type": "string", "pattern": rf"^(?:{'|'.join(_SPANS)})$", "examples": ["7d"]},
        description="Seconds, or a span such as `7d`, `12h` or `90m`; at most 100 years.",
    ),
    "Tags": either(
        TAG_LIST,
        {"type": "string", "pattern": rf"^{_TAG}(?:,{_TAG}){{0,{fields.MAX_TAGS - 1}}}$"},
        description="A list, or one text with commas; kept in lower case, each once.",
    ),
    "Json": either(
        NULL,
        FLAG,
        {"type": "number", "minimum": fields.LEAST_INTEGER, "maximum": fields.MOST_INTEGER},
        {"type": "string", **NO_NUL},
        {"type": "array", "items": JSON},
        {"type": "object", "propertyNames": NO_NUL, "additionalProperties": JSON},
        description=f"Any JSON, at most {fields.MAX_DEPTH} deep, without NUL; whole numbers of 64 bits.",
    ),
    "Metadata": {
        "type": "object",
        "propertyNames": {"not": {"pattern": r"\x00|^mycel_"}},
        "additionalProperties": JSON,
        "description": f"Names and values of your own, at most {fields.MAX_METADATA_BYTES:,} bytes. "
        "Names that begin with `mycel_` are taken.",
    },
}
