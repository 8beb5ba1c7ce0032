"""`/docs` and `/openapi.json`: what there is to call, for people and programs. No data, so without a token."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cached_property
from html import escape
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mycel.surfaces.http.bodies import JSON
from mycel.surfaces.http.described_route import About, DescribedRoute, described
from mycel.surfaces.http.openapi import AT, Document, openapi

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code { font: 13px/1.4 ui-monospace, monospace; }
summary { cursor: pointer; }
details { border-top: 1px solid #8884; padding: .4rem 0; }
details > :not(summary) { margin-left: 1.5rem; }
b { display: inline-block; min-width: 4rem; }
dt { font-family: ui-monospace, monospace; font-size: 13px; margin-top: .4rem; }
dd { margin-left: 1.5rem; }
h2 { margin-top: 2.5rem; }
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
SECURITY_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_METHODS = ("get", "post", "put", "delete")
_CODE = re.compile(r"`([^`]+)`")
_BOUNDS = {"minimum": "≥", "maximum": "≤", "exclusiveMinimum": ">", "maxLength": "at most", "maxItems": "at most"}


def docs_page(document: Document) -> str:
    named = document["info"]
    sections = "".join(_section(tag["name"], document) for tag in document["tags"])
    shapes = "".join(_definition(name, schema) for name, schema in document["components"]["schemas"].items())
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{_text(named["title"])} API</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
        f"<h1>{_text(named['title'])} {_text(named['version'])}</h1>{_paragraphs(named['description'])}"
        f'<p>For programs: <a href="openapi.json">openapi.json</a></p>{sections}<h2>Shapes</h2>{shapes}</html>'
    )


def _section(tag: str, document: Document) -> str:
    found = [
        _operation(method, path, item[method], document)
        for path, item in document["paths"].items()
        for method in _METHODS
        if method in item and tag in item[method]["tags"]
    ]
    return f"<h2>{_text(tag)}</h2>{''.join(found)}"


def _operation(method: str, path: str, about: Mapping[str, Any], document: Document) -> str:
    head = f"<b>{method.upper()}</b> <code>{_text(path)}</code> {_text(about['summary'])}"
    body = about.get("requestBody", {}).get("content", {})
    taken = "".join(f"<p>Body, {_text(kind)}:</p>{_fields(one['schema'])}" for kind, one in body.items())
    given = [*about.get("parameters", []), *about.get("x-conditional-headers", [])]
    parameters = _listed({_title(one): one for one in (_resolved(one, document) for one in given)})
    said = _paragraphs(about.get("description", "")) + parameters + taken + _answers(about["responses"], document)
    return f'<details id="{_text(about["operationId"])}"><summary>{head}</summary>{said}</details>'


def _title(parameter: Mapping[str, Any]) -> str:
    return f"{parameter['name']} ({parameter['in']}{', required' if parameter.get('required') else ''})"


def _listed(parameters: Mapping[str, Mapping[str, Any]]) -> str:
    found = [
        f"<dt>{_text(name)}</dt><dd>{_shown(one['schema'])} {_text(one.get('description', ''))}</dd>"
        for name, one in parameters.items()
    ]
    return f"<dl>{''.join(found)}</dl>" if found else ""


def _answers(responses: Mapping[str, Any], document: Document) -> str:
    found: list[str] = []
    for status, response in responses.items():
        one = _resolved(response, document)
        kinds = [_shown(content["schema"]) for content in one.get("content", {}).values()]
        headers = [_text(name) for name in one.get("headers", {})]
        told = [_text(one["description"]), *([] if int(status) >= 400 else kinds), *headers]
        found.append(f"<dt>{_text(status)}</dt><dd>{' · '.join(told)}</dd>")
    return f"<p>Answers:</p><dl>{''.join(found)}</dl>"


def _definition(name: str, schema: Mapping[str, Any]) -> str:
    about = _paragraphs(schema.get("description", ""))
    shown = _fields(schema) if "properties" in schema else f"<p>{_shown(schema)}</p>"
    return f'<details id="{_text(name)}"><summary><code>{_text(name)}</code></summary>{about}{shown}</details>'


def _fields(schema: Mapping[str, Any]) -> str:
    if "properties" not in schema:
        return "<p>or</p>".join(map(_fields, schema["anyOf"])) if "anyOf" in schema else f"<p>{_shown(schema)}</p>"
    needed = schema.get("required", [])
    found = [
        f"<dt>{_text(name)}{' (required)' if name in needed else ''}</dt>"
        f"<dd>{_shown(one)} {_text(one.get('description', ''))}</dd>"
        for name, one in schema["properties"].items()
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
    def _page(self) -> str:
        return docs_page(self.document)

    async def _show_document(self, _request: Request) -> Response:
        return Response(self._text, media_type=JSON)

    async def _show_page(self, _request: Request) -> Response:
        return Response(self._page, media_type="text/html", headers={"content-security-policy": SECURITY_POLICY})
