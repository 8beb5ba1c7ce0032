"""The description of the API in OpenAPI 3.1: made from the table of operations, the vocabulary and the answer types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from mycel import __version__
from mycel.domain.memory import Memory
from mycel.domain.query import Page
from mycel.surfaces.http import openapi_parts as parts
from mycel.surfaces.http.bodies import JSON
from mycel.surfaces.http.calls import PLACES
from mycel.surfaces.http.described import About, DescribedRoute
from mycel.wire.answers import Answers
from mycel.wire.arguments import arguments, in_path, without
from mycel.wire.nested import definitions
from mycel.wire.operations import EXPECTED, IDEMPOTENCY, OPERATIONS, Operation
from mycel.wire.schemas import Schema, placed
from mycel.wire.summaries import description_of, summary_of, tag_of

AT = "#/components/schemas/"
_TEXT = "text/markdown"
_NO_NAME = re.compile(r"\W+")
_PARAMETER = re.compile(r"\{(\w+)\}")

Document = dict[str, Any]


def openapi(routes: Iterable[DescribedRoute] = ()) -> Document:
    answers = Answers()
    paths: dict[str, Document] = {}
    taken: set[str] = set()
    for operation in OPERATIONS:
        found = _operation(operation, answers, id=_id(operation, taken))
        paths.setdefault(path_of(operation), {})[operation.method.lower()] = found
    for route in routes:
        for method, about in route.about.items():
            paths.setdefault(route.path, {})[method.lower()] = _route(route, method, about, answers)
    schemas = {**definitions(), **answers.definitions, "Problem": parts.PROBLEM}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Mycel", "version": __version__, "description": parts.ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "x-operator-headers": parts.OF_THE_OPERATOR,
        "tags": _tags(paths.values()),
        "paths": placed(paths, at=AT),
        "components": {
            **parts.COMPONENTS,
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
        found["x-conditional-headers"] = [parts.IF_MATCH]
    taken = without(arguments(operation), IDEMPOTENCY)
    if not operation.in_query and taken.get("properties", True):
        found["requestBody"] = parts.body(taken)
    media_type = JSON if operation.shows in {None, "to_agent_context"} else _TEXT
    found["responses"] = {
        str(operation.status): parts.answer(answers.of(operation), media_type, _headers(operation)),
        **({"304": parts.NOT_MODIFIED} if operation.method == "GET" else {}),
        **parts.problems(_statuses(operation)),
    }
    return {name: value for name, value in found.items() if value}


def _parameters(operation: Operation) -> list[Schema]:
    found = [parts.parameter("id", schema, place="path") for schema in in_path(operation).values()]
    if operation.in_query:
        found += _in_query(arguments(operation))
    if IDEMPOTENCY in operation.fields:
        found.append(parts.IDEMPOTENCY_KEY)
    if operation.method == "GET":
        found.append(parts.IF_NONE_MATCH)
    return found


def _in_query(taken: Schema) -> list[Schema]:
    """One parameter each; where they depend on each other, one object of them all, which looks the same in a query."""
    if "properties" not in taken:
        return [
            {"name": "arguments", "in": "query", "required": True, "style": "form", "explode": True, "schema": taken}
        ]
    required = taken.get("required", [])
    return [
        parts.parameter(name, schema, place="query", required=name in required)
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
    yield from parts.ALWAYS
    if operation.method != "GET":
        yield 507
    if not operation.in_query:
        yield from (413, 415)
    if EXPECTED in operation.fields:
        yield 412


def _route(route: DescribedRoute, method: str, about: About, answers: Answers) -> Document:
    names = _NO_NAME.sub("_", route.path).strip("_")
    in_query = [
        parts.parameter(name, schema, place="query", required=name in about.required)
        for name, schema in about.query.items()
    ]
    steps = [parts.parameter(name, {"type": "string"}, place="path") for name in _PARAMETER.findall(route.path)]
    taken = about.refuses if about.body is None else {413, *([415] if JSON in about.body_types else []), *about.refuses}
    schema = about.shape if about.answers is None else answers.schema(about.answers)
    found: Document = {
        "operationId": f"{names}_{method.lower()}",
        "tags": [about.tag],
        "summary": about.summary,
        "description": about.description,
        "parameters": steps + in_query,
        "responses": {
            str(about.status): parts.answer(schema, about.media_type, about.headers, others=about.others),
            **parts.problems({*(parts.FOR_ANYBODY if about.public else parts.ALWAYS), *taken}),
        },
    }
    if about.body is not None:
        found["requestBody"] = parts.body(about.body, media_types=about.body_types)
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
