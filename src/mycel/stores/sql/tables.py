"""All rows of a team, or of the organisation, out of a database and into it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from mycel.contracts.tables import Row, Table

# What others refer to comes first.
OF_ORGANISATION = ("teams", "members", "tokens", "organisation_actions")
OF_TEAM = (
    *("memories", "memory_terms", "memory_tags", "memory_versions", "changes", "memory_links", "memory_usage"),
    *("ratings", "requests", "sources", "purged_passages", "ingestion_events", "projects", "repos", "saved_views"),
    *("recalls", "recall_hits", "receipts", "backups", "embeddings", "embedding_progress", "reports"),
    *(
        "report_actions",
        "report_changes",
        "report_links",
        "review_claims",
        "review_snoozes",
        "injections",
        "injection_memories",
        "actions",
        "progress",
        "cascades",
        "deliveries",
        "episodes",
    ),
    *("approaches", "episode_months", "artifacts"),
)
# How many rows are read and written at once.
PART = 1_000
# A team is made after its parent, and a token after the one that it was issued with.
_ORDERED = {"teams": " ORDER BY created_at, name", "tokens": " ORDER BY created_at, id"}


def reading(table: Table, columns: Sequence[str] | None = None) -> str:
    """The query for all rows; `columns` are what stands in the places of those of the table."""
    return f"SELECT {', '.join(columns or quoted(table))} FROM {table.name}{_ORDERED.get(table.name, '')}"


def quoted(table: Table) -> tuple[str, ...]:
    return tuple(f'"{name}"' for name in table.columns)


def counting(names: Sequence[str]) -> str:
    return "SELECT " + " + ".join(f"(SELECT count(*) FROM {name})" for name in names)


def in_parts(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while part := list(islice(rows, PART)):
        yield part
