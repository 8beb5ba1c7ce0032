"""The description of the API in OpenAPI 3.1: made from the table of operations, the vocabulary and the answer types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from mycel import __version__
from mycel.domain.memory import Memory
from mycel.domain.query import Page
from mycel.surfaces.http.bodies import JSON, MAX_BODY_BYTES, MAX_CAPTURE_BYTES
from mycel.surfaces.http.calls import PLACES
from mycel.surfaces.http.described_route import About, DescribedRoute
from mycel.wire.answers import Answers
from mycel.wire.naming import NAMING, READ_NAMES, Naming, camel_definitions, spelled_schema
from mycel.wire.operations import EXPECTED, IDEMPOTENCY, OPERATIONS, Operation
from mycel.wire.problems import MEDIA_TYPE
from mycel.wire.request_schemas import SPELLING, arguments, definitions, in_path, without
from mycel.wire.schemas import LABEL, MEMBER, TEAM, Schema, placed
from mycel.wire.summaries import description_of, summary_of, tag_of

_AT = "#/components/schemas/"
ABOUT = f"""The shared memory of a team of AI agents and people.

Every route under `/api` asks for a bearer token, whose member it acts as. {SPELLING} Answers are in snake_case or, with
`naming=camel` in the query or the header `Mycel-Naming: camel`, in camelCase, where a memory is a `MemoryItem`.
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
_NAMING_SCHEMA: Schema = {"type": "string", "enum": [one.value for one in Naming]}
_REQUEST_HEADERS: Mapping[str, tuple[str, Schema, str]] = {
    "Naming": (
        "Mycel-Naming",
        _NAMING_SCHEMA,
        "How names in the answer are spelled, unless the query says it.",
    ),
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
NAMED = [_to("parameters", "Naming")]
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


AT = "#/components/schemas/"
_TEXT = "text/markdown"
_NO_NAME = re.compile(r"\W+")
_PARAMETER = re.compile(r"\{(\w+)\}")

Document = dict[str, Any]


def openapi(routes: Iterable[DescribedRoute] = (), *, namings: Sequence[Naming] = tuple(Naming)) -> Document:
    """Describe the operations and these routes, with their answers in each of the `namings`."""
    answers = Answers()
    paths: dict[str, Document] = {}
    taken: set[str] = set()
    for operation in OPERATIONS:
        found = _operation(operation, answers, id=_id(operation, taken))
        paths.setdefault(path_of(operation), {})[operation.method.lower()] = found
    for route in routes:
        for method, about in route.about.items():
            paths.setdefault(route.path, {})[method.lower()] = _route(route, method, about, answers)
    schemas = {**definitions(), **answers.definitions, "Problem": PROBLEM}
    if Naming.CAMEL in namings:
        schemas |= camel_definitions(answers.definitions)
        _spell_answers(paths, answers, namings)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Mycel", "version": __version__, "description": ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "x-operator-headers": OF_THE_OPERATOR,
        "x-naming": [*NAMED, {"name": NAMING, "in": "query", "schema": _NAMING_SCHEMA}],
        "tags": _tags(paths.values()),
        "paths": placed(paths, at=AT),
        "components": {
            **COMPONENTS,
            "schemas": placed({name: schemas[name] for name in sorted(schemas)}, at=AT),
        },
    }


def path_of(operation: Operation) -> str:
    """Two templates of one path must name its parts alike, whatever Python calls them."""
    return _PARAMETER.sub("{id}", operation.path)


def _operation(operation: Operation, answers: Answers, *, id: str) -> Document:
    found: Document = {
        "operationId": id,
        "tags": [tag_of(operation)],
        "summary": summary_of(operation),
        "description": description_of(operation),
        "parameters": _parameters(operation),
    }
    if EXPECTED in operation.fields:
        found["x-conditional-headers"] = [IF_MATCH]
    taken = without(arguments(operation), IDEMPOTENCY)
    if operation.name == "update":
        taken = {**taken, "properties": {**_AS_READ, **taken["properties"]}}
    if not operation.in_query and taken.get("properties", True):
        found["requestBody"] = body(taken)
    media_type = JSON if operation.shows in {None, "to_agent_context"} else _TEXT
    found["responses"] = {
        str(operation.status): answer(answers.of(operation), media_type, _headers(operation)),
        **(
            {}
            if operation.waiting is None
            else {str(operation.waiting): answer(answers.of(operation), media_type, _headers(operation))}
        ),
        **({"304": NOT_MODIFIED} if operation.method == "GET" else {}),
        **problems(_statuses(operation)),
    }
    return {name: value for name, value in found.items() if value}


