"""`/docs` and `/openapi.json`: what there is to call, for people and programs. No data, so without a token."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from html import escape
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mycel.errors import MycelError
from mycel.surfaces.http.bodies import JSON
from mycel.surfaces.http.credentials import COOKIE
from mycel.surfaces.http.described_route import About, DescribedRoute, described
from mycel.surfaces.http.openapi import AT, Document, openapi
from mycel.surfaces.http.service import service_of
from mycel.surfaces.web.compression import may_pack_page, packed_response, page_bytes, page_response
from mycel.surfaces.web.rendering import render
from mycel.surfaces.web.routes import admit, framed
from mycel.wire.naming import Naming

_METHODS = ("get", "post", "put", "delete")
# From here on a status says the same for every call.
_REDIRECT = 300
_CODE = re.compile(r"`([^`]+)`")
_BOUNDS = {"minimum": "≥", "maximum": "≤", "exclusiveMinimum": ">", "maxLength": "at most", "maxItems": "at most"}


def operations_of(tag: str, document: Document) -> Markup:
    """Each with what it takes and answers; a page shows them under the name of their tag."""
    always = of_every_call(document)
    found = [
        _operation(method, path, item[method], document, always)
        for path, item in document["paths"].items()
        for method in _METHODS
        if method in item and tag in item[method]["tags"]
    ]
    return Markup("".join(found))  # noqa: S704 - every text in it was escaped by `_text`


def shapes_of(document: Document) -> Markup:
    shapes = document["components"]["schemas"]
    return Markup("".join(_definition(name, shape) for name, shape in shapes.items()))  # noqa: S704 - as above


def _operation(method: str, path: str, about: Mapping[str, Any], document: Document, always: Sequence[str]) -> str:
    head = f'<b class="{method}">{method.upper()}</b> <code>{_text(path)}</code> <span>{_text(about["summary"])}</span>'
    body = about.get("requestBody", {}).get("content", {})
    taken = "".join(
        f"<p>Body{'' if kind == JSON else f', {_text(kind)}'}:</p>{_fields(one['schema'])}"
        for kind, one in body.items()
    )
    given = [*about.get("parameters", []), *about.get("x-conditional-headers", [])]
    parameters = _listed([part for one in given for part in _parts(_resolved(one, document))])
    said = (
        _paragraphs(about.get("description", "")) + parameters + taken + _answers(about["responses"], document, always)
    )
    # What the page's script needs for a try.
    taken_as_json = body.get("application/json") or next((one for kind, one in body.items() if "json" in kind), None)
    sample = f' data-body="{escape(_sample(taken_as_json["schema"]))}"' if taken_as_json else ""
    tried = f' data-try="{method.upper()} {escape(path)}"{sample}' if path.startswith("/api/") else ""
    return f'<details class="call" id="{_text(about["operationId"])}"{tried}><summary>{head}</summary>{said}</details>'


def _sample(schema: Mapping[str, Any]) -> str:
    """The fields that a body needs, to be filled in."""
    chosen = next(iter(schema["anyOf"]), schema) if "anyOf" in schema else schema
    fields = chosen.get("required") or list(chosen.get("properties", {}))[:1]
    return json.dumps(dict.fromkeys(fields, ""))


def _title(parameter: Mapping[str, Any]) -> str:
    needed = ", required" if parameter.get("required") else ""
    return f"<b>{_text(parameter['name'])}</b> ({_text(parameter['in'])}{needed})"


def _parts(parameter: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Fields that depend on each other are one object, whose parts a query holds all the same."""
    if not parameter.get("explode"):
        return [parameter]
    options = parameter["schema"].get("anyOf", [parameter["schema"]])
    fields = {name: one for option in options for name, one in option["properties"].items()}
    return [
        {"name": name, "in": parameter["in"], "schema": one, "description": one.get("description", "")}
        for name, one in fields.items()
    ]


def _listed(parameters: Sequence[Mapping[str, Any]]) -> str:
    found = [
        f'<dt data-in="{escape(one["in"])}">{_title(one)}</dt>'
        f"<dd>{_shown(one['schema'])} {_text(one.get('description', ''))}".rstrip()
        + "</dd>"
        for one in parameters
    ]
    return f"<dl>{''.join(found)}</dl>" if found else ""


def _answers(responses: Mapping[str, Any], document: Document, always: Sequence[str]) -> str:
    """What is answered to this call; what means the same for all calls stands once (`errors_of`)."""
    own = {status: one for status, one in responses.items() if int(status) < _REDIRECT}
    others = [status for status in responses if status not in (*own, *always)]
    also = f"<p>Also {_text(', '.join(others))}</p>" if others else ""
    return f"{_statuses(own, document)}{also}"


def of_every_call(document: Document) -> list[str]:
    """The statuses that any call may answer."""
    answers = [{*one["responses"]} for item in document["paths"].values() for one in item.values()]
    return sorted(status for status in set[str].intersection(*answers) if int(status) >= _REDIRECT)


def errors_of(document: Document) -> Markup:
    """Whatever is answered besides, once for all calls."""
    answers = [one["responses"] for item in document["paths"].values() for one in item.values()]
    found = {status: one for responses in answers for status, one in responses.items() if int(status) >= _REDIRECT}
    return Markup(_statuses(dict(sorted(found.items())), document))  # noqa: S704 - as above


