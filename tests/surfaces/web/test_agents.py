"""The pages of agents: who was seen, and what each was given and handed in, as far as the reader may know."""

from __future__ import annotations

import html
import re

import pytest

from mycel.embedded.workspace import Workspace
from mycel.surfaces.web.agents import INJECTIONS, SOURCES
from tests.surfaces.web.conftest import Reader, text_of

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture
def told(workspace: Workspace) -> tuple[str, str]:
    """One note that all may read and one that is the agent's own, both told to it."""
    agent = workspace.as_member("swe-1")
    shared = agent.save("the shared note about wombats")
    own = agent.save("the quokkasecret note", visibility="private")
    text = "\n".join(
        [
            "<team-memory>",
            "## Lessons",
            f"- [m:{shared.id[:13]}] (lesson) the shared note about wombats",
            f"- [m:{own.id[:13]}] (note) the quokkasecret note",
            "[note][swe-1] a line without an id, quokkasecret as well",
            "</team-memory>",
        ]
    )
    agent.activity.report(
        text=text, occasion="prompt", memory_ids=[shared.id, own.id], session_id="s-1", task_id="shop-318"
    )
    return shared.id, own.id


def test_the_agent_itself_reads_what_it_was_given_as_it_saw_it(agent: Reader, told: tuple[str, str]) -> None:
    shown = agent.get("/agents/swe-1").text
    assert "the shared note about wombats" in shown
    assert "the quokkasecret note" in shown
    assert "a line without an id" in shown


def test_others_read_the_notes_in_it_that_they_may_read(lead: Reader, told: tuple[str, str]) -> None:
    for address in ("/agents/swe-1", "/agents/swe-1.json", "/agents/swe-1?session_id=s-1"):
        shown = lead.get(address).text
        assert "the shared note about wombats" in shown
        assert "quokkasecret" not in shown
        assert told[1] not in shown


def test_a_memory_in_what_was_told_is_a_link_and_the_words_stay(lead: Reader, told: tuple[str, str]) -> None:
    id = told[0]
    shown = lead.get("/agents/swe-1").text
    assert f'- [m:<a href="/memory/{id}">{id[:13]}</a>] (lesson) the shared note' in shown
    assert f"- [m:{id[:13]}] (lesson) the shared note" in lead.get("/agents/swe-1.json").text


def test_a_memory_in_a_briefing_is_a_link(lead: Reader) -> None:
    shown = lead.get("/tasks/shop-318").text.partition("A briefing")[2]
    (id,) = re.findall(r'\[m:<a href="/memory/([0-9a-f-]{36})">\1</a>\]', shown)[:1]
    assert lead.get(f"/memory/{id}").status_code == 200


def test_another_agent_reads_nothing_of_it(workspace: Workspace, told: tuple[str, str]) -> None:
    assert list(workspace.as_member("swe-2").activity.injections()) == []
    assert list(workspace.as_member("swe-2").activity.injections(agent="swe-1")) == []


def test_a_memory_says_who_was_given_it_when_and_for_which_task(lead: Reader, told: tuple[str, str]) -> None:
    shown = text_of(lead.get(f"/memory/{told[0]}").text)
    assert re.search(r"Who was given it swe-1 +with a prompt *, +shop-318", shown)


def test_what_is_purged_leaves_what_was_given_with_or_without_its_id(
    workspace: Workspace, agent: Reader, told: tuple[str, str]
) -> None:
    swe = workspace.as_member("swe-1")
    swe.activity.report(text="[note][swe-1] the shared note about wombats", occasion="session")
    swe.purge(told[0])
    assert "wombats" not in agent.get("/agents/swe-1").text
    assert list(swe.activity.injections()) == []


def test_a_briefing_of_an_agent_is_kept_and_one_that_a_person_looks_at_is_not(workspace: Workspace) -> None:
    workspace.as_member("eng-director").before_task("shop-318")
    assert list(workspace.as_member("eng-director").activity.injections(agent="eng-director")) == []
    briefing = workspace.as_member("swe-1").before_task("shop-318")
    [kept] = workspace.as_member("swe-1").activity.injections()
    assert (kept.text, kept.occasion, kept.task_id) == (briefing.to_markdown(), "briefing", "shop-318")


def test_whoever_was_just_seen_is_connected(lead: Reader, workspace: Workspace) -> None:
    workspace.as_member("swe-2").search("releases")
    rows = {row["member_id"]: row["last_seen_at"] for row in lead.get("/agents.json").json()["members"]}
    assert rows["swe-2"] is not None
    assert "connected" in lead.get("/agents/swe-2").text


def test_use_is_counted_by_type_and_author(lead: Reader, workspace: Workspace) -> None:
    memory = workspace.as_member("swe-1").save("a note of use", type="lesson")
    workspace.as_member("swe-2").get(memory.id)
    workspace.as_member("swe-2").rate(memory.id, useful=True)

    def lessons() -> dict[str, int]:
        rows = lead.get("/index.json").json()["use_by_type"]
        return next((row for row in rows if row["name"] == "lesson"), {"reads": 0, "useful": 0})

    assert lessons()["useful"] >= 1
    assert "Use by author" in lead.get("/").text


def test_a_memory_that_nobody_read_says_nothing_of_a_last_time(lead: Reader, workspace: Workspace) -> None:
    unread = workspace.as_member("swe-1").save("Nobody has opened this so far.")
    shown = text_of(lead.get(f"/memory/{unread.id}").text)
    assert "Never read" in shown
    assert "Last read" not in shown


def test_a_memory_says_once_who_made_it_and_what_found_it(lead: Reader, workspace: Workspace) -> None:
    memory = workspace.as_member("swe-1").save("The wombatport is 7.", valid_from="2026-01-01")
    assert [hit.memory.id for hit in workspace.as_member("eng-director").search("wombatport").hits] == [memory.id]
    shown = text_of(lead.get(f"/memory/{memory.id}").text)
    assert re.search(r"Use +Never read; nobody has rated it\. +Who was given it", shown)
    assert shown.count("manual") == 1
    assert shown.count("2026-01-01") == 1


def test_all_that_it_was_given_and_has_handed_in_is_reached_page_by_page(lead: Reader, workspace: Workspace) -> None:
    agent = workspace.as_member("reviewer-1")
    for number in range(max(INJECTIONS, SOURCES) + 5):
        agent.activity.report(text=f"given {number}.", occasion="prompt", session_id=f"s-{number}")
        agent.capture_session([{"role": "user", "content": f"handed in {number}."}], title=f"source {number}.")
    seen, pages = "", ["/agents/reviewer-1"]
    for page in pages:
        shown = lead.get(page).text
        seen += text_of(shown)
        onward = re.findall(r'<a[^>]* href="([^"]+)"[^>]*>(?:Given|Handed in) before<', shown)
        pages += [html.unescape(one) for one in onward]
    assert len(pages) == 3
    assert "The latest" in seen
    for number in range(max(INJECTIONS, SOURCES) + 5):
        assert len(re.findall(rf"source {number}\.", seen)) == 1, number
        assert len(re.findall(rf"Session s-{number} ", seen)) == 1, number
