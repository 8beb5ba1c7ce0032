"""What the descriptions of all routes share: headers, problems, and how bodies and answers are written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from mycel.surfaces.http.bodies import JSON, MAX_BODY_BYTES, MAX_CAPTURE_BYTES
from mycel.wire.arguments import SPELLING
from mycel.wire.problems import MEDIA_TYPE
from mycel.wire.schemas import LABEL, MEMBER, TEAM, Schema, placed

_AT = "#/components/schemas/"
ABOUT = f"""The shared memory of a team of AI agents and people.

Every route under `/api` asks for a bearer token, whose member it acts as. {SPELLING} Answers are in snake_case.
Errors are `application/problem+json` with a stable `code` and, where one part of the request is wrong, its `field`. A
body is at most {MAX_BODY_BYTES:,} bytes, that of a capture {MAX_CAPTURE_BYTES:,}. Lists come in pages: the `Link`
header of one holds the address of the next. What a caller may not see answers like what is not there."""

_DETAILS: Mapping[int, str] = {
    400: "The Host header is missing or malformed.",
    401: "No token, or one that is unknown, expired or revoked.",
    403: "Seen, but not allowed.",
    404: "Absent or hidden: the two look alike.",
    409: "Somebody was faster, or it does not fit what stands. Read again and retry.",
    412: "The memory is not at the version that If-Match names.",
    413: "The body is too large.",
    415: "The body is not application/json.",
    421: "The service does not answer under this name.",
    422: "The request is wrong; `field` names the part.",
    429: "Too many requests, or too much asked for at once.",
    500: "Something went wrong in the service; its log says more.",
    503: "The service is busy; nothing was stored.",
    507: "The disk of the service is full; reads go on.",
}
_LATER = frozenset({429, 503, 507})
FOR_ANYBODY = (400, 403, 421, 500, 503)
ALWAYS = (400, 401, 403, 404, 409, 421, 422, 429, 500, 503)
PROBLEM: Schema = {
    "type": "object",
    "description": "An error (RFC 9457).",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "For people."},
        "code": {"type": "string", "description": "Stable, for programs."},
        "field": {"type": "string", "description": "The part of the request that is wrong."},
    },
    "required": ["type", "title", "status", "detail", "code"],
}
NOT_MODIFIED: Schema = {
    "description": "Nothing has changed since the answer whose ETag If-None-Match names.",
    "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
}
_HEADERS: Mapping[str, Schema] = {
    "ETag": {
        "description": "Of a memory its version, of other answers what they hold.",
        "schema": {"type": "string", "pattern": '^"[0-9a-f]+"$'},
    },
    "Link": {"description": 'The next page, as `rel="next"`; none after the last.', "schema": {"type": "string"}},
    "Location": {"description": "The path of what was made or begun.", "schema": {"type": "string"}},
    "Mycel-Report": {"description": "What the archive holds, in ASCII JSON.", "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}},
    "Set-Cookie": {"schema": {"type": "string"}},
    "WWW-Authenticate": {"schema": {"const": "Bearer"}},
}
_REQUEST_HEADERS: Mapping[str, tuple[str, Schema, str]] = {
    "As": ("Mycel-As", MEMBER, "The operator acts as this member."),
    "Team": ("Mycel-Team", TEAM, "The operator acts in this team."),
    "IdempotencyKey": (
        "Idempotency-Key",
        LABEL,
        "The same key and request give the same answer for seven days; also read as the field `idempotency_key`.",
    ),
    "IfNoneMatch": ("If-None-Match", {"type": "string"}, "An ETag that is known already."),
    "IfMatch": (
        "If-Match",
        {"type": "string", "pattern": r'^(?:\*|"[0-9]{1,18}")$'},
        "The ETag that the memory must have; the same as the field `expected_version`. 412 when it has another.",
    ),
}


def _to(part: str, name: str) -> Schema:
    return {"$ref": f"#/components/{part}/{name}"}


# Of the caller, and not of what is asked: written down once, and not with every path.
OF_THE_OPERATOR = [_to("parameters", "As"), _to("parameters", "Team")]
IDEMPOTENCY_KEY, IF_NONE_MATCH, IF_MATCH = (
    _to("parameters", name) for name in ("IdempotencyKey", "IfNoneMatch", "IfMatch")
)


def _phrase(status: int) -> str:
    return "".join(HTTPStatus(status).phrase.title().split())


def _problem(status: int) -> Schema:
    headers = ["Retry-After"] if status in _LATER else ["WWW-Authenticate"] if status == 401 else []
    return {
        "description": _DETAILS[status],
        **({"headers": {name: _to("headers", name) for name in headers}} if headers else {}),
        "content": {MEDIA_TYPE: {"schema": {"$ref": f"{_AT}Problem"}}},
    }


COMPONENTS: Mapping[str, Any] = {
    "securitySchemes": {
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of `mycel token issue`. With that of the operator, the headers `Mycel-As` and "
            "`Mycel-Team` say as which member, or in which team.",
        }
    },
    "headers": dict(_HEADERS),
    "responses": {_phrase(status): _problem(status) for status in _DETAILS},
    "parameters": {
        name: {"name": header, "in": "header", "description": about, "schema": placed(schema, at=_AT)}
        for name, (header, schema, about) in _REQUEST_HEADERS.items()
    },
}


def problems(statuses: Iterable[int]) -> Schema:
    return {str(status): _to("responses", _phrase(status)) for status in sorted(statuses)}


def parameter(name: str, schema: Schema, *, place: str, required: bool = False) -> Schema:
    needed = {"required": True} if required or place == "path" else {}
    about = {"description": schema["description"]} if "description" in schema else {}
    inner = {key: value for key, value in schema.items() if key != "description"}
    return {"name": name, "in": place, **needed, **about, "schema": inner}


def body(schema: Schema, *, media_types: Iterable[str] = (JSON,)) -> Schema:
    needed = {} if _allows_nothing(schema) else {"required": True}
    return {**needed, "content": {media_type: {"schema": schema} for media_type in media_types}}


def answer(schema: Schema | None, media_type: str, headers: Iterable[str], *, others: Iterable[str] = ()) -> Schema:
    named = {name: _to("headers", name) for name in headers}
    found: Schema = {"description": "Done." if schema is None else "The answer."}
    if named:
        found["headers"] = named
    if schema is not None:
        found["content"] = {media_type: {"schema": schema}, **{other: {"schema": {}} for other in others}}
    return found


def _allows_nothing(schema: Schema) -> bool:
    """Whether an empty object would do, and so no body at all."""
    if schema.get("required") or schema.get("minProperties"):
        return False
    options = schema.get("anyOf")
    return all(map(_allows_nothing, schema.get("allOf", []))) and (not options or any(map(_allows_nothing, options)))
