"""Stored memories as text for an agent: data inside a marked envelope, with author and date, one line each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import cast

from mycel.domain.envelope import (
    NOTICE,
    PAST_KNOWLEDGE,
    SUMMARY_MARK,
    TEAM_MEMORY,
    alike_words,
    bullet_of,
    envelope,
    kind_of,
    listed_as,
    one_line,
    under_key,
)
from mycel.domain.ids import TeamName
from mycel.domain.marks import CONTESTED, voice_of
from mycel.domain.memory import Memory
from mycel.domain.memory_field import FieldRow, Holds
from mycel.domain.validity import validity_words

CUT_MARK = " …"
DAYS_OF_A_WEEK, DAYS_OF_A_MONTH, DAYS_OF_A_YEAR = 7, 30, 365
MOST_DAYS_IN_WEEKS = 60
# A shorter beginning tells its reader nothing.
LEAST_EXCERPT_TOKENS = 12

# As byte-pair vocabularies split: words whole, digits by three, and about three bytes of anything else.
_PIECE = re.compile(r"[A-Za-z]{1,8}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,3}|[\x80-\u07ff]{1,2}|[^\s\x00-\u07ff]")
# Emoji and rare scripts take one more.
_TWO_PIECES = re.compile("[\U00010000-\U0010ffff]")


def estimate_tokens(text: str) -> int:
    """An upper estimate for the usual tokenizers; of two texts on lines of their own, at most the sum of both.

    Prose is about 1.3 tokens a word and 4 characters a token; ids, code and other scripts need far more than that.
    """
    if not text:
        return 0
    return -(-max(130 * len(text.split()), 25 * len(text), 100 * _count_pieces(text)) // 100)


def line_tokens(line: str) -> int:
    """What a line adds to a text, with its line break."""
    return estimate_tokens(line) + 1


def shorten(text: str, tokens: int) -> str | None:
    """The whole text, or its beginning with a mark that something is missing; None when too little would be left."""
    # Four characters a token is the most that the estimate allows.
    if len(text) <= 4 * tokens and estimate_tokens(text) <= tokens:
        return text
    if tokens < LEAST_EXCERPT_TOKENS:
        return None
    kept = _at_word_end(text[: 4 * tokens])
    while (needed := estimate_tokens(kept + CUT_MARK)) > tokens:
        kept = _at_word_end(kept[: min(len(kept) - 1, len(kept) * tokens // needed)])
    return kept + CUT_MARK if kept else None


def _at_word_end(text: str) -> str:
    """Without the word that the cut went through, unless that is most of the text, as in scripts without spaces."""
    head, space, _ = text.rpartition(" ")
    return head.rstrip() if space and 2 * len(head) >= len(text) else text.rstrip()


def _count_pieces(text: str) -> int:
    pieces = len(_PIECE.findall(text))
    return pieces if text.isascii() else pieces + len(_TWO_PIECES.findall(text))


# With less for each, a list of notes becomes shorter instead.
LEAST_LINE_TOKENS = 60


def bullet(memory: Memory, *, home: TeamName, alike: int = 0) -> str:
    """What stands before a note of a section: its citation, and who wrote it when."""
    held = validity_words(memory.validity, since=memory.valid_from, until=memory.valid_until)
    contested = ", contested by another memory" if CONTESTED in memory.metadata else ""
    return bullet_of(
        memory.id,
        type=kind_of(memory.type, memory.category),
        author=voice_of(memory.metadata, memory.agent_id),
        day=f"{memory.created_at:%Y-%m-%d}",
        team=None if memory.team == home else memory.team,
        beside=alike_words(alike) + contested + (held and f", {held}"),
    )


def line_start(memory: Memory) -> str:
    return listed_as(memory.type, voice_of(memory.metadata, memory.agent_id))


def note_text(memory: Memory) -> str:
    """What a memory says, on one line: a value with its key."""
    return one_line(under_key(memory.key, memory.content))


def note_with_reason(memory: Memory) -> str:
    """The same, and why, where a decision says so and its text does not."""
    text = note_text(memory)
    why = one_line(memory.rationale or "").strip()
    if not why or why.rstrip(".").casefold() in text.casefold():
        return text
    return f"{text}{'' if text.endswith(('.', '!', '?')) else '.'} Why: {why}"


def age_of(moment: datetime, *, now: datetime) -> str:
    """How long ago, in as few letters as tell: `today`, `3d`, `5w`, `8mo`, `2y`."""
    days = max(0, (now - moment).days)
    if days < DAYS_OF_A_WEEK:
        return f"{days}d" if days else "today"
    if days < MOST_DAYS_IN_WEEKS:
        return f"{days // DAYS_OF_A_WEEK}w"
    return f"{days // DAYS_OF_A_MONTH}mo" if days < 2 * DAYS_OF_A_YEAR else f"{days // DAYS_OF_A_YEAR}y"


def excerpt(text: str, memory: Memory, *, tokens: int) -> str | None:
    """The text of a memory if it fits, else its summary, else its beginning; what is not the text says so."""
    found = shorten(text, tokens)
    if found == text or not memory.summary:
        return found
    short = one_line(under_key(memory.key, SUMMARY_MARK + memory.summary))
    return short if estimate_tokens(short) <= tokens else found


def left_out_line(count: int) -> str:
    return f"({count} more did not fit the token budget.)"


def team_memory(memories: Sequence[Memory], *, token_budget: int) -> str:
    """Lines of `[type][agent] content`, as given; nothing at all when there are none."""
    if not memories:
        return ""
    moments = [memory.created_at for memory in memories]
    notice = f"{NOTICE} Newest first, written {min(moments):%Y-%m-%d} to {max(moments):%Y-%m-%d}."
    notes = [(line_start(memory), memory) for memory in memories]
    return _list(TEAM_MEMORY, notes, notice=notice, token_budget=token_budget)


def past_knowledge(notes: Sequence[tuple[str, Memory]], *, token_budget: int) -> str:
    """Bullets with their memories, the best match first; nothing at all when there are none."""
    return _list(PAST_KNOWLEDGE, notes, notice=NOTICE, token_budget=token_budget) if notes else ""


def _list(heading: str, notes: Sequence[tuple[str, Memory]], *, notice: str, token_budget: int) -> str:
    around = envelope([heading, left_out_line(len(notes))], notice=notice).splitlines()
    lines = _fitted(notes, room=token_budget - sum(map(line_tokens, around)))
    left_out = len(notes) - len(lines)
    return envelope([heading, *lines, *([left_out_line(left_out)] if left_out else [])], notice=notice)


def _fitted(notes: Sequence[tuple[str, Memory]], *, room: int) -> list[str]:
    """As many as find room, from the first on; long ones give way so that none of those is crowded out."""
    texts = [note_text(memory) for _, memory in notes]
    costs = [line_tokens(start + text) for (start, _), text in zip(notes, texts, strict=True)]
    for count in range(len(notes), 0, -1):
        most = _most_each(costs[:count], room=room)
        if most >= min(LEAST_LINE_TOKENS, max(costs[:count])):
            shown = zip(notes[:count], texts, strict=False)
            lines = [_shown(start, text, memory, tokens=most) for (start, memory), text in shown]
            return [line for line in lines if line is not None]
    return []


def _most_each(costs: Sequence[int], *, room: int) -> int:
    """The most tokens that a line may have so that all of them fit together."""
    for place, cost in enumerate(sorted(costs)):
        share = room // (len(costs) - place)
        if cost > share:
            return share
        room -= cost
    return max(costs)


def _shown(start: str, text: str, memory: Memory, *, tokens: int) -> str | None:
    if line_tokens(start + text) <= tokens:
        return start + text
    found = excerpt(text, memory, tokens=tokens - line_tokens(start))
    return None if found is None else start + found


def field_text(row: FieldRow, value: object) -> str:
    """A field of a memory in words."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return ("; " if row.holds is Holds.NOTES else ", ").join(cast(tuple[str, ...], value))
    return str(value)
