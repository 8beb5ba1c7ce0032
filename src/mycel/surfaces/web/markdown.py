"""Stored text as HTML: markdown that can show a text, and can neither run, fetch nor leave its box."""

from __future__ import annotations

from functools import cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from mycel.domain.hidden_text import with_hidden_named

# Beyond it a text is shown as it is written: reading markdown takes more than its length in time.
MOST_CHARACTERS = 100_000
MOST_OPENINGS = 2_000
_BLOCKS = "blockquote h1 h2 h3 h4 h5 h6 hr li ol p pre table tbody td th thead tr ul"
TAGS = frozenset(f"{_BLOCKS} a br code del em s strong".split(" "))
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
SCHEMES = {"http", "https", "mailto"}


def to_html(text: str) -> Markup:
    """An image is a link to it, so that reading a memory asks nobody for anything."""
    shown = with_hidden_named(text)
    if len(shown) > MOST_CHARACTERS or sum(map(shown.count, "[*_`<")) > MOST_OPENINGS:
        return Markup('<pre class="as-written">{}</pre>').format(escape(shown))
    cleaned = nh3.clean(
        _reader().render(shown),
        tags=set(TAGS),
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(cleaned)  # noqa: S704 - cleaned by nh3 right here


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    reader.disable("image")
    return reader