# What an update is sent back as it was read, and cannot change.
_AS_READ: Mapping[str, Schema] = {name: {"readOnly": True} for name in sorted(READ_NAMES)}


def _spell_answers(paths: Mapping[str, Document], answers: Answers, namings: Sequence[Naming]) -> None:
    for about in (one for path in paths.values() for one in path.values()):
        for status, response in about["responses"].items():
            shown = response.get("content", {}).get(JSON)
            if shown is not None and status.startswith("2"):
                shown["schema"] = spelled_schema(shown["schema"], answers.definitions, namings)


def _parameters(operation: Operation) -> list[Schema]:
    found = [parameter("id", schema, place="path") for schema in in_path(operation).values()]
    if operation.in_query:
        found += _in_query(arguments(operation))
    if IDEMPOTENCY in operation.fields:
        found.append(IDEMPOTENCY_KEY)
    if operation.method == "GET":
        found.append(IF_NONE_MATCH)
    return found


def _in_query(taken: Schema) -> list[Schema]:
    """One parameter each; where they depend on each other, one object of them all, which looks the same in a query."""
    if "properties" not in taken:
        return [
            {"name": "arguments", "in": "query", "required": True, "style": "form", "explode": True, "schema": taken}
        ]
    required = taken.get("required", [])
    return [
        parameter(name, schema, place="query", required=name in required)
        for name, schema in taken["properties"].items()
    ]


def _headers(operation: Operation) -> list[str]:
    found = ["ETag"] if operation.answers is Memory or operation.method == "GET" else []
    if operation.status in {HTTPStatus.CREATED, HTTPStatus.ACCEPTED} and operation.answers in PLACES:
        found.append("Location")
    if operation.pages and getattr(operation.answers, "__origin__", None) is Page:
        found.append("Link")
    return found


def _statuses(operation: Operation) -> Iterable[int]:
    yield from ALWAYS
    if operation.method != "GET":
        yield 507
    if not operation.in_query:
        yield from (413, 415)
    if EXPECTED in operation.fields:
        yield 412


def _route(route: DescribedRoute, method: str, about: About, answers: Answers) -> Document:
    names = _NO_NAME.sub("_", route.path).strip("_")
    in_query = [
        parameter(name, schema, place="query", required=name in about.required) for name, schema in about.query.items()
    ]
    steps = [parameter(name, {"type": "string"}, place="path") for name in _PARAMETER.findall(route.path)]
    taken = about.refuses if about.body is None else {413, *([415] if JSON in about.body_types else []), *about.refuses}
    schema = about.shape if about.answers is None else answers.schema(about.answers)
    found: Document = {
        "operationId": f"{names}_{method.lower()}",
        "tags": [about.tag],
        "summary": about.summary,
        "description": about.description,
        "parameters": steps + in_query,
        "responses": {
            str(about.status): answer(schema, about.media_type, about.headers, others=about.others),
            **problems({*(FOR_ANYBODY if about.public else ALWAYS), *taken}),
        },
    }
    if about.body is not None:
        found["requestBody"] = body(about.body, media_types=about.body_types)
    shown = {name: value for name, value in found.items() if value}
    return {**shown, "security": []} if about.public else shown


def _id(operation: Operation, taken: set[str]) -> str:
    """The name in Python; of a second way to the same, also what is different."""
    name = operation.name.replace(".", "_")
    last = operation.path.rpartition("/")[2].replace("-", "_")
    for id in (name, f"{name}_{last}", f"{name}_{operation.method.lower()}"):
        if id not in taken and id != f"{last}_{last}":
            taken.add(id)
            return id
    raise ValueError(f"{operation} has no name of its own")


def _tags(paths: Iterable[Mapping[str, Any]]) -> list[Document]:
    found = {tag: None for path in paths for one in path.values() for tag in one["tags"]}
    return [{"name": tag} for tag in found]
