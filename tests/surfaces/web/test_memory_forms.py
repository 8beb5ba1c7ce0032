"""What people do to a memory by the forms of its page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from mycel.domain.memory import Memory, Status
from mycel.embedded.workspace import Workspace
from mycel.surfaces.web.forms import TOKEN_FIELD
from tests.conformance.memory_api_short_ids import shared_beginning
from tests.surfaces.web.conftest import Reader, text_of

pytestmark = pytest.mark.each_database(slow=True)


def sent(lead: Reader, id: str, **changed: str) -> Callable[..., Any]:
    """The form as a browser sends it: every field as it stands in it, but what somebody changed."""
    shown = lead.get(f"/memory/{id}/edit").text
    fields = dict(re.findall(r'<input[^>]* name="([a-z_]+)"[^>]* value="([^"]*)"', shown))
    fields |= dict(re.findall(r'<select name="(\w+)">.*?<option selected>(\w+)<', shown))
    [fields["content"]] = re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", shown, re.DOTALL)
    fields = {name: value.replace("\n", "\r\n") for name, value in fields.items() if name != TOKEN_FIELD}
    return lambda **later: lead.post(f"/memory/{id}/edit", **{**fields, **changed, **later})


def known(workspace: Workspace) -> Memory:
    [found] = workspace.as_member("swe-1").list(limit=1, tags="payments")
    return found


def test_an_edit_is_the_next_version_and_keeps_the_text_as_it_was_typed(lead: Reader, workspace: Workspace) -> None:
    memory = known(workspace)
    typed = "first line\r\n\r\n<b>& second\u200b line\r\n"
    answer = lead.post(f"/memory/{memory.id}/edit", expected_version=str(memory.version), content=typed, tags="a, b")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/memory/{memory.id}?did=saved")
    changed = workspace.as_member("swe-1").get(memory.id)
    assert changed.content.strip() == "first line\n\n<b>& second\u200b line"
    assert (changed.version, changed.tags, changed.path) == (memory.version + 1, ("a", "b"), memory.path)
    assert "Saved as a new version" in lead.get(answer.headers["location"]).text


def test_the_form_holds_the_text_exactly(lead: Reader, workspace: Workspace) -> None:
    made = workspace.as_member("eng-director").save("\nleading line, \u2764\ufe0f and <textarea>")
    form = lead.get(f"/memory/{made.id}/edit").text
    [held] = re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", form, re.DOTALL)
    assert held == made.content.replace("<", "&lt;").replace(">", "&gt;")


def test_whoever_was_slower_sees_both_and_loses_nothing(lead: Reader, workspace: Workspace) -> None:
    memory = known(workspace)
    workspace.as_member("swe-1").update(memory.id, content="what the other wrote")
    answer = lead.post(f"/memory/{memory.id}/edit", expected_version=str(memory.version), content="what I wrote")
    assert answer.status_code == 409
    assert "what the other wrote" in answer.text
    assert "what I wrote" in answer.text
    assert "swe-1 has changed it since you began" in text_of(answer.text)
    assert f'name="expected_version" value="{memory.version + 1}"' in answer.text
    assert workspace.as_member("swe-1").get(memory.id).content == "what the other wrote"


def test_a_wrong_field_is_named_and_what_was_filled_in_is_kept(lead: Reader, workspace: Workspace) -> None:
    memory = known(workspace)
    answer = lead.post(
        f"/memory/{memory.id}/edit", expected_version=str(memory.version), content="kept text", path="no slash\x01"
    )
    assert answer.status_code == 422
    assert "path" in text_of(answer.text)
    assert "kept text" in answer.text


def test_a_delete_can_be_undone_from_where_it_leads(lead: Reader, workspace: Workspace) -> None:
    memory = known(workspace)
    gone = lead.post(f"/memory/{memory.id}/delete")
    page = lead.get(gone.headers["location"])
    assert page.status_code == 200
    assert f'action="/memory/{memory.id}/restore"' in page.text
    assert lead.get(f"/memory/{memory.id}").status_code == 404
    assert memory.title in lead.get("/browse/deleted").text
    assert f'action="/memory/{memory.id}/restore"' in lead.get("/browse/deleted").text
    back = lead.post(f"/memory/{memory.id}/restore")
    assert "Restored" in lead.get(back.headers["location"]).text


def test_archiving_and_bringing_back(lead: Reader, workspace: Workspace) -> None:
    memory = known(workspace)
    lead.post(f"/memory/{memory.id}/archive")
    assert workspace.as_member("swe-1").get(memory.id).status is Status.ARCHIVED
    assert memory.title in lead.get("/browse/archived").text
    lead.post(f"/memory/{memory.id}/activate")
    assert workspace.as_member("swe-1").get(memory.id).status is Status.ACTIVE


def test_a_replacement_supersedes(lead: Reader, workspace: Workspace) -> None:
    memory = known(workspace)
    assert lead.post(f"/memory/{memory.id}/supersede", content=memory.content).status_code == 422
    answer = lead.post(f"/memory/{memory.id}/supersede", content="Charges are never retried.")
    assert answer.status_code == 303
    assert workspace.as_member("swe-1").get(memory.id).status is Status.SUPERSEDED


def test_a_purge_names_what_it_takes_and_leaves_a_receipt(lead: Reader, workspace: Workspace) -> None:
    memory = known(workspace)
    asked = text_of(lead.get(f"/memory/{memory.id}/purge").text)
    assert "3 versions" in asked
    answer = lead.post(f"/memory/{memory.id}/purge")
    receipt = lead.get(answer.headers["location"])
    assert (receipt.status_code, memory.id in receipt.text) == (200, True)
    assert lead.get(f"/memory/{memory.id}").status_code == 404


def test_whoever_may_not_is_told_so_and_nothing_happens(agent: Reader, workspace: Workspace) -> None:
    [memory] = workspace.as_member("eng-director").list(limit=1, type="decision")
    page = agent.get(f"/memory/{memory.id}").text
    assert f"/memory/{memory.id}/edit" not in page
    assert agent.post(f"/memory/{memory.id}/delete").status_code == 403
    assert workspace.as_member("swe-1").get(memory.id) is not None


def test_a_title_that_is_the_beginning_of_its_text_is_not_told_of_twice(lead: Reader, workspace: Workspace) -> None:
    drawn = workspace.as_member("swe-1").save("The port is 1. It is fixed.")
    workspace.as_member("swe-1").update(drawn.id, content="The port is 2. It is fixed.")
    assert "title:" not in lead.get(f"/memory/{drawn.id}").text
    named = workspace.as_member("swe-1").save("It is 1.", title="Ports")
    workspace.as_member("swe-1").update(named.id, title="The port")
    assert "title:" in lead.get(f"/memory/{named.id}").text


def test_a_title_that_was_drawn_from_the_text_follows_an_edit_of_the_text(lead: Reader, workspace: Workspace) -> None:
    memory = workspace.as_member("swe-1").save("The port is 1.\n\nIt is fixed.")
    assert sent(lead, memory.id)(content="The port is 2.\r\n\r\nIt is fixed.").status_code == 303
    changed = workspace.as_member("swe-1").get(memory.id)
    assert (changed.title, changed.content) == ("The port is 2.", "The port is 2.\n\nIt is fixed.")
    sent(lead, memory.id)(title="Ports")
    sent(lead, memory.id)(content="The port is 3.")
    assert workspace.as_member("swe-1").get(memory.id).title == "Ports"


def test_what_others_changed_meanwhile_stays_theirs_where_nobody_touched_it(lead: Reader, workspace: Workspace) -> None:
    memory = workspace.as_member("swe-1").save("The port is 1.", tags=["ports"])
    mine = sent(lead, memory.id, content="The port is 2.")
    theirs = workspace.as_member("swe-1").update(memory.id, tags=["ports", "network"], category="fact")
    assert mine().status_code == 409
    assert mine(expected_version=str(theirs.version)).status_code == 303
    changed = workspace.as_member("swe-1").get(memory.id)
    assert (changed.content, changed.tags, changed.category) == ("The port is 2.", ("ports", "network"), "fact")


def test_a_form_that_nobody_touched_writes_nothing(lead: Reader, workspace: Workspace) -> None:
    memory = known(workspace)
    assert sent(lead, memory.id)().headers["location"] == f"/memory/{memory.id}?did=unchanged"
    assert workspace.as_member("swe-1").get(memory.id).version == memory.version


def test_a_deletion_and_a_restoration_are_told_of_as_versions(lead: Reader, workspace: Workspace) -> None:
    memory = workspace.as_member("swe-1").save("to be deleted and brought back")
    lead.post(f"/memory/{memory.id}/delete")
    lead.post(f"/memory/{memory.id}/restore")
    shown = text_of(lead.get(f"/memory/{memory.id}").text)
    assert "deleted: yes no" in shown
    assert "deleted: no yes" in shown


def test_a_person_writes_a_memory_down_and_takes_it_back(lead: Reader, workspace: Workspace) -> None:
    answer = lead.post("/new", content="Ports are fixed.\r\nAsk first.", type="lesson", project="shop", tags="a, b")
    [made] = workspace.as_member("swe-1").list(limit=1)
    assert answer.headers["location"] == f"/memory/{made.id}?did=written"
    assert (made.title, made.type, made.project_id, made.tags) == ("Ports are fixed.", "lesson", "shop", ("a", "b"))
    shown = lead.get(answer.headers["location"]).text
    assert f'action="/memory/{made.id}/delete"' in shown


def test_what_cannot_be_written_down_is_kept_in_its_form(lead: Reader, workspace: Workspace) -> None:
    for wrong in ({"content": "kept text", "type": "none such"}, {"content": "kept text", "tags": "\x01"}):
        answer = lead.post("/new", **wrong)
        assert (answer.status_code, "kept text" in answer.text) == (422, True)
    assert lead.post("/new", content=" ").status_code == 422


def test_searches_of_the_same_words_stand_once(lead: Reader, workspace: Workspace) -> None:
    memory = known(workspace)
    for words in ("idempotency", "idempotency", "charge retries", "idempotency"):
        lead.get("/search", params={"q": words})
    shown = lead.get(f"/memory/{memory.id}").text
    found = re.findall(r'<a href="/search\?q=([^"]+)"', shown)
    assert sorted(found) == ["charge+retries", "idempotency"]


def test_the_page_names_who_wrote_and_who_changed_it_and_counts_what_was_masked(
    lead: Reader, workspace: Workspace
) -> None:
    memory = workspace.as_member("swe-1").save("The gateway listens on 8080.", title="the gateway")
    changed = lead.post(
        f"/memory/{memory.id}/edit",
        content="The gateway listens on 8080, password=hunter2aX9kkw, ghp_abcdefghijklmnopqrstuvwxyz0123456789.",
        expected_version="1",
        opened_version="1",
    )
    shown = text_of(lead.get(changed.headers["location"]).text)
    assert re.search(r"swe-1 just now changed by eng-director just now version 2", shown)
    assert "2 secrets masked in it (password, github token)" in shown
    listed = text_of(lead.get("/browse/all").text)
    assert "swe-1 just now changed just now" in listed


def test_a_rejection_without_a_reason_shows_none(lead: Reader, workspace: Workspace) -> None:
    waiting = workspace.as_member("swe-1").save("The lamp is green.", needs_review=True)
    assert 'name="reason" maxlength' in lead.get(f"/inbox/{waiting.id}").text
    lead.post(f"/inbox/{waiting.id}/reject", expected_version="1", reason="")
    assert workspace.as_member("swe-1").history(waiting.id)[-1].reason == "rejected"
    other = workspace.as_member("swe-1").save("The lamp is blue.", needs_review=True)
    lead.post("/inbox/decide", decision="reject", id=str(other.id))
    assert "not worth keeping" not in lead.get("/inbox/rejected").text


def test_what_others_contradict_is_said_to_be_contested(lead: Reader, workspace: Workspace) -> None:
    author = workspace.as_member("eng-director")
    one, *others = [author.save(f"The quokka gateway listens on port {port}.") for port in (9000, 9100, 9200)]
    for other in others:
        author.link(other.id, one.id, "contradicts")
    page = text_of(lead.get(f"/memory/{one.id}").text)
    assert "It is contradicted by 2 others, and nobody has decided between them" in page
    assert "contested" in page
    found = text_of(lead.get("/search?q=quokka+gateway").text)
    assert "contradicted by 2 others" in found
    assert "contested" in found
    assert "contested" in text_of(lead.get("/browse/all").text)
    author.settle(one.id, over=[other.id for other in others])
    for address in (f"/memory/{one.id}", "/search?q=quokka+gateway", "/browse/all"):
        assert "contested" not in text_of(lead.get(address).text)


def test_a_part_of_an_id_that_names_several_shows_them_and_none_that_is_hidden(
    workspace: Workspace, agent: Reader
) -> None:
    notes = [{"content": "A second heron.", "title": "Heron <b>two</b>"}, {"content": "One heron."}]
    second, first = workspace.as_member("swe-1").save_many(notes)
    hidden = workspace.as_member("swe-2").save("A secret heron.", visibility="private", title="Secret heron")
    part = shared_beginning(shared_beginning(first.id, second.id), hidden.id)
    for answer in (
        agent.get(f"/memory/{part}"),
        agent.get(f"/memory/{part}/edit"),
        agent.post(f"/memory/{part}/archive"),
    ):
        assert answer.status_code == 409
        assert "Which one?" in answer.text
        assert "Somebody was faster" not in answer.text
        for one in (first, second):
            assert f'href="/memory/{one.id}"' in answer.text
        assert "Heron &lt;b&gt;two&lt;/b&gt;" in answer.text
        assert f"in {first.team}" in text_of(answer.text)
        assert hidden.id not in answer.text
        assert "Secret heron" not in answer.text
    assert workspace.as_member("swe-1").get(first.id).status is Status.ACTIVE