def _statuses(responses: Mapping[str, Any], document: Document) -> str:
    found: list[str] = []
    for status, response in responses.items():
        one = _resolved(response, document)
        kinds = [_shown(content["schema"]) for content in one.get("content", {}).values()]
        headers = [_text(name) for name in one.get("headers", {})]
        told = [_text(one["description"]), *([] if int(status) >= 400 else kinds), *headers]
        # HTML needs no end of either, and the page has hundreds.
        found.append(f"<dt>{_text(status)}<dd>{' · '.join(told)}")
    return f"<dl>{''.join(found)}</dl>"


def _definition(name: str, schema: Mapping[str, Any]) -> str:
    about = _paragraphs(schema.get("description", ""))
    shown = _fields(schema) if "properties" in schema else f"<p>{_shown(schema)}</p>"
    return f'<details id="{_text(name)}"><summary><code>{_text(name)}</code></summary>{about}{shown}</details>'


def _fields(schema: Mapping[str, Any]) -> str:
    if "properties" not in schema:
        return "<p>or</p>".join(map(_fields, schema["anyOf"])) if "anyOf" in schema else f"<p>{_shown(schema)}</p>"
    needed = schema.get("required", [])
    found = [
        f"<dt>{_text(name)}{' (required)' if name in needed else ''}"
        f"<dd>{_shown(one)} {_text(one.get('description', ''))}".rstrip()
        for name, one in schema["properties"].items()
        # What is merely taken back as it was read would hide what can be said.
        if not one.get("readOnly")
    ]
    return f"<dl>{''.join(found)}</dl>"


def _shown(schema: Mapping[str, Any]) -> str:
    """In a few words: a name, its options, or a kind with its bounds."""
    if "$ref" in schema:
        name = _text(schema["$ref"].removeprefix(AT))
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_shown, schema["anyOf"]))
    if "allOf" in schema and "type" not in schema:
        return ", ".join(map(_shown, schema["allOf"]))
    for options in (schema.get("enum"), [schema["const"]] if "const" in schema else None):
        if options is not None:
            return " | ".join(f"<code>{_text(str(option))}</code>" for option in options)
    bounds = [f"{sign} {schema[name]:,}" for name, sign in _BOUNDS.items() if name in schema]
    kind = _text(schema.get("format") or schema.get("type") or "anything")
    items = f" of {_shown(schema['items'])}" if "items" in schema else ""
    return " ".join([kind + items, *bounds])


def _resolved(one: Mapping[str, Any], document: Document) -> Mapping[str, Any]:
    if "$ref" not in one:
        return one
    _, _, part, name = one["$ref"].split("/")
    return document["components"][part][name]


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{_text(part)}</p>" for part in text.split("\n\n") if part)


def _text(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(text))


OPENAPI_PATH = "/openapi.json"
DOCS_PATH = "/docs"


class Descriptions:
    """Made once, when somebody first asks, and about all routes there are by then."""

    def __init__(self, routes: list[BaseRoute]) -> None:
        self._routes = routes

    def routes(self) -> list[BaseRoute]:
        about = About(tag="description", summary="This description", shape={"type": "object"}, public=True)
        page = About(
            tag="description", summary="This description as a page", shape={"type": "string"}, media_type="text/html",
            public=True,
        )  # fmt: skip
        return [
            DescribedRoute(OPENAPI_PATH, self._show_document, {"GET": about}),
            DescribedRoute(DOCS_PATH, self._show_page, {"GET": page}),
        ]

    @cached_property
    def document(self) -> Document:
        return openapi(described(self._routes))

    @cached_property
    def _text(self) -> bytes:
        # In ASCII: its patterns name characters that many programs would show as nothing at all.
        return json.dumps(self.document).encode()

    @cached_property
    def _calls(self) -> Mapping[str, object]:
        """In one naming: people see from it what the other is."""
        document = openapi(described(self._routes), namings=(Naming.SNAKE,))
        tags = [tag["name"] for tag in document["tags"]]
        return {
            "about": [Markup(_text(part)) for part in document["info"]["description"].split("\n\n")],  # noqa: S704
            "tags": {tag: operations_of(tag, document) for tag in tags},
            "always": of_every_call(document),
            "errors": errors_of(document),
            "shapes": shapes_of(document),
        }

    @cached_property
    def _packed(self) -> bytes:
        return gzip.compress(self._text, mtime=0)

    async def _show_document(self, request: Request) -> Response:
        return packed_response(request, self._text, self._packed, media_type=JSON)

    async def _show_page(self, request: Request) -> Response:
        """For anybody; whoever is signed in with a browser can try each call."""
        try:
            admitted = await admit(request) if COOKIE in request.cookies else None
        except MycelError:
            admitted = None
        service = service_of(request)
        values = {**await framed(request, admitted), **self._calls, "title": "API"}
        packed = may_pack_page(request)
        body = await service.work(
            lambda: page_bytes(render("docs.html", prefix=service.prefix, **values), packed=packed)
        )
        return page_response(body)
