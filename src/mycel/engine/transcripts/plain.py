"""Plain text as a person gives it: `Name: line` turns where it is a talk, else one turn of nobody known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mycel.domain.source import Transcript, Turn
from mycel.engine.english.sentences import fenced_blocks, is_inside
from mycel.engine.transcripts.privacy import without_private
from mycel.engine.transcripts.turns import ROLES, UNKNOWN

SLICE_CHARS = 65_536

# A name of up to three words, perhaps bold, perhaps after a time: `[10:32] Dev Lead:`, `**swe-1:**`, `10:32 Dev Lead:`.
_NAME_LINE = re.compile(
    r"^[ \t]*+(?:\[[^\]\n]{1,40}\][ \t]*+|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?[ \t]++(?:-[ \t]++)?)?"
    r"(\*\*|__)?([^\W\d_][\w.'\u2019-]{0,39}(?:[ \t][\w.'\u2019()-]{1,24}){0,2})"
    r"(?(1)(?:[:\uff1a]\1|\1[:\uff1a])|[:\uff1a])(?:[ \t]++|$)",
    re.MULTILINE,
)
# Those whose presence makes a talk; the other roles are also words of notes, such as `System: Linux`.
_TALKERS = frozenset({"user", "human", "assistant", "ai"})
_NUMBERED = re.compile(r"([a-z][a-z_.-]*?)[-_]?[0-9]+", re.IGNORECASE)
# Words that begin the lines of notes, mails and settings, and are nobody's name.
_LABELS = (
    "note notes todo fixme warning error caution important tip hint info example examples summary title name date "
    "time from to cc bcc subject status type version author tags cause fix problem solution reason result results "
    "step steps goal context decision background action actions owner input output expected actual before after why "
    "how what when where who update question answer http https file path port host url key value default usage "
    "returns args phase item day week part section chapter task option stage level rule line case test"
)
_NO_NAMES = frozenset(_LABELS.split())


@dataclass(frozen=True, slots=True)
class _Line:
    name: str
    start: int
    content: int


def read_plain(text: str) -> Transcript:
    """The text stays as it is, but for its private parts: evidence points into what was given."""
    kept = without_private(text)
    if not kept.strip():
        return Transcript(kept, ())
    turns = tuple(_turns(kept, _name_lines(kept)))
    return Transcript(kept, turns or (Turn(UNKNOWN, 0, len(kept)),))


def _turns(text: str, lines: Sequence[_Line]) -> Iterator[Turn]:
    for number, line in enumerate(lines):
        next_start = lines[number + 1].start if number + 1 < len(lines) else len(text)
        words = text[line.content : next_start]
        end = line.content + len(words.rstrip())
        start = end - len(words.strip())
        if end > start:
            role = ROLES.get(line.name.casefold(), UNKNOWN)
            yield Turn(role, start, end, None if role else line.name)


def _name_lines(text: str) -> list[_Line]:
    """The lines at which somebody begins to speak; none where the text may as well be a list of labels."""
    code = fenced_blocks(text)
    found = [_Line(match[2], match.start(), match.end()) for match in _matches(text)]
    outside = [line for line in found if not is_inside(line.start, code)]
    named = [line for line in outside if not _is_label(line.name)]
    counts = Counter(line.name for line in named)
    named = [line for line in named if counts[line.name] > 1 or _may_speak_once(line.name)]
    return named if _is_talk(text, named) else []


def _matches(text: str) -> Iterator[re.Match[str]]:
    """Some lines at a time: searching holds the interpreter lock, and others want to go on."""
    at = 0
    while at < len(text):
        end = text.find("\n", at + SLICE_CHARS) + 1 or len(text)
        # The last of the lines may be a book; a name stands at its beginning.
        yield from _NAME_LINE.finditer(text, at, min(end, at + 2 * SLICE_CHARS))
        at = end


def _is_label(name: str) -> bool:
    numbered = _NUMBERED.fullmatch(name)
    return (numbered[1] if numbered else name).casefold() in _NO_NAMES


def _may_speak_once(name: str) -> bool:
    return name[0].isupper() or "-" in name or _is_sure(name)


def _is_sure(name: str) -> bool:
    """Roles, and agents that go by a number, such as `swe-1`."""
    return name.casefold() in ROLES or _NUMBERED.fullmatch(name) is not None


def _is_talk(text: str, lines: Sequence[_Line]) -> bool:
    if not lines or text[: lines[0].start].strip():
        return False
    names = Counter(line.name for line in lines)
    known = {name.casefold() for name in names}
    roles = known & set(ROLES)
    if known & _TALKERS and (len(roles) > 1 or roles == known):
        return True
    if len(names) < 2:
        return False
    if max(names.values()) > 1 or _asks(text, lines):
        return True
    return all(map(_is_sure, names)) and roles != known


def _asks(text: str, lines: Sequence[_Line]) -> bool:
    """Whether somebody asks and another answers, as no list of labels does."""
    ends = (text[line.content : following.start].rstrip() for line, following in pairwise(lines))
    return any(end.endswith(("?", "\uff1f")) for end in ends)
