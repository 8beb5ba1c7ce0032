"""The two indexes of words: one of what everybody in the team may read, one of the rest with who may read it.

FTS5 counts words over a whole table. So nothing that is counted over the first tells of anything hidden, and of the
second nothing is ever counted but what the reader's own audience finds. What is deleted is in neither.
"""

from __future__ import annotations

from collections.abc import Iterator

from mycel.access.scope import ReadScope
from mycel.domain.indexed_words import IndexedText
from mycel.domain.memory import Memory, Visibility
from mycel.stores.sqlite.deferred import DeferredWrites, Statement

# What is removed is removed first: a row that changes, or goes from one index to the other, is put in anew.
_REMOVE = (
    Statement(3, "DELETE FROM memory_words WHERE rowid = ?"),
    Statement(3, "DELETE FROM restricted_words WHERE rowid = ?"),
)
_ADD = Statement(4, "INSERT INTO memory_words (rowid, title, summary, content, tags) VALUES ", "(?, ?, ?, ?, ?)")
_ADD_RESTRICTED = Statement(
    5,
    "INSERT INTO restricted_words (rowid, title, summary, content, tags, audience) VALUES ",
    "(?, ?, ?, ?, ?, ?)",
)

# Everything restricted, and everything that is for some role.
_ANY, _ANY_ROLE = "any", "role"


def add_words(later: DeferredWrites, memory: Memory, words: IndexedText, *, number: int) -> None:
    if memory.deleted_at is not None:
        return
    if memory.visibility is Visibility.TEAM:
        later.add(_ADD, (number, *words))
    else:
        later.add(_ADD_RESTRICTED, (number, *words, " ".join(_audience(memory))))


def remove_words(later: DeferredWrites, *, number: int) -> None:
    for statement in _REMOVE:
        later.add(statement, (number,))


def indexed_apart(before: Memory, after: Memory) -> bool:
    """Whether a change puts a memory into another index, or before other readers."""
    return _place(before) != _place(after)


def audience_query(scope: ReadScope) -> str | None:
    """What of the restricted index a reader may see, as FTS5 asks for it; None for nothing."""
    terms = [*_readers(scope)]
    return f"audience : ({' OR '.join(map(quoted, terms))})" if terms else None


def quoted(term: str) -> str:
    """A term for FTS5, in which nothing is query syntax."""
    return '"' + term.replace('"', '""') + '"'


def _readers(scope: ReadScope) -> Iterator[str]:
    """In agreement with `ReadScope.sees`."""
    if scope.everything:
        yield _ANY
        return
    if scope.member_id is not None:
        yield _author(scope.member_id)
    if scope.every_role:
        yield _ANY_ROLE
    elif scope.role is not None:
        yield _role(scope.role)


def _place(memory: Memory) -> tuple[str, ...] | None:
    if memory.deleted_at is not None:
        return None
    return () if memory.visibility is Visibility.TEAM else _audience(memory)


def _audience(memory: Memory) -> tuple[str, ...]:
    author = (_ANY, _author(memory.agent_id))
    if memory.visibility is not Visibility.ROLE:
        return author
    return (*author, _ANY_ROLE, *(_role(role) for role in sorted(memory.allowed_roles)))


# In hexadecimal digits, which no tokenizer takes apart or folds together.
def _author(member_id: str) -> str:
    return f"a{member_id.encode().hex()}"


def _role(role: str) -> str:
    return f"r{role.encode().hex()}"
