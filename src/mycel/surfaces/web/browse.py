"""Browse: the tree of paths, knowledge by project and category, types, and what was archived or deleted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from mycel.domain.knowledge import is_rival
from mycel.domain.memory import Memory
from mycel.domain.query import Folder
from mycel.domain.query import Page as Rows
from mycel.errors import InvalidInput
from mycel.surfaces.web.filters import STATUSES, TYPES, chips_of, filters_of
from mycel.surfaces.web.page import Page, PageRequest, Shown

ROWS = 50
MOST_FOLDERS = 200
ORDERS = {
    "-created_at": "newest",
    "created_at": "oldest",
    "-updated_at": "last changed",
    "title": "title",
    "path": "path",
}
DEFAULT_ORDER = "-created_at"
# A moment before something was deleted, it can still be read as of then.
BEFORE = timedelta(microseconds=1)


def show_folders(asked: PageRequest) -> Shown:
    """Folders come with their counts; the memories right in one by cursor."""
    path = asked.one("path") or "/"
    tree = asked.memory.tree(path)
    folders = [folder for folder in tree.subdirs if folder.path != tree.path][:MOST_FOLDERS]
    rows = rows_of(asked, path=path)
    facts = {"path": tree.path, "folders": folders, "rows": list(rows), "next_cursor": rows.next_cursor}
    return Shown(facts, {"view": "folders", "steps": steps_to(tree.path), **_choices(asked)}, title=tree.path)


def show_list(asked: PageRequest) -> Shown:
    """Every memory that the filters leave."""
    rows = rows_of(asked)
    facts = {"rows": list(rows), "next_cursor": rows.next_cursor}
    return Shown(facts, {"view": "all", **_choices(asked)})


def show_knowledge(asked: PageRequest) -> Shown:
    """The values that stand, by project and category, each with what waits for its place."""
    wanted = {name: asked.one(name) for name in ("project", "category", "key")}
    rows = asked.memory.knowledge.list(**wanted, limit=ROWS, cursor=asked.one("cursor"))
    waiting = list(asked.memory.knowledge.candidates(**wanted, limit=ROWS))
    rivals = {one.id: [other for other in waiting if is_rival(one, other)] for one in rows}
    facts = {
        "groups": grouped(rows),
        "waiting": waiting,
        "next_cursor": rows.next_cursor,
        "projects": asked.memory.projects(),
    }
    return Shown(facts, {"view": "knowledge", "chips": chips_of(asked), "rivals": rivals})


def show_types(asked: PageRequest) -> Shown:
    counts = asked.memory.stats()
    return Shown(
        {"by_type": counts.by_type, "by_status": counts.by_status, "projects": asked.memory.projects()},
        {"view": "types"},
    )


def show_tags(asked: PageRequest) -> Shown:
    return Shown({"by_tag": asked.memory.stats(with_tags=True).by_tag}, {"view": "tags"})


def show_archived(asked: PageRequest) -> Shown:
    rows = rows_of(asked, status=["archived", "superseded", "contradicted"])
    return Shown({"rows": list(rows), "next_cursor": rows.next_cursor}, {"view": "archived", **_choices(asked)})


def show_deleted(asked: PageRequest) -> Shown:
    """What the reader may restore."""
    rows = rows_of(asked, deleted=True)
    return Shown({"rows": list(rows), "next_cursor": rows.next_cursor}, {"view": "deleted", **_choices(asked)})


def rows_of(asked: PageRequest, **wanted: Any) -> Rows[Memory]:
    """Under the filters of the address, but where the page itself wants something."""
    order = asked.one("order") or DEFAULT_ORDER
    if order not in ORDERS:
        raise InvalidInput(f"must be one of {', '.join(ORDERS)}", field="order")
    return asked.memory.list(order_by=order, limit=ROWS, cursor=asked.one("cursor"), **filters_of(asked) | wanted)


def steps_to(path: str) -> list[Folder]:
    """Each folder on the way to a path; their counts are not asked for."""
    parts = [part for part in path.split("/") if part]
    return [Folder("/" + "/".join(parts[: number + 1]), 0) for number in range(len(parts))]


def grouped(rows: Sequence[Memory]) -> list[dict[str, object]]:
    found: dict[tuple[str, str], list[Memory]] = {}
    for memory in rows:
        found.setdefault((memory.project_id or "", memory.category or ""), []).append(memory)
    return [
        {
            "project": project or None,
            "category": category or None,
            "values": sorted(values, key=lambda one: one.key or ""),
        }
        for (project, category), values in sorted(found.items())
    ]


def _choices(asked: PageRequest) -> dict[str, Any]:
    return {
        "chips": chips_of(asked),
        "orders": ORDERS,
        "order": asked.one("order") or DEFAULT_ORDER,
        "types": TYPES,
        "statuses": STATUSES,
        # What is filtered by here; whatever else the address says goes along.
        "fields": {"project": "Project", "agent": "By", "tags": "Tag"},
        "before": BEFORE,
    }


PAGES = (
    Page(address="/browse", template="browse.html", show=show_folders, title="Browse", label="Browse", key="b"),
    Page(address="/browse/all", template="browse.html", show=show_list, title="All memories"),
    Page(address="/browse/knowledge", template="knowledge.html", show=show_knowledge, title="Browse knowledge"),
    Page(address="/browse/types", template="types.html", show=show_types, title="Browse types"),
    Page(address="/browse/tags", template="tags.html", show=show_tags, title="Browse tags"),
    Page(address="/browse/archived", template="browse.html", show=show_archived, title="Archived memories"),
    Page(address="/browse/deleted", template="browse.html", show=show_deleted, title="Deleted memories"),
)
