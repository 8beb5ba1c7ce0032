"""Writing a memory down: what a person tells the team and its agents."""

from __future__ import annotations

from mycel.domain.memory import MemoryType, Visibility
from mycel.errors import InvalidInput
from mycel.surfaces.web.memory_forms import address_of_memory, tags_in
from mycel.surfaces.web.page import Form, Page, PageRequest, SeeOther, Shown

HERE = "/new"
# What people write; the other types are made by the engine and by agents.
TYPES = tuple(
    MemoryType(one) for one in ("lesson", "fact", "decision", "note", "document", "reference", "task_hint", "context")
)


def show(asked: PageRequest) -> Shown:
    return _form(asked)


def _form(asked: PageRequest, *, error: str | None = None, status: int = 200) -> Shown:
    """With what was filled in before, or what the address brings along."""
    values = {name: asked.form.get(name) or asked.one(name) or "" for name in ("content", "type", "project", "tags")}
    beside = {
        "values": {**values, "visibility": asked.form.get("visibility", Visibility.TEAM)},
        "types": TYPES,
        "visibilities": (Visibility.TEAM, Visibility.PRIVATE),
        "projects": [project.name for project in asked.memory.projects()],
        "error": error,
    }
    return Shown({}, beside, status=status)


def save(asked: PageRequest) -> SeeOther | Shown:
    try:
        saved = asked.memory.save(
            asked.form.get("content", ""),
            type=asked.filled("type") or MemoryType.NOTE,
            project=asked.filled("project"),
            tags=tags_in(asked),
            visibility=asked.filled("visibility") or Visibility.TEAM,
        )
    except InvalidInput as error:
        return _form(asked, error=str(error), status=422)
    return SeeOther(address_of_memory(saved.id), did="written")


PAGES = (Page(address=HERE, template="new.html", show=show, title="Write down"),)
FORMS = (Form(address=HERE, act=save, template="new.html"),)
