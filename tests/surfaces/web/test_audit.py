"""The audit: every change leaves a row, and one click takes it back."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.workspace import Workspace
from mycel.wire.operations import OPERATIONS
from tests.surfaces.web.conftest import Reader, text_of

pytestmark = pytest.mark.each_database(slow=True)

Acts = Callable[[TeamMemory, str], Any]
# Each changing operation on memories, done once: the log has a row of it afterwards.
CHANGES: dict[str, Acts] = {
    "save": lambda lead, id: lead.save("a new note"),
    "ingest": lambda lead, id: lead.ingest({"content": "a new note", "type": "fact"}),
    "save_many": lambda lead, id: lead.save_many([{"content": "one of several"}]),
    "update": lambda lead, id: lead.update(id, content="another text"),
    "delete": lambda lead, id: lead.delete(id),
    "restore": lambda lead, id: (lead.delete(id), lead.restore(id)),
    "purge": lambda lead, id: lead.purge(id),
    "link": lambda lead, id: lead.link(id, lead.save("the other end").id, "supports"),
    "unlink": lambda lead, id: unlinked(lead, id),
    "settle": lambda lead, id: settled(lead, id),
    "inject_learning": lambda lead, id: lead.inject_learning("swe-1", "look twice", "mistake_pattern"),
    "upsert_profile_fact": lambda lead, id: lead.upsert_profile_fact("tone", "plain words"),
    "approve": lambda lead, id: lead.approve(lead.save("waits", needs_review=True).id),
    "approve_many": lambda lead, id: lead.approve_many([lead.save("waits", needs_review=True).id]),
    "reject": lambda lead, id: lead.reject(lead.save("waits", needs_review=True).id, "wrong"),
    "reject_many": lambda lead, id: lead.reject_many([lead.save("waits", needs_review=True).id], "wrong"),
    "reviews.merge": lambda lead, id: lead.reviews.merge(lead.save("waits", needs_review=True).id, into=id),
    "reviews.reopen": lambda lead, id: lead.reviews.reopen(
        lead.reject(lead.save("waits", needs_review=True).id, "wrong").id
    ),
    "imports.take": lambda lead, id: lead.imports.take([{"id": "audited", "content": "plain words"}], system="plain"),
    "reviews.undo_writer": lambda lead, id: lead.reviews.undo_writer(agent_id="swe-1", since="2020-01-01T00:00:00Z"),
    "after_task": lambda lead, id: lead.after_task(task_id="t", action="completed", approach="a", output="done"),
    "complete_task": lambda lead, id: lead.complete_task(task_id="t", output="done"),
    "fail_task": lambda lead, id: lead.fail_task(task_id="t", what_went_wrong="all of it"),
    "knowledge.upsert": lambda lead, id: lead.knowledge.upsert(key="audited", value="1"),
    "knowledge.delete": lambda lead, id: lead.knowledge.delete(lead.knowledge.upsert(key="audited", value="1").id),
    "knowledge.arbitrate": lambda lead, id: lead.knowledge.arbitrate(contested(lead)),
    "knowledge.import_markdown": lambda lead, id: lead.knowledge.import_markdown("# Facts\n- port: 1\n", name="f.md"),
    "episodes.log": lambda lead, id: lead.episodes.log(action="failed", approach="by hand"),
    "episodes.log_many": lambda lead, id: lead.episodes.log_many([{"action": "failed", "approach": "by hand"}]),
    "artifacts.register": lambda lead, id: lead.artifacts.register(path="a.txt", content="text"),
    "artifacts.delete": lambda lead, id: lead.artifacts.delete(lead.artifacts.register(path="a", content="t").id),
}
# The engine's work and runs: their rows are those of `sources.events` and `reports`, beside one for each memory.
ENGINE: dict[str, Acts] = {
    "capture_session": lambda lead, id: lead.capture_session([{"role": "user", "content": "hello"}], session_id="s"),
    "capture_conversation": lambda lead, id: lead.capture_conversation([{"role": "user", "content": "hello there"}]),
    "summarize_thread": lambda lead, id: lead.summarize_thread(
        [{"role": "user", "content": "hello again"}], thread_id="thread-9"
    ),
    "index_file": lambda lead, id: lead.index_file("notes.md", content="# Notes\n\nA file of notes."),
    "cascade": lambda lead, id: lead.cascade(id),
    "escalate": lambda lead, id: lead.escalate(id),
    "withdraw": lambda lead, id: (lead.cascade(id), lead.withdraw(id)),
    "consolidate": lambda lead, id: lead.consolidate(),
    "undo": lambda lead, id: lead.undo(lead.consolidate().id),
}
# Around memories: a row of `actions` each.
AROUND: dict[str, Acts] = {
    "rate": lambda lead, id: lead.rate(lead.save("rated").id, useful=True),
    "set_policy": lambda lead, id: lead.set_policy(inbox_kept="9d"),
    "projects.register": lambda lead, id: lead.projects.register("audited", description="a place"),
    "repos.register": lambda lead, id: lead.repos.register("audited"),
    "views.save": lambda lead, id: lead.views.save("audited", query="words"),
    "views.delete": lambda lead, id: (lead.views.save("audited"), lead.views.delete("audited")),
    "reviews.snooze": lambda lead, id: lead.reviews.snooze(
        lead.save("waits", needs_review=True).id, until=datetime.now(UTC) + timedelta(days=1)
    ),
}
ORGANISATION: dict[str, Callable[[Workspace], Any]] = {
    "workspace.add_team": lambda opened: opened.add_team("audited"),
    "workspace.arrange": lambda opened: opened.arrange([{"name": "audited", "members": [{"id": "planned-1"}]}]),
    "workspace.add_member": lambda opened: opened.add_member("audited-1", team="storefront"),
    "workspace.update_member": lambda opened: opened.update_member("swe-2", trust="high"),
    "workspace.remove_member": lambda opened: opened.remove_member("swe-2"),
    "workspace.new_token": lambda opened: opened.new_token("swe-2"),
    "workspace.revoke_token": lambda opened: opened.revoke_token(opened.new_token("swe-2").token.id),
    "workspace.maintain": lambda opened: opened.maintain(),
    "workspace.scrub": lambda opened: opened.scrub(),
}
# They change nothing that anybody wrote or decided, or stand in a list of their own.
NO_ROW = {
    "workspace.create_backup": "stands in the list of backups",
    "reviews.claim": "ends by itself within minutes",
    "activity.report": "is a row itself, of what an agent was given",
    "sources.retry": "is told by the event that is tried again",
    "workspace.run_pending": "does what was due anyway",
    "workspace.re_embed": "makes again what is derived",
    "workspace.check": "only reads",
    "workspace.reset_store": "only of a damaged store: test_damage has it",
}


def unlinked(lead: TeamMemory, id: str) -> None:
    other = lead.save("the other end")
    lead.link(id, other.id, "supports")
    lead.unlink(id, other.id, "supports")


def settled(lead: TeamMemory, id: str) -> None:
    other = lead.save("what does not hold")
    lead.link(id, other.id, "contradicts")
    lead.settle(id, over=other.id)


def contested(lead: TeamMemory) -> str:
    lead.knowledge.upsert(key="contested", value="one", confidence=0.9)
    return lead.knowledge.upsert(key="contested", value="two", confidence=0.1).id


@pytest.fixture
def lesson(workspace: Workspace) -> str:
    [found] = workspace.as_member("eng-director").list(limit=1, tags="retry")
    return found.id


def test_every_changing_operation_is_accounted_for() -> None:
    changing = {operation.name for operation in OPERATIONS if operation.writes}
    assert changing == {*CHANGES, *ENGINE, *AROUND, *ORGANISATION, *NO_ROW}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_leaves_a_row_of_whoever_made_it(name: str, workspace: Workspace, lead: Reader, lesson: str) -> None:
    director = workspace.as_member("eng-director")
    before = director.audit(limit=1)[0].sequence
    CHANGES[name](director, lesson)
    newest = lead.get("/audit.json").json()["changes"][0]["change"]
    assert newest["sequence"] > before
    assert newest["changed_by"] == "eng-director"


@pytest.mark.parametrize("name", ENGINE)
def test_work_of_the_engine_leaves_an_event_or_a_report(name: str, workspace: Workspace, lesson: str) -> None:
    director = workspace.as_member("eng-director")

    def rows() -> list[object]:
        return [*director.sources.events(limit=200), *director.reports()]

    before = rows()
    ENGINE[name](director, lesson)
    assert rows() != before


@pytest.mark.parametrize("name", AROUND)
def test_a_change_around_memories_leaves_a_row(name: str, workspace: Workspace, lead: Reader, lesson: str) -> None:
    AROUND[name](workspace.as_member("eng-director"), lesson)
    [newest, *_] = lead.get("/audit/actions.json").json()["actions"]
    assert (newest["action"]["operation"], newest["action"]["by"]) == (name, "eng-director")


@pytest.mark.parametrize("name", ORGANISATION)
def test_a_change_of_the_organisation_leaves_a_row(name: str, workspace: Workspace, operator: Reader) -> None:
    ORGANISATION[name](workspace)
    [newest, *_] = operator.get("/audit/actions.json").json()["actions"]
    assert (newest["action"]["operation"], newest["action"]["by"]) == (name.partition(".")[2], "operator")


def test_what_changes_nothing_leaves_no_row(workspace: Workspace) -> None:
    member = workspace.members(team="storefront")[0]
    before = workspace.as_operator().activity.actions().items
    workspace.add_member(member.id, team=member.team, role=member.role, kind=member.kind, trust=member.trust)
    workspace.update_member(member.id, role=member.role)
    assert workspace.as_operator().activity.actions().items == before


def test_an_agent_sees_its_own_rows_and_no_others(workspace: Workspace, lesson: str) -> None:
    workspace.as_member("swe-2").rate(lesson, useful=True)
    workspace.as_member("swe-1").rate(lesson, useful=False)
    assert {one.by for one in workspace.as_member("swe-1").activity.actions()} == {"swe-1"}
    assert list(workspace.as_member("swe-1").activity.actions(agent="swe-2")) == []


def test_a_changed_policy_and_role_are_taken_back_by_one_click(workspace: Workspace, operator: Reader) -> None:
    workspace.update_member("swe-2", trust="high")
    [newest, *_] = operator.get("/audit/actions.json").json()["actions"]
    assert newest["revert"]
    answer = operator.post("/audit/actions/revert", action=newest["action"]["id"])
    assert answer.headers["location"] == "/audit/actions?did=action_reverted"
    [back] = [one for one in workspace.members() if one.id == "swe-2"]
    assert back.trust == newest["action"]["before"]["trust"]


def test_a_row_says_who_when_what_before_after_and_why(lead: Reader, lesson: str) -> None:
    shown = text_of(lead.get(f"/audit?memory_id={lesson}&operation=update&agent=eng-director").text)
    for words in ("asked by support", "eng-director", "five times", "The key must be new for a refund."):
        assert words in shown


def test_taking_back_an_edit_makes_a_new_version(lead: Reader, workspace: Workspace, lesson: str) -> None:
    director = workspace.as_member("eng-director")
    answer = lead.post(f"/memory/{lesson}/versions/3/revert", expected_version="3")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/memory/{lesson}?did=reverted")
    now, newest = director.get(lesson), director.history(lesson)[-1]
    assert (now.version, newest.reason) == (4, "version 3 taken back")
    assert "five times" in now.content


def test_what_was_changed_meanwhile_is_not_taken_back(lead: Reader, workspace: Workspace, lesson: str) -> None:
    workspace.as_member("eng-director").update(lesson, content="newer")
    assert lead.post(f"/memory/{lesson}/versions/3/revert", expected_version="3").status_code == 409
    assert workspace.as_member("eng-director").get(lesson).content == "newer"


def test_the_first_version_and_versions_that_never_were_cannot_be_taken_back(lead: Reader, lesson: str) -> None:
    for version in ("1", "99", "x"):
        answer = lead.post(f"/memory/{lesson}/versions/{version}/revert", expected_version="3")
        assert answer.status_code in {404, 422}, version


def test_whoever_may_not_edit_is_offered_nothing_and_refused(agent: Reader, workspace: Workspace) -> None:
    theirs = workspace.as_member("swe-2").save("theirs")
    workspace.as_member("swe-2").update(theirs.id, content="theirs, again")
    assert "Take back" not in agent.get(f"/audit?memory_id={theirs.id}").text
    assert agent.post(f"/memory/{theirs.id}/versions/2/revert", expected_version="2").status_code == 403


def test_a_deletion_is_restored_from_its_row(lead: Reader, workspace: Workspace) -> None:
    page = lead.get("/audit?operation=delete").text
    assert "A note that was deleted by mistake." in page
    [address] = re.findall(r'action="(/memory/[^"]+/restore)"', page)
    assert lead.post(address).status_code == 303
    assert workspace.as_member("eng-director").get(address.split("/")[2]).content.startswith("A note that was deleted")


def test_a_link_is_taken_off_from_its_row(lead: Reader, workspace: Workspace, lesson: str) -> None:
    director = workspace.as_member("eng-director")
    other = director.save("the other end")
    director.link(lesson, other.id, "supports")
    [newest, *_] = lead.get("/audit.json").json()["changes"]
    assert (newest["revert"], newest["link"]["relation"]) == ("unlink", "supports")
    answer = lead.post(f"/memory/{lesson}/unlink", to=other.id, relation="supports")
    assert answer.headers["location"].endswith("did=unlinked")
    assert not any(link.to_id == other.id for link in director.links(lesson))


def test_a_decision_is_taken_back_from_its_row_as_long_as_it_is_the_last_word(
    lead: Reader, workspace: Workspace
) -> None:
    director = workspace.as_member("eng-director")
    waits = workspace.as_member("swe-1").save("waits", needs_review=True)
    director.approve(waits.id)
    assert lead.get("/audit.json").json()["changes"][0]["revert"] == "reopen"
    lead.post("/inbox/reopen", id=waits.id)
    assert director.get(waits.id).status == "inbox"
    director.approve(waits.id)
    director.update(waits.id, content="edited since")
    rows = lead.get(f"/audit.json?memory_id={waits.id}").json()["changes"]
    assert [row["revert"] for row in rows][:2] == ["revert", "revert"]


def test_a_run_of_the_engine_is_undone_from_its_row(lead: Reader, agent: Reader, workspace: Workspace) -> None:
    director = workspace.as_member("eng-director")
    kept = [
        workspace.as_member(name).save("The gateway listens on 8080 in every region.") for name in ("swe-1", "swe-2")
    ]
    report = director.consolidate(ids=[one.id for one in kept])
    assert report.actions
    page = lead.get("/audit/runs").text
    assert "Undo the run" in page
    assert "Undo the run" not in agent.get("/audit/runs").text
    assert lead.post("/audit/runs/undo", report=str(report.id)).headers["location"] == "/audit/runs?did=run_undone"
    assert [director.get(one.id).status.value for one in kept] == ["active", "active"]
    assert "undone by eng-director" in text_of(lead.get("/audit/runs").text)


def test_views_and_what_was_put_off_are_taken_back_by_whoever_did_it(lead: Reader, workspace: Workspace) -> None:
    director = workspace.as_member("eng-director")
    director.views.save("mine", query="words", type="lesson")
    director.views.delete("mine")
    waits = workspace.as_member("swe-1").save("waits", needs_review=True)
    director.reviews.snooze(waits.id, until=datetime.now(UTC) + timedelta(days=1))
    for row in lead.get("/audit/actions.json").json()["actions"][:2]:
        assert lead.post("/audit/actions/revert", action=row["action"]["id"]).status_code == 303
    assert [view.query for view in director.views.list()] == ["words"]
    assert any(item.memory.id == waits.id for item in director.inbox())


def test_pages_follow_by_cursor_without_gaps_or_repeats(lead: Reader, workspace: Workspace) -> None:
    director = workspace.as_member("eng-director")
    whole = [change.sequence for change in director.changes()]
    found: list[int] = []
    cursor = ""
    while True:
        answer = lead.get(f"/audit.json{f'?cursor={cursor}' if cursor else ''}").json()
        found += [row["change"]["sequence"] for row in answer["changes"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    assert found == whole[::-1]


def test_a_bad_filter_says_which(lead: Reader) -> None:
    for name, value in (("operation", "explode"), ("since", "yesterdayish"), ("cursor", "x"), ("memory_id", "x")):
        answer = lead.get(f"/audit?{name}={value}")
        assert answer.status_code == 422
        assert name in answer.text


def test_nothing_of_what_the_reader_does_not_see(agent: Reader, workspace: Workspace) -> None:
    hidden = workspace.as_member("swe-2").save("quokkasecret", visibility="private")
    absent = agent.get("/audit.json?memory_id=01a1ec7d-4681-7aa8-a04e-d9724d2a8682")
    assert agent.get(f"/audit.json?memory_id={hidden.id}").json() == absent.json()


def test_a_rating_is_named_by_its_memory_and_one_that_changed_nothing_is_not_taken_back(
    lead: Reader, workspace: Workspace
) -> None:
    [memory] = workspace.as_member("swe-1").list(limit=1, tags="ci")
    for useful in ("yes", "yes", "no"):
        lead.post(f"/memory/{memory.id}/rate", useful=useful)
    rows = [one for one in lead.get("/audit/actions.json").json()["actions"] if one["action"]["operation"] == "rate"]
    assert [one["revert"] for one in rows] == [True, False, False]
    shown = text_of(lead.get("/audit/actions").text)
    assert " ".join(f"rated {memory.title}".replace("`", " ").split()) in shown
    assert "useful yes no" in shown


def test_a_row_names_no_ids_and_no_times_for_machines(lead: Reader, workspace: Workspace) -> None:
    waiting = workspace.as_member("swe-2").save("To be looked at later.", needs_review=True)
    workspace.as_member("eng-director").reviews.snooze(waiting.id, until=datetime.now(UTC) + timedelta(days=3))
    shown = text_of(lead.get("/audit/actions").text)
    assert re.search(r"until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", shown)
    assert "token id" not in shown


def test_a_run_names_the_memories_that_it_touched(lead: Reader, workspace: Workspace) -> None:
    for member in ("swe-1", "swe-2"):
        workspace.as_member(member).save("The export of orders runs at three in the night.", type="fact")
    if workspace.as_member("eng-director").consolidate().actions:
        assert "export of orders runs" in text_of(lead.get("/audit/runs").text)
