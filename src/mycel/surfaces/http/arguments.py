"""The arguments of routes that are no operation, read from the query as those of operations are."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import HTTPConnection

from mycel.domain import fields
from mycel.errors import InvalidInput
from mycel.surfaces.http.bodies import check_text
from mycel.wire.arguments import MAX_IN_QUERY
from mycel.wire.queries import read_argument
from mycel.wire.spelling import snake_case

MAX_QUERY_PAIRS = 500


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


def require_known(given: Iterable[str], known: Container[str]) -> None:
    for name in given:
        if name not in known:
            raise InvalidInput("is not a field of this request", field=name[:200])


def query_arguments(request: HTTPConnection, types: Mapping[str, Any]) -> dict[str, Any]:
    texts = query_texts(request.scope["query_string"])
    require_known(texts, types)
    found = {name: read_argument(types[name], given, field=name) for name, given in texts.items()}
    for name, value in found.items():
        if types[name] is bool:
            fields.flag(value, field=name)
    return found
