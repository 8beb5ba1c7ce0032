"""One call of an operation: which one a request means, its arguments, and from what it returns to the answer."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import HTTPConnection

from mycel.domain import fields
from mycel.domain.artifact import Artifact
from mycel.domain.episode import Episode
from mycel.domain.memory import Memory
from mycel.domain.names import find_name, read_names, unknown_name
from mycel.domain.query import Page
from mycel.domain.source import IngestionEvent
from mycel.embedded.workspace import Visit
from mycel.errors import Conflict, InvalidInput, InvalidState
from mycel.surfaces.http.bodies import check_text, read_object
from mycel.surfaces.http.problems import Problem, Refused
from mycel.wire.arguments import read_argument, respelled, snake_case
from mycel.wire.naming import HEADER, NAMING, Naming, changes_in, encoded, is_as_read, read_naming
from mycel.wire.operations import CURSOR, EXPECTED, IDEMPOTENCY, Operation, accepts_none
from mycel.wire.request_schemas import MAX_IN_QUERY
from mycel.wire.shapes import as_knowledge

MAX_QUERY_PAIRS = 500
KEY = "idempotency-key"


def query_texts(query: bytes) -> dict[str, list[str]]:
    """By our spelling of their names, each with everything that was given under it."""
    try:
        # Bytes that are no UTF-8 become lone surrogates, which no field takes.
        pairs = parse_qsl(
            query.decode("latin-1"), keep_blank_values=True, errors="surrogateescape", max_num_fields=MAX_QUERY_PAIRS
        )
    except ValueError:
        raise InvalidInput(f"has more than {MAX_QUERY_PAIRS} parts", field="query") from None
    texts: dict[str, list[str]] = {}
    spelled: dict[str, str] = {}
    for name, value in pairs:
        check_text(name, "query")
        ours = snake_case(name)
        check_text(value, ours)
        if len(value) > MAX_IN_QUERY:
            raise InvalidInput(f"is longer than {MAX_IN_QUERY:,} characters; in a body it may be more", field=ours)
        if spelled.setdefault(ours, name) != name:
            raise InvalidInput(f"is given twice, also as {name}", field=ours)
        texts.setdefault(ours, []).append(value)
    return texts


_FIELD = "a field of this request"


def require_known(given: Iterable[str], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            raise unknown_name(name, known, kind=_FIELD)


def query_arguments(request: HTTPConnection, types: Mapping[str, Any]) -> dict[str, Any]:
    texts = query_texts(request.scope["query_string"])
    texts.pop(NAMING, None)
    if not texts.keys() <= types.keys():
        texts = read_names(texts, types, kind=_FIELD)
    found = {name: read_argument(types[name], given, field=name) for name, given in texts.items()}
    for name, value in found.items():
        if types[name] is bool:
            fields.flag(value, field=name)
    return found


def naming_of(request: HTTPConnection) -> Naming:
    """Return how the names of an answer are spelled, for routes that are no operation."""
    default: Naming = request.app.state.service.naming
    return read_naming(request.query_params.getlist(NAMING), request.headers.get(HEADER), default=default)


@dataclass(slots=True)
class _Place:
    named: dict[str, _Place] = field(default_factory=dict[str, "_Place"])
    # Any other part of a path, such as an id.
    other: _Place | None = None
    operations: dict[str, Operation] = field(default_factory=dict[str, Operation])


class Paths:
    def __init__(self, operations: Iterable[Operation], *, taken: Iterable[str] = ()) -> None:
        """`taken` are paths that somebody else answers, which must not be read as an id."""
        self._root = _Place()
        for path in taken:
            self._place(path)
        for operation in operations:
            self._add(operation)

    def find(self, path: str) -> tuple[Mapping[str, Operation], list[str]]:
        """The operations of a path by method, and its parts that are no fixed name; none when it is unknown."""
        place, values = self._root, list[str]()
        for part in path.split("/")[1:]:
            step = place.named.get(part)
            if step is None:
                if place.other is None:
                    return {}, []
                step = place.other
                values.append(part)
            place = step
        return place.operations, values

    def _add(self, operation: Operation) -> None:
        self._place(operation.path).operations[operation.method] = operation

    def _place(self, path: str) -> _Place:
        place = self._root
        for part in path.split("/")[1:]:
            if part.startswith("{"):
                place.other = place.other or _Place()
                place = place.other
            else:
                place = place.named.setdefault(part, _Place())
        return place


_ETAG = re.compile(r'"(\d{1,18})"')
_BASE64 = "base64"
# Where what was made, or begun, can be looked at.
PLACES: Mapping[type, str] = {
    Memory: "/api/memory",
    Episode: "/api/memory/episodes",
    Artifact: "/api/memory/artifacts",
    IngestionEvent: "/api/events",
}
MARKDOWN = "text/markdown; charset=utf-8"


class Answer(NamedTuple):
    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


class Call(NamedTuple):
    """A request as it came: nothing of it is trusted yet."""

    operation: Operation
    in_path: Sequence[str]
    query: bytes
    body: bytes
    headers: Mapping[str, str]
    default: Naming = Naming.SNAKE

    def answer(self, visit: Visit) -> Answer:
        given, naming = self._given()
        if self.operation.name == "update" and is_as_read(given, self.operation):
            memory = self._as_it_was_read(visit, given)
            given = changes_in(given, memory, visit.kind_of, operation=self.operation)
            if not given:
                return self._answered(memory, visit, naming)
            if "if-match" not in self.headers:
                given.setdefault(EXPECTED, memory.version)
        arguments = self._arguments(given)
        try:
            result = _function(visit, self.operation)(**arguments)
        except Conflict as error:
            if "if-match" in self.headers and EXPECTED in arguments:
                failed = Problem(HTTPStatus.PRECONDITION_FAILED, str(error), code="precondition_failed")
                raise Refused(failed) from None
            raise
        return self._answered(result, visit, naming)

    def _as_it_was_read(self, visit: Visit, given: Mapping[str, Any]) -> Memory:
        """Return the memory that is sent back; where the request may be a second one, as it stood before the first."""
        id = self.in_path[0]
        memory = visit.memory.get(id, for_use=False, embedding="embedding" in given)
        if given.get("version") == memory.version or not ({IDEMPOTENCY} & given.keys() or KEY in self.headers):
            return memory
        versions = (one.memory for one in visit.memory.history(id))
        return next((one for one in versions if one.version == given.get("version")), memory)

    def _given(self) -> tuple[dict[str, Any], Naming]:
        """Return what the query or the body says, and how the answer is to be spelled."""
        texts = query_texts(self.query) if self.query else {}
        naming = read_naming(texts.pop(NAMING, ()), self.headers.get(HEADER), default=self.default)
        given = _from_query(self.operation, texts)
        if not self.operation.in_query:
            if given:
                raise InvalidInput("belongs in the body of this request", field=next(iter(given)))
            given = respelled(read_object(self.body))
        return given, naming

    def _arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        operation = self.operation
        if operation.renamed:
            given = _renamed(given, operation.renamed)
        given = _under_our_names(operation, given)
        for name, value in zip(operation.in_path, self.in_path, strict=True):
            if name in given:
                raise InvalidInput("stands in the path of this request", field=name)
            given[name] = value
        given = _with_headers(operation, given, self.headers)
        _check_names(operation, given)
        return {**operation.empty, **_with_bytes(given)}

    def _answered(self, result: Any, visit: Visit, naming: Naming) -> Answer:
        operation = self.operation
        if operation.shows is not None:
            result = getattr(result, operation.shows)()
            if isinstance(result, str):
                return Answer(operation.status, result.encode(), (("content-type", MARKDOWN),))
        if result is None:
            return Answer(204, b"")
        shown = as_knowledge(result) if operation.of_knowledge else cast(object, result)
        body = encoded(shown, naming, visit.kind_of, named=operation.shows is not None)
        tag = _tag(operation, cast(object, result), body)
        headers = [] if tag is None else [("etag", tag)]
        if operation.method == "GET" and _matches(self.headers.get("if-none-match"), tag):
            return Answer(304, b"", tuple(headers))
        if isinstance(result, Page):
            headers += _next_page(operation, self.query, cast("Page[object]", result).next_cursor)
        if operation.status in {HTTPStatus.CREATED, HTTPStatus.ACCEPTED}:
            headers += _place(cast(object, result))
        status = operation.status
        if operation.waiting is not None and isinstance(result, Memory) and not result.applied:
            status = operation.waiting
        return Answer(status, body, tuple(headers))


def _function(visit: Visit, operation: Operation) -> Any:
    target: Any = visit.memory
    for part in operation.name.split("."):
        target = visit.workspace if part == "workspace" else getattr(target, part)
    return target


def _under_our_names(operation: Operation, given: dict[str, Any]) -> dict[str, Any]:
    if given.keys() <= operation.fields.keys():
        return given
    packed = given.get(operation.unpacks)
    if isinstance(packed, str) and operation.in_query:
        # In a query an object is its JSON.
        given[operation.unpacks] = respelled(read_object(packed.encode(), field=operation.unpacks))
    renamed = {ours: theirs for theirs, ours in (operation.renamed or {}).items()}
    listed = [renamed.get(name, name) for name in operation.fields if name not in operation.in_path]
    return dict(operation.read_names(given, kind=_FIELD, listed=listed))


def _check_names(operation: Operation, given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if value is None and not accepts_none(operation.fields[name]):
            raise InvalidInput("must not be null", field=name)
    if missing := sorted(operation.required - given.keys()):
        raise InvalidInput("is required", field=missing[0])


def _renamed(given: Mapping[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    if twice := next((name for name in given if renamed.get(name, name) != name and renamed[name] in given), None):
        raise InvalidInput(f"is given twice, also as {renamed[twice]}", field=twice)
    return {renamed.get(name, name): value for name, value in given.items()}


def _from_query(operation: Operation, texts: Mapping[str, list[str]]) -> dict[str, Any]:
    renamed = operation.renamed or {}
    types = operation.fields
    found: dict[str, Any] = {}
    for name, given in texts.items():
        ours = renamed.get(name, name)
        hint = types.get(ours) or types.get(find_name(ours, types) or "", str)
        found[name] = read_argument(hint, given, field=name)
    return found


def _with_headers(operation: Operation, given: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    key = headers.get(KEY)
    if key is not None and IDEMPOTENCY in operation.fields:
        given = _agreed(given, IDEMPOTENCY, key)
    match = headers.get("if-match")
    if match is not None and match.strip() != "*" and EXPECTED in operation.fields:
        found = _ETAG.fullmatch(match.strip())
        if found is None:
            raise InvalidInput('must be one version in quotes, as its ETag shows it, such as "3"', field="If-Match")
        given = _agreed(given, EXPECTED, int(found[1]))
    return given


def _agreed(given: dict[str, Any], name: str, value: object) -> dict[str, Any]:
    if given.get(name) not in (None, value):
        raise InvalidState("is given both as a header and as a field, and not the same", field=name)
    return {**given, name: value}


def _with_bytes(given: dict[str, Any]) -> dict[str, Any]:
    """The content of a file that is no text comes as `{"base64": …}`."""
    found = dict(given)
    if isinstance(found.get("content"), Mapping):
        found["content"] = _decoded(cast(Mapping[str, object], found["content"]), "content")
    if isinstance(found.get("artifacts"), list):
        listed = cast(list[object], found["artifacts"])
        found["artifacts"] = [
            _with_bytes(cast(dict[str, Any], one)) if isinstance(one, dict) else one for one in listed
        ]
    return found


def _decoded(given: Mapping[str, object], field: str) -> bytes:
    text = given.get(_BASE64)
    if set(given) != {_BASE64} or not isinstance(text, str):
        raise InvalidInput("must be text, or an object with base64 alone", field=field)
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise InvalidInput("is not valid base64", field=f"{field}.{_BASE64}") from None


def _tag(operation: Operation, result: object, body: bytes) -> str | None:
    """Of a memory its version, which a change may name; of whatever else is read, what the answer holds."""
    if isinstance(result, Memory):
        return f'"{result.version}"'
    return f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"' if operation.method == "GET" else None


def _matches(given: str | None, tag: str | None) -> bool:
    return given is not None and not {"*", tag}.isdisjoint(one.strip().removeprefix("W/") for one in given.split(","))


def _place(made: object) -> list[tuple[str, str]]:
    if isinstance(made, Memory | Episode | Artifact | IngestionEvent):
        return [("location", f"{PLACES[type(made)]}/{made.id}")]
    return []


def _next_page(operation: Operation, query: bytes, cursor: str | None) -> list[tuple[str, str]]:
    if cursor is None:
        return []
    pairs = [(name, value) for name, value in parse_qsl(query.decode("latin-1")) if snake_case(name) != CURSOR]
    target = f"{operation.path}?{urlencode([*pairs, (CURSOR, cursor)], quote_via=quote)}"
    return [("link", f'<{target}>; rel="next"')]
