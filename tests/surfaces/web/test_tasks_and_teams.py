"""Following a task, and looking after a team, in a browser."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from mycel.domain.ids import TeamName
from mycel.domain.source import EventState
from mycel.domain.team import Role
from mycel.embedded.workspace import Workspace
from mycel.surfaces.web.forms import form_token
from tests.surfaces.web.conftest import Reader, text_of

pytestmark = pytest.mark.each_database(slow=True)


def test_a_task_shows_what_was_tried_and_what_an_agent_would_be_told(lead: Reader, workspace: Workspace) -> None:
    swe = workspace.as_member("swe-1")
    swe.after_task(task_id="shop-318", action="completed", approach="CREATE INDEX CONCURRENTLY", output="Built.")
    swe.artifacts.register(path="migrations/7.sql", content="CREATE INDEX", task_id="shop-318")
    shown = text_of(lead.get("/tasks/shop-318").text)
    for words in ("plain CREATE INDEX", "CONCURRENTLY", "migrations/7.sql", "Failed before: do not repeat", "0 of 1"):
        assert words in shown
    facts = lead.get("/tasks/shop-318.json").json()
    assert [one["action"] for one in facts["episodes"]] == ["completed", "failed"]
    assert (
        facts["briefing"]
        == workspace.as_member("eng-director")
        .before_task("shop-318", task_id="shop-318", project=facts["project"])
        .to_markdown()
    )


def test_a_task_of_any_name_has_a_page(lead: Reader, workspace: Workspace) -> None:
    for name in ("feature/login", "50%", "a b?c#d", "x.json"):
        workspace.as_member("swe-1").episodes.log(action="failed", approach="by hand", task_id=name)
    for address in re.findall(r'class="title" href="(/tasks/[^"]+)"', lead.get("/tasks").text):
        assert lead.get(address if not address.endswith(".json") else f"{address}.json").status_code == 200, address


def test_tasks_are_filtered_by_the_address(lead: Reader) -> None:
    assert [one["id"] for one in lead.get("/tasks.json?action=failed").json()["tasks"]] == ["shop-318"]
    assert "Filtered out" in lead.get("/tasks?project=none-such").text
    assert lead.get("/tasks?action=exploded").status_code == 422


def test_a_private_episode_is_on_nobody_elses_page(agent: Reader, workspace: Workspace) -> None:
    workspace.as_member("swe-2").episodes.log(
        action="failed", approach="quokkasecret", task_id="hidden-1", visibility="private"
    )
    assert "hidden-1" not in agent.get("/tasks").text
    hidden, absent = agent.get("/tasks/hidden-1"), agent.get("/tasks/absent-1")
    assert (hidden.status_code, hidden.text.replace("hidden-1", "absent-1")) == (404, absent.text)


def test_everybody_reads_about_the_team_and_leads_look_after_it(agent: Reader, lead: Reader) -> None:
    shown = agent.get("/teams").text
    assert "Whoever is trusted less" in shown
    for offer in ("Change the policy", "Add a member", "Take back"):
        assert offer not in shown
    assert agent.post("/teams/policy", promote_from="0.1").status_code == 403
    assert agent.post("/teams/add-member", member="swe-99").status_code == 403
    assert "Change the policy" in lead.get("/teams").text


def test_the_operator_adds_a_member_and_its_token_is_shown_once(workspace: Workspace, operator: Reader) -> None:
    there = Reader(operator.client, f"{operator.secret}; mycel_team=storefront")
    proof = form_token(operator.secret)
    assert "Switch to it" in there.get("/teams").text
    added = there.post("/teams/add-member", token=proof, member="swe-9", kind="agent", role="agent", trust="low")
    assert added.headers["location"] == "/teams?did=member_added"
    issued = there.post("/teams/issue-token", token=proof, member="swe-9", ttl="1d", label="a build agent")
    assert (issued.status_code, issued.headers["location"]) == (303, "/teams/issued")
    kept = re.match(
        r"mycel_shown_once=\"?([^;\"]+)\"?; HttpOnly; Max-Age=120; Path=/teams/issued; SameSite=strict",
        issued.headers["set-cookie"],
    )
    assert kept is not None
    page = Reader(operator.client, f'{there.secret}; mycel_shown_once="{kept[1]}"')
    shown = page.get("/teams/issued")
    assert shown.headers["cache-control"] == "no-store"
    assert "a build agent" in shown.text
    assert shown.text == page.get("/teams/issued").text
    [secret] = re.findall(r"<bdi>(mycel_[^<]+)</bdi>", shown.text)
    assert secret not in page.get("/teams/issued.json").text
    assert len(list(workspace.tokens(member_id="swe-9"))) == 1
    foreign = Reader(operator.client, f'{there.secret}; mycel_shown_once="{kept[1]}0"')
    assert "Nothing to show" in foreign.get("/teams/issued").text
    assert 'mycel_shown_once="";' in page.post("/teams/forget-token", token=proof).headers["set-cookie"]
    assert Reader(operator.client, secret).get("/").status_code == 200
    assert issued.headers["cache-control"] == "no-store"
    assert secret not in there.get("/teams").text
    [token] = workspace.tokens(member_id="swe-9")
    assert there.post("/teams/revoke-token", token=proof, token_id=token.id).status_code == 303
    [revoked] = workspace.tokens(member_id="swe-9")
    assert revoked.revoked_at is not None
    working, _, ended = there.get("/teams").text.partition("Tokens that have ended")
    assert "a build agent" not in working
    assert "revoked" not in text_of(working.partition("Tokens that work")[2])
    assert "a build agent" in ended
    assert "Nothing to show" in page.get("/teams/issued").text


def test_an_admin_changes_and_removes_members_and_issues_no_tokens_of_others(
    workspace: Workspace, lead: Reader
) -> None:
    workspace.update_member("eng-director", role="admin")
    added = lead.post("/teams/add-member", member="swe-9", kind="agent", role="agent", trust="low")
    assert "The operator issues the token" in lead.get(added.headers["location"]).text
    lead.post("/teams/update-member", member="swe-9", role="lead", trust="normal")
    assert {one.id: one.role for one in workspace.members(team="storefront")}["swe-9"] is Role.LEAD
    assert lead.post("/teams/issue-token", member="swe-9").status_code == 403
    assert lead.post("/teams/remove-member", member="swe-9").headers["location"] == "/teams?did=member_removed"


def test_leads_and_admins_issue_their_own_tokens(workspace: Workspace, lead: Reader) -> None:
    for role in ("lead", "admin"):
        workspace.update_member("eng-director", role=role)
        assert "for yourself" in lead.get("/teams").text
        answer = lead.post("/teams/issue-token", member="eng-director", label=f"of a {role}", ttl="")
        assert answer.headers["location"] == "/teams/issued"
        assert f"of a {role}" in {one.label for one in workspace.tokens(member_id="eng-director")}
        assert "no end" in lead.get("/teams").text


def test_a_lead_admits_nobody(lead: Reader, workspace: Workspace) -> None:
    for form, given in (("add-member", {"member": "swe-9"}), ("issue-token", {"member": "swe-1"})):
        assert lead.post(f"/teams/{form}", **given).status_code == 403, form
    assert "swe-9" not in {one.id for one in workspace.members(team="storefront")}


def test_a_member_of_another_team_is_absent_here(lead: Reader, workspace: Workspace) -> None:
    workspace.add_team("elsewhere")
    workspace.add_member("outsider", team="elsewhere")
    for form in ("issue-token", "update-member", "remove-member"):
        hidden, absent = (lead.post(f"/teams/{form}", member=name) for name in ("outsider", "nobody"))
        assert (hidden.status_code, hidden.text.replace("hidden-1", "absent-1")) == (404, absent.text), form


def test_the_policy_is_changed_and_a_wrong_part_named(lead: Reader, workspace: Workspace) -> None:
    done = lead.post("/teams/policy", promote_from="0.7", inbox_kept="9d", review="fact, lesson")
    assert done.headers["location"] == "/teams?did=policy_changed"
    policy = workspace.as_member("eng-director").policy()
    assert (policy.promote_from, policy.inbox_kept and policy.inbox_kept.days, len(policy.review)) == (0.7, 9, 2)
    for part, value in (("promote_from", "much"), ("inbox_kept", "soon"), ("secrets", "shout")):
        answer = lead.post("/teams/policy", **{part: value})
        assert answer.status_code == 422
        assert f"{part}: " in answer.text


def test_the_operator_sees_of_every_team_what_it_keeps_and_what_waits(workspace: Workspace, operator: Reader) -> None:
    waiting = workspace.as_member("eng-director").stats().by_status["inbox"]
    rows = {one["name"]: one for one in operator.get("/teams.json").json()["teams_at_a_glance"]}
    kept = rows["storefront"]
    assert (kept["members"], kept["waiting"], kept["given_up"], kept["is_damaged"]) == (6, waiting, 0, False)
    assert kept["memories"] == workspace.as_member("eng-director").stats().memories
    assert rows["executive"]["last_day"] is None


def test_an_operator_whose_own_team_is_empty_is_led_to_the_others(workspace: Workspace, operator: Reader) -> None:
    assert 'name="team" value="storefront"' in operator.get("/").text
    assert "This is the inbox of executive" in text_of(operator.get("/inbox").text)
    chosen = operator.post("/team", team="storefront")
    assert "mycel_team=storefront" in chosen.headers["set-cookie"]


def test_a_lead_sends_a_memory_to_the_teams_below_and_takes_it_back(lead: Reader, workspace: Workspace) -> None:
    workspace.add_team("storefront-eu", parent="storefront")
    workspace.add_member("eu-1", team="storefront-eu")
    [memory] = workspace.as_member("eng-director").list(limit=1, tags="process")
    below = workspace.as_member("eu-1")
    sent = lead.post(f"/memory/{memory.id}/cascade")
    workspace.run_pending()
    assert [one.content for one in below.list(limit=5)] == [memory.content]
    shown = lead.get(sent.headers["location"]).text
    assert f'action="/memory/{memory.id}/withdraw"' in shown
    assert memory.title in lead.get("/teams").text
    lead.post(f"/memory/{memory.id}/withdraw")
    workspace.run_pending()
    assert list(below.list(limit=5)) == []


def test_whoever_may_not_send_is_offered_nothing(agent: Reader, lead: Reader, workspace: Workspace) -> None:
    mine = workspace.as_member("swe-1").save("of a member alone")
    assert "other teams" not in agent.get(f"/memory/{mine.id}").text
    assert agent.post(f"/memory/{mine.id}/cascade").status_code == 403
    private = workspace.as_member("eng-director").save("for me alone", visibility="private")
    assert "other teams" not in lead.get(f"/memory/{private.id}").text


def test_work_that_was_given_up_stands_first_and_is_done_again(lead: Reader, workspace: Workspace) -> None:
    said = [{"role": "user", "content": "We decided to keep logs for nine days."}]
    event = workspace.as_member("swe-1").capture_session(said, session_id="given-up")
    given_up = replace(event, state=EventState.DEAD, error="unavailable: the endpoint is away")
    with workspace._do.upkeep._stores.lease(TeamName("storefront")) as store:
        store.transact(lambda transaction: transaction.queue.replace(given_up))
    assert "1 event given up" in text_of(lead.get("/").text)
    assert "unavailable: the endpoint is away" in lead.get("/teams").text
    done = lead.post("/teams/retry", event=event.id)
    assert "It is done again" in lead.get(done.headers["location"]).text
    workspace.run_pending()
    assert workspace.as_member("swe-1").sources.event(event.id).state is EventState.DONE
    assert "nothing was given up" in lead.get("/teams").text
