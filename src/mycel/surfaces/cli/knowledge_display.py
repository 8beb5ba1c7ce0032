"""How knowledge looks to a person: values under their keys, versions, and what an import came to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mycel.domain.knowledge import Outcome
from mycel.surfaces.cli.display import moment, show_more, when
from mycel.surfaces.cli.output import Column, note, one_line, print_table

if TYPE_CHECKING:
    from mycel.domain.knowledge import ImportReport
    from mycel.domain.memory import Memory, Version
    from mycel.domain.query import Page


def show_values(page: Page[Memory], *, empty: str) -> None:
    columns = (
        Column("key", "bold"),
        Column("category", "cyan"),
        Column("project"),
        Column("confidence"),
        Column("by"),
        Column("updated", "dim"),
        Column("id", "dim", below=True),
        Column("value", below=True, apart=True),
    )
    if page:
        print_table(columns, [_row(memory) for memory in page])
    else:
        note(empty)
    show_more(page)


def show_versions(versions: Sequence[Version]) -> None:
    columns = (
        Column("version", "bold"),
        Column("status", "cyan"),
        Column("confidence"),
        Column("by"),
        Column("from", "dim"),
        Column("value", below=True, apart=True),
        Column("why", "dim", below=True, apart=True),
    )
    rows = [
        (
            str(one.memory.version),
            one.memory.status,
            f"{one.memory.confidence:g}",
            one.changed_by,
            moment(one.valid_from),
            one.memory.content,
            one.reason or "",
        )
        for one in versions
    ]
    print_table(columns, rows)


def show_reports(reports: Sequence[ImportReport]) -> None:
    columns = (
        Column("key", "bold"),
        Column("category", "cyan"),
        Column("outcome"),
        Column("id", "dim", below=True),
        Column("file", "dim", below=True),
    )
    rows = [
        (entry.key, entry.category, entry.outcome, entry.memory_id or "", report.name)
        for report in reports
        for entry in (*report.entries, *report.missing)
    ]
    if rows:
        print_table(columns, rows)
    for report in reports:
        for left in report.left_out:
            note(f"{report.name}:{left.line}: left out {one_line(left.what)}: {left.reason}")
        counts = [f"{report.count(outcome)} {outcome}" for outcome in Outcome if report.count(outcome)]
        would = "would be " if report.dry_run else ""
        note(f"{report.name}: {would}{', '.join(counts) or 'nothing to import'}")


def _row(memory: Memory) -> tuple[str, ...]:
    return (
        memory.key or "",
        memory.category or "",
        memory.project_id or "",
        f"{memory.confidence:g}",
        memory.agent_id,
        when(memory.updated_at),
        memory.id,
        memory.content,
    )
