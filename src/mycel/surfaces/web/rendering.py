"""From facts to HTML: the templates, and what each may do with a value. No template can forget to make text safe."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from mycel import __version__
from mycel.domain.hidden_text import with_hidden_named
from mycel.domain.marks import voice_of
from mycel.domain.memory import Memory
from mycel.surfaces.web.markdown import to_html
from mycel.surfaces.web.page import address_of, in_path

STATIC = "/static"
STATIC_TYPES: Mapping[str, str] = {
    "mycel.css": "text/css; charset=utf-8",
    "mycel.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
# What keeps a page in its box: nothing from elsewhere, nothing inline, in nobody's frame.
SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ]
)
PAGE_HEADERS: Mapping[str, str] = {
    "cache-control": "no-store",
    "content-security-policy": SECURITY_POLICY,
    # Not `no-referrer`: with it browsers hide the origin of a form, which must be ours.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
}
# Two lines of a list.
MOST_EXCERPT = 240
# No longer than a title and its excerpt together.
SHORT_TEXT = 160
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def render(template: str, *, prefix: str = "", **values: object) -> str:
    """`prefix` is the path under which the service stands, if it does not stand at the top of its host."""
    return _environment().get_template(template).render(prefix=prefix, **values)


@cache
def static_file(name: str) -> bytes:
    """`KeyError` for one that is not ours: nothing else of the package is handed out."""
    _ = STATIC_TYPES[name]
    return (files("mycel.surfaces.web") / "static" / name).read_bytes()


@cache
def static_version(name: str) -> str:
    """Changes with the file, so that a browser may keep it for ever."""
    return hashlib.sha256(static_file(name)).hexdigest()[:12]


def exactly(text: str) -> Markup:
    """For fields of forms, which are sent back as they were filled in."""
    return escape(text)


def ago(moment: datetime | None, *, now: datetime) -> str:
    if moment is None:
        return "never"
    seconds = (now - moment).total_seconds()
    if -_MINUTE < seconds < 0:
        return "just now"
    if seconds < 0:
        return moment.astimezone(UTC).strftime("%Y-%m-%d")
    for least, size, unit in ((_DAY, _DAY, "d"), (_HOUR, _HOUR, "h"), (_MINUTE, _MINUTE, "min")):
        if seconds >= least:
            count = int(seconds // size)
            return moment.strftime("%Y-%m-%d") if unit == "d" and count > 30 else f"{count} {unit} ago"
    return "just now"


def headline(memory: Memory) -> str:
    """Its title; of a short text that begins with it, all of the text."""
    is_short = len(memory.content) <= SHORT_TEXT and "\n" not in memory.content.strip()
    return memory.content if begins_with_title(memory) and is_short else memory.title


def begins_with_title(memory: Memory) -> bool:
    return memory.content.startswith(memory.title.removesuffix("…"))


def beyond_headline(memory: Memory) -> str:
    """What its text says that the line above does not: a title is often its first sentence, or the beginning of it."""
    said = headline(memory).removesuffix("…")
    rest = memory.content.removeprefix(said)
    if rest == memory.content:
        return rest[:MOST_EXCERPT]
    is_cut = said != headline(memory) or rest[:1] not in {".", "!", "?", "\n"}
    told = rest.lstrip(".!?,;: \n")[:MOST_EXCERPT]
    return f"… {told}" if told and is_cut else told


def voice(memory: Memory) -> str:
    return voice_of(memory.metadata, memory.agent_id)


def sentence(text: str) -> str:
    """A message of an error as a page says it."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def exact(moment: datetime | None) -> str:
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def marked(snippet: str) -> Markup:
    """A snippet whose matched words stand between two pairs of stars."""
    parts = with_hidden_named(snippet).split("**")
    pieces = (
        Markup("<mark>{}</mark>").format(part) if at % 2 else escape(part) for at, part in enumerate(parts) if part
    )
    return Markup("").join(pieces)


def head_and_rest(snippet: str, memory: Memory) -> tuple[Markup, Markup]:
    """The headline of a hit and what its snippet says beyond it; its marks stand in both where the one begins so."""
    told = headline(memory)
    said = told.removesuffix("…")
    parts, left = snippet.split("**"), len(said)
    if not "".join(parts).startswith(said):
        return escape(with_hidden_named(told)), marked(snippet)
    head: list[str] = []
    while left > len(parts[0]):
        left -= len(parts[0])
        head.append(parts.pop(0))
    # A word that the cut goes through is marked on both sides of it.
    opening = [""] if len(head) % 2 else []
    rest = "**".join([*opening, parts[0][left:], *parts[1:]])
    beyond = marked(rest.lstrip(".!?,;: \n"))
    head.append(parts[0][:left])
    if said == told or not beyond:
        return marked("**".join(head)), beyond
    return marked("**".join(head)) + "…", Markup("… ") + beyond


def whole(number: float) -> str:
    return f"{number:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def counted(number: int, word: str) -> str:
    return f"{whole(number)} {word}" if number == 1 else f"{whole(number)} {_plural(word)}"


def _plural(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2:-1] not in "aeiou" else f"{word}s"


def _finished(value: object) -> object:
    """Every value that a template shows passes here."""
    if value is None:
        return ""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return with_hidden_named(value)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("mycel.surfaces.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finished,
    )
    cast("dict[str, Any]", environment.globals).update(
        version=__version__, static_version=static_version, address_of=address_of
    )
    cast("dict[str, Any]", environment.filters).update(
        ago=ago,
        exact=exact,
        whole=whole,
        counted=counted,
        markdown=to_html,
        part=in_path,
        exactly=exactly,
        marked=marked,
        head_and_rest=head_and_rest,
        headline=headline,
        beyond_headline=beyond_headline,
        sentence=sentence,
        voice=voice,
    )
    return environment
