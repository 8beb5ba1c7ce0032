"""What people do to a memory: edit it, replace it, archive, delete and purge it, bring it back, rate it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from mycel.domain.memory import Status
from mycel.errors import Conflict, InvalidInput
from mycel.surfaces.web.memory_page import editing, values_of
from mycel.surfaces.web.page import Form, PageRequest, SeeOther, Shown, address_of, in_path
from mycel.surfaces.web.text_diff import diff_lines

_PLAIN = ("title", "type", "path", "visibility")
_EMPTIED = ("project", "category")


def address_of_memory(id: str) -> str:
    return f"/memory/{in_path(id)}"


def edit(asked: PageRequest) -> SeeOther | Shown:
    """The next version; where somebody was faster, theirs beside what was filled in, and nothing is lost."""
    id = asked.in_path["id"]
    try:
        expected = int(asked.form.get("expected_version", ""))
    except ValueError:
        raise InvalidInput("must be a whole number", field="expected_version") from None
    before = asked.memory.get(id, for_use=False)
    try:
        edits = _edits(asked, _untouched(asked))
        if not edits:
            return SeeOther(address_of_memory(id), did="unchanged")
        changed = asked.memory.update(id, expected_version=expected, **edits)
    except Conflict as conflict:
        return _conflict(asked, str(conflict))
    except InvalidInput as error:
        return editing(before, asked, error=str(error), status=422)
    if changed.id != before.id:
        return SeeOther(address_of_memory(changed.id), did="change_waits")
    did = "unchanged" if changed.version == expected else "saved"
    return SeeOther(address_of_memory(id), did=did)


def _untouched(asked: PageRequest) -> frozenset[str]:
    """The fields that say what they said as the form was opened: a title that was drawn from the text goes on being
    drawn, and what others have changed meanwhile stays theirs."""
    opened = asked.form.get("opened_version")
    versions = asked.memory.history(asked.in_path["id"]) if opened else []
    for version in versions:
        if str(version.memory.version) == opened:
            told = values_of(version.memory)
            return frozenset(name for name in told if _plain(asked.form.get(name)) == _plain(told[name]))
    return frozenset()


def _plain(value: str | None) -> str | None:
    """As browsers send it, whatever ends its lines."""
    return None if value is None else value.replace("\r\n", "\n").strip()


def _edits(asked: PageRequest, untouched: frozenset[str]) -> dict[str, Any]:
    """Fields of the form as an update takes them; a field that is not in the form, or untouched, stays as it is."""
    given = asked.form.keys() - untouched
    found: dict[str, Any] = {name: asked.filled(name) for name in _PLAIN if name in given and asked.filled(name)}
    found |= {name: asked.filled(name) for name in _EMPTIED if name in given}
    if "content" in given:
        found["content"] = asked.form["content"]
    if "tags" in given:
        found["tags"] = tags_in(asked)
    if "confidence" in given and asked.filled("confidence"):
        try:
            found["confidence"] = float(asked.form["confidence"])
        except ValueError:
            raise InvalidInput("must be a number from 0 to 1", field="confidence") from None
    return found


def _conflict(asked: PageRequest, error: str) -> Shown:
    """The version that stands now, against which the form is sent the next time."""
    standing = asked.memory.get(asked.in_path["id"], for_use=False)
    shown = editing(standing, asked, error=error, status=409, expected=standing.version)
    mine = asked.form.get("content", "")
    theirs_by = asked.memory.history(standing.id)[-1].changed_by
    beside = {
        **shown.beside,
        "theirs": standing,
        "theirs_by": theirs_by,
        "theirs_lines": diff_lines(standing.content, mine),
    }
    return Shown(shown.facts, beside, title=shown.title, status=409)


def tags_in(asked: PageRequest) -> list[str]:
    return [tag.strip() for tag in asked.form.get("tags", "").split(",") if tag.strip()]


def supersede(asked: PageRequest) -> SeeOther | Shown:
    """A new memory of the same place and audience that replaces this one."""
    old = asked.memory.get(asked.in_path["id"], for_use=False)
    content = asked.filled("content")
    if content is None or content == old.content:
        shown = {"values": {"content": asked.form.get("content", "")}, "error": "say what holds instead"}
        return Shown({"memory": old}, shown, title=f"Replace {old.title}", status=422)
    new = asked.memory.save(
        content,
        supersedes=old.id,
        type=old.type,
        path=old.path,
        tags=list(old.tags),
        category=old.category,
        project=old.project_id,
        repo=old.repo_id,
        visibility=old.visibility,
        allowed_roles=list(old.allowed_roles),
        rationale=asked.filled("rationale"),
    )
    return SeeOther(address_of_memory(new.id), did="replaced")


def archive(asked: PageRequest) -> SeeOther:
    asked.memory.update(asked.in_path["id"], status=Status.ARCHIVED)
    return SeeOther(address_of_memory(asked.in_path["id"]), did="archived")


def activate(asked: PageRequest) -> SeeOther:
    asked.memory.update(asked.in_path["id"], status=Status.ACTIVE)
    return SeeOther(address_of_memory(asked.in_path["id"]), did="activated")


def delete(asked: PageRequest) -> SeeOther:
    """Leads to the memory as it was a moment before, where it can be restored."""
    id = asked.in_path["id"]
    asked.memory.delete(id)
    before = asked.now - timedelta(milliseconds=1)
    return SeeOther(address_of(address_of_memory(id), {"as_of": before.isoformat()}), did="deleted")


def restore(asked: PageRequest) -> SeeOther:
    asked.memory.restore(asked.in_path["id"])
    return SeeOther(address_of_memory(asked.in_path["id"]), did="restored")


def purge(asked: PageRequest) -> SeeOther:
    asked.memory.purge(asked.in_path["id"])
    return SeeOther(f"{address_of_memory(asked.in_path['id'])}/receipt", did="purged")


def cascade(asked: PageRequest) -> SeeOther:
    asked.memory.cascade(asked.in_path["id"])
    return SeeOther(address_of_memory(asked.in_path["id"]), did="sent_down")


def escalate(asked: PageRequest) -> SeeOther:
    asked.memory.escalate(asked.in_path["id"])
    return SeeOther(address_of_memory(asked.in_path["id"]), did="sent_up")


def withdraw(asked: PageRequest) -> SeeOther:
    asked.memory.withdraw(asked.in_path["id"])
    return SeeOther(address_of_memory(asked.in_path["id"]), did="withdrawn")


def rate(asked: PageRequest) -> SeeOther:
    asked.memory.rate(asked.in_path["id"], useful=asked.form.get("useful") == "yes")
    return SeeOther(address_of_memory(asked.in_path["id"]), did="rated")


FORMS = (
    Form(address="/memory/{id}/edit", act=edit, template="edit.html"),
    Form(address="/memory/{id}/supersede", act=supersede, template="supersede.html"),
    Form(address="/memory/{id}/archive", act=archive),
    Form(address="/memory/{id}/activate", act=activate),
    Form(address="/memory/{id}/delete", act=delete),
    Form(address="/memory/{id}/restore", act=restore),
    Form(address="/memory/{id}/purge", act=purge),
    Form(address="/memory/{id}/rate", act=rate),
    Form(address="/memory/{id}/cascade", act=cascade),
    Form(address="/memory/{id}/escalate", act=escalate),
    Form(address="/memory/{id}/withdraw", act=withdraw),
)
