"""From facts to HTML: the templates, and what each may do with a value. No template can forget to make text safe."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from mycel import __version__
from mycel.domain.hidden_text import with_hidden_named
from mycel.domain.ids import is_short_for, is_whole
from mycel.domain.inbox import Surroundings
from mycel.domain.marks import voice_of
from mycel.domain.memory import Memory
from mycel.surfaces.web.evidence import AROUND
from mycel.surfaces.web.headlines import beyond_headline, coded, head_and_rest, headline, marked, shown_headline
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
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_DAYS_TOLD = 30
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)")
# As contexts and briefings name what they hold.
_CITED = re.compile(r"(?<=\[m:)([0-9a-f-]{4,36})(?=\])")
_CUT_WORD_BEFORE = re.compile(r"\A\S{0,40}+\s++")
_CUT_WORD_AFTER = re.compile(r"(?<!\s)\s++\S{0,40}+\Z")


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
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        count = round(-seconds / size) if seconds < 0 else int(seconds // size)
        if abs(seconds) >= size:
            if unit == "d" and count > _DAYS_TOLD:
                return moment.astimezone(UTC).strftime("%Y-%m-%d")
            return f"in {count} {unit}" if seconds < 0 else f"{count} {unit} ago"
    return "just now"


def lasting(milliseconds: float) -> str:
    """How long something took, in the two largest units that say something."""
    seconds = round(milliseconds / 1000)
    if not seconds:
        return f"{milliseconds:.0f} ms"
    units = [("d", seconds // _DAY), ("h", seconds % _DAY // _HOUR), ("min", seconds % _HOUR // _MINUTE)]
    told = [f"{count} {unit}" for unit, count in (*units, ("s", seconds % _MINUTE)) if count]
    return " ".join(told[:2])


def moment(text: str) -> str:
    """A text that is nothing but a moment, as a moment is shown."""
    return exact(datetime.fromisoformat(text)) if _MOMENT.fullmatch(text) else text


def lead_in(evidence: Surroundings) -> str:
    """What was said before, from the beginning of a word."""
    before = evidence.before
    return before if evidence.start <= len(before) else _CUT_WORD_BEFORE.sub("… ", before, count=1)


def lead_out(evidence: Surroundings) -> str:
    """What was said after, to the end of a word; nobody says whether it goes on."""
    after = evidence.after
    return after if len(after) < AROUND else _CUT_WORD_AFTER.sub(" …", after, count=1)


def voice(memory: Memory) -> str:
    return voice_of(memory.metadata, memory.agent_id)


def sentence(text: str) -> str:
    """A message of an error as a page says it."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def exact(moment: datetime | None) -> str:
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def whole(number: float) -> str:
    return f"{number:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def counted(number: int, word: str) -> str:
    return f"{whole(number)} {word}" if number == 1 else f"{whole(number)} {_plural(word)}"


def _plural(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2:-1] not in "aeiou" else f"{word}s"


def cited(text: str, ids: Iterable[str], prefix: str) -> Markup:
    """What an agent was told, word for word; a memory that it names by its id, or the beginning of it, is a link."""
    parts = _CITED.split(with_hidden_named(text))
    return Markup("").join(_linked(part, ids, prefix) if at % 2 else escape(part) for at, part in enumerate(parts))


def _linked(named: str, ids: Iterable[str], prefix: str) -> Markup:
    known = [named] if is_whole(named) else [id for id in ids if is_short_for(named, id)]
    if len(known) != 1:
        return escape(named)
    return Markup('<a href="{}/memory/{}">{}</a>').format(prefix, known[0], named)


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
        headline=shown_headline,
        plain_headline=headline,
        coded=coded,
        lasting=lasting,
        moment=moment,
        lead_in=lead_in,
        lead_out=lead_out,
        beyond_headline=beyond_headline,
        sentence=sentence,
        voice=voice,
        cited=cited,
    )
    return environment
