"""Masks likely secrets before anything is stored: well-known key formats, and what is called a password or a key."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import NamedTuple, cast

from mycel.engine.secrets import languages
from mycel.engine.secrets.values import Span, is_random

_KEY = r"[A-Za-z0-9+/_=.-]"
# A line that goes on in the next one, and a string that is put together from several.
_CONTINUED = re.compile(
    rf"(?<={_KEY})(?:\\\r?\n[ \t]{{0,40}}"
    r"|(?P<quote>[\"'])[ \t]{0,8}[+.&\\]?[ \t]{0,8}(?:\r?\n[ \t]{0,40})?[+.&]?[ \t]{0,8}[bfru]?(?P=quote))"
    rf"(?={_KEY})"
)
_SIGNS_OF_CONTINUED = {
    "\\": ("\\\n", "\\\r\n"),
    '"': ('"\n', '"\r\n', '" +', '" \\', '" .'),
    "'": ("'\n", "'\r\n", "' +", "' \\", "' ."),
}
# Pieces of a key that a terminal or a mail has broken: the second has its line to itself.
_ASSIGNMENT = re.compile(r"[=:]")
_PIECE_AFTER = re.compile(r"[ \t>]{0,40}(?P<piece>[A-Za-z0-9+/_.-]{6,512}={0,2})[ \t\"',;]{0,4}(?=\r?\n|\Z)")
_PIECE_CHARS = 200
_LEAST_BROKEN_CHARS = 16
_LINE_CLASSES = bytes(
    ord("\n") if code == ord("\n") else ord("a") if code < 128 and re.match(_KEY, chr(code)) else ord(" ")
    for code in range(256)
)
_PIECE_AT_END_OF_LINE = b"a" * 8 + b"\n"


class Joined(NamedTuple):
    """A text without the breaks inside its keys: where the breaks were in it, and how much was left out before each."""

    text: str
    breaks: list[int]
    left_out: list[int]

    def has_break(self, start: int, end: int) -> bool:
        return bisect_right(self.breaks, start) < bisect_right(self.breaks, end - 1)

    def original(self, at: int, *, is_end: bool = False) -> int:
        """Where a character of the joined text stands in the original."""
        number = bisect_right(self.breaks, at - 1 if is_end else at)
        return at + (self.left_out[number - 1] if number else 0)


def joined(text: str) -> Joined | None:
    """None where nothing is broken, which is so in nearly every text."""
    if "\n" not in text and '" +' not in text and "' +" not in text:
        return None
    breaks = [*_continued(text), *_broken_keys(text)]
    if not breaks:
        return None
    pieces: list[str] = []
    found = Joined("", [], [])
    kept_from = length = 0
    for start, end in sorted(breaks):
        if start < kept_from:
            continue
        pieces.append(text[kept_from:start])
        length += start - kept_from
        kept_from = end
        found.breaks.append(length)
        found.left_out.append(kept_from - length)
    return found._replace(text="".join([*pieces, text[kept_from:]]))


def _continued(text: str) -> Iterator[tuple[int, int]]:
    for character, signs in _SIGNS_OF_CONTINUED.items():
        if character in text and any(sign in text for sign in signs):
            return (found.span() for found in _CONTINUED.finditer(text))
    return iter(())


def _broken_keys(text: str) -> Iterator[tuple[int, int]]:
    classes = text.encode("ascii", "replace").translate(_LINE_CLASSES) if "\n" in text else b""
    at = classes.find(_PIECE_AT_END_OF_LINE)
    while at >= 0:
        end = at + len(_PIECE_AT_END_OF_LINE) - 1
        farthest = max(0, end - _PIECE_CHARS)
        first = max(farthest, classes.rfind(b" ", farthest, end) + 1, classes.rfind(b"\n", farthest, end) + 1)
        after = _PIECE_AFTER.match(text, end + 1)
        if after and _are_one(text[first:end], after["piece"]):
            yield end, after.start("piece")
        at = classes.find(_PIECE_AT_END_OF_LINE, end)


def _are_one(before: str, after: str) -> bool:
    """Whether two pieces are of one key, and not the words at the end of one line and in the next."""
    tail = _ASSIGNMENT.split(before)[-1] or before
    return is_random(tail + after, least=_LEAST_BROKEN_CHARS) and _is_mixed(after) and _is_mixed(tail)


def _is_mixed(piece: str) -> bool:
    has_digit = any(map(str.isdigit, piece))
    return (has_digit and not piece.isdigit()) or (piece[1:] != piece[1:].lower() and not piece.isupper())


# So much is looked through at a time: searching holds the interpreter lock, and others want to go on. Larger slices
# are also slower, since each costs fresh pages of memory.
SLICE_CHARS = 16_384
# A hint that begins in a slice is seen whole.
_OVERLAP_CHARS = 64

# Finding literal text is twenty times faster than a pattern; a pattern is tried only where one of these stands.
_HINTS = (
    *("pass", "pw", "secret", "token", "key", "cred", "login", "contrase", "kennwort", "auth", "bearer"),
    *languages.HINTS,
)
# A single character is found faster still, and what these announce cannot do without it.
_HINTS_WITH: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("=", ("sig=", "cookie", "sess")),
    (":", ("://", "/user:")),
    ("|", ("echo ",)),
    ("-", ("-u", "-----begin")),
    ("'", ("identified by",)),
    ('"', ("identified by",)),
)

# Every known format has a run of so many letters, digits, `_` and `-`; ordinary words hardly ever do.
_KEY_CHARACTER = b"a"
_RUN = _KEY_CHARACTER * 20
_CLASSES = bytes(
    ord(_KEY_CHARACTER) if code < 128 and (chr(code).isalnum() or chr(code) in "_-") else ord(" ")
    for code in range(256)
)

# What only the surroundings say of a secret; its own format says more.
_GENERAL = frozenset({"password", "secret", "token", "key", "authorization", "bearer_token", "url_token"})

# Short values that hold no secret, with their names: those in one record are mostly those in the last.
_MOST_CLEAN = 4096
_CLEAN_CHARS = 96
_clean: set[tuple[str | None, str]] = set()

_Find = Callable[[str, int], Span | None]


class Masked(NamedTuple):
    """A text without its likely secrets, and the kinds of those that were in it."""

    text: str
    kinds: tuple[str, ...]


def mask_secrets(text: str) -> Masked:
    """Each likely secret becomes `[secret:KIND]`; a text without any is returned as it is.

    Takes time linear in the length of the text, whatever it holds.
    """
    found = _all_spans(text)
    whole = joined(text)
    if whole is not None:
        found += _broken_spans(whole)
    if not found:
        return Masked(text, ())
    pieces: list[str] = []
    kinds: dict[str, None] = {}
    kept_from = 0
    for start, end, kind in _merged(found):
        pieces += (text[kept_from:start], f"[secret:{kind}]")
        kinds[kind] = None
        kept_from = end
    return Masked("".join([*pieces, text[kept_from:]]), tuple(kinds))


def _all_spans(text: str) -> list[Span]:
    if len(text) <= SLICE_CHARS:
        return _spans(text, 0)
    return [span for start in range(0, len(text), SLICE_CHARS) for span in _spans(text, start)]


def _broken_spans(whole: Joined) -> Iterator[Span]:
    """Those that are whole only when lines and strings are joined."""
    for span in _all_spans(whole.text):
        if whole.has_break(span.start, span.end):
            yield Span(whole.original(span.start), whole.original(span.end, is_end=True), span.kind)


def mask_within(value: object) -> tuple[object, tuple[str, ...]]:
    """The same for every text in nested mappings and lists; keys stay as they are, and say what a value is.

    What holds no secret is returned as it is.
    """
    kinds: dict[str, None] = {}
    masked = _masked(value, name=None, kinds=kinds)
    return masked, tuple(kinds)


def _masked(value: object, *, name: str | None, kinds: dict[str, None]) -> object:
    if isinstance(value, str):
        return _masked_text(value, name=name, kinds=kinds)
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value)
        made = {
            key: _masked(inner, name=key if isinstance(key, str) else None, kinds=kinds) for key, inner in items.items()
        }
        return made if any(made[key] is not inner for key, inner in items.items()) else items
    if isinstance(value, list | tuple):
        inners = cast("list[object] | tuple[object, ...]", value)
        texts = [_masked(inner, name=name, kinds=kinds) for inner in inners]
        if all(text is inner for text, inner in zip(texts, inners, strict=True)):
            return inners
        return texts if isinstance(value, list) else tuple(texts)
    return value


def _masked_text(text: str, *, name: str | None, kinds: dict[str, None]) -> str:
    if (name, text) in _clean:
        return text
    masked = mask_secrets(text)
    kind = None if masked.kinds or name is None else _kind_under(name, text)
    if kind is None:
        if not masked.kinds and len(text) + len(name or "") <= _CLEAN_CHARS:
            if len(_clean) >= _MOST_CLEAN:
                _clean.clear()
            _clean.add((name, text))
        kinds.update(dict.fromkeys(masked.kinds))
        return masked.text
    kinds[kind] = None
    return f"[secret:{kind}]"


def _kind_under(name: str, text: str) -> str | None:
    from mycel.engine.secrets.keywords import kind_of_value
    from mycel.engine.secrets.logins import header_at

    header = header_at(f"{name}: {text}", 0)
    return header.kind if header else kind_of_value(text, name=name)


def _spans(text: str, start: int) -> list[Span]:
    """The secrets that begin in one slice of the text; they may end after it."""
    found: list[Span] = []
    part = text[start : start + SLICE_CHARS + _OVERLAP_CHARS]
    plain = part.encode("ascii", "replace")
    lowered = plain.decode("ascii").lower()
    hints = [hint for hint in _HINTS if hint in lowered]
    for sign, others in _HINTS_WITH:
        if sign in lowered:
            hints += [hint for hint in others if hint in lowered]
    if ":" in lowered or "=" in lowered:
        hints += [hint for hint in languages.HINTS_WITH_SIGN if hint in lowered]
    if " -" in lowered:
        hints += [hint for hint in _command_hints() if hint in lowered]
    if hints:
        found += _at_hints(dict.fromkeys(hints), text, lowered, start=start)
    if not part.isascii():
        # Each character beyond ASCII has become a question mark; other scripts have several in a row.
        found += _at_hints(languages.MARKED_HINTS, text, lowered, start=start)
        if "??" in lowered:
            found += _at_hints(languages.SCRIPT_HINTS, text, part, start=start)
    classes = plain.translate(_CLASSES)
    if classes.find(_RUN) >= 0:
        found += _keys(text, classes, start=start)
    return found


@cache
def _command_hints() -> tuple[str, ...]:
    from mycel.engine.secrets import logins

    return logins.HINTS


@cache
def _finds() -> dict[str, tuple[_Find, ...]]:
    """What to look for at a hint. The patterns are made when the first hint is met: most short texts have none."""
    from mycel.engine.secrets import keywords, logins
    from mycel.engine.secrets.formats import private_key_at

    other: dict[str, tuple[_Find, ...]] = {
        "pass": (keywords.value_at, keywords.value_before),
        "cred": (keywords.value_at, keywords.pair_at),
        "login": (keywords.pair_at,),
        "cookie": (logins.cookie_at,),
        "sess": (logins.session_at,),
        "auth": (keywords.value_at, logins.header_at),
        "bearer": (logins.bearer_at,),
        "://": (logins.address_at,),
        "sig=": (logins.signature_at,),
        "-u": (logins.option_at,),
        "identified by": (logins.identified_at,),
        "-----begin": (private_key_at,),
    }
    beside = [*languages.HINTS_WITH_SIGN, *(hint for _, hints in _HINTS_WITH for hint in hints)]
    named: list[str] = [*_HINTS, *beside, *languages.MARKED_HINTS, *languages.SCRIPT_HINTS]
    finds: dict[str, tuple[_Find, ...]] = {hint: other.get(hint, (keywords.value_at,)) for hint in named}
    for hint in logins.HINTS:
        finds[hint] = (*other.get(hint, ()), partial(logins.password_of, hint))
    return finds


def _first_of(finds: Iterable[_Find], text: str, at: int) -> Span | None:
    for find in finds:
        if span := find(text, at):
            return span
    return None


def _at_hints(hints: Iterable[str], text: str, part: str, *, start: int) -> Iterator[Span]:
    """What is found at each hint in a part of the text that begins at that place."""
    for hint in hints:
        at = part.find(hint)
        while 0 <= at < SLICE_CHARS:
            span = _first_of(_finds()[hint], text, start + at)
            if span:
                yield span
            # What is masked is not looked into again: a text full of hints would take long.
            after = max(at + 1, span.end - start) if span else at + 1
            at = part.find(hint, after)


def _keys(text: str, classes: bytes, *, start: int) -> Iterator[Span]:
    at = classes.find(_RUN)
    if not 0 <= at < SLICE_CHARS:
        return
    # Imported for a run alone: most short texts have none.
    from mycel.engine.secrets.formats import Keys

    keys = Keys(text)
    while 0 <= at < SLICE_CHARS:
        end = classes.find(b" ", at)
        end = len(classes) if end < 0 else end
        yield from keys.near(start + at, start + end)
        at = classes.find(_RUN, end)


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    """In order and apart; of two that overlap, the kind that says more is kept."""
    last: Span | None = None
    for span in sorted(spans):
        if last is None or span.start >= last.end:
            if last:
                yield last
            last = span
        else:
            kind = last.kind if span.kind in _GENERAL else span.kind
            last = Span(last.start, max(last.end, span.end), kind)
    if last:
        yield last
