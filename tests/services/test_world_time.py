"""When something holds in the world, beside when it was believed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mycel.domain.memory import Memory
from mycel.errors import InvalidInput, InvalidState
from tests.squad import Squad, open_squad, texts, wide_embedder

pytestmark = pytest.mark.each_database

FREEZE = "Nobody deploys while the freeze lasts."


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    with (squad := open_squad(tmp_path, embedder=wide_embedder())).workspace:
        yield squad


def days(memory: Memory) -> tuple[str | None, str | None]:
    since, until = memory.valid_from, memory.valid_until
    return since and f"{since:%Y-%m-%d}", until and f"{until:%Y-%m-%d}"


def company(squad: Squad) -> None:
    for number, note in enumerate(["Herons fish.", "Trains leave.", "Lunch begins.", "Paint dries.", "Owls sleep."]):
        squad.author.save(note, path=f"/company/{number}")


def test_a_day_lasts_until_its_end_and_a_time_is_kept(squad: Squad) -> None:
    saved = squad.author.save(FREEZE, valid_from="2026-12-20", valid_until="2027-01-02")
    assert saved.valid_from == datetime(2026, 12, 20, tzinfo=UTC)
    assert saved.valid_until == datetime(2027, 1, 2, 23, 59, 59, 999_999, UTC)
    changed = squad.author.update(saved.id, valid_until="2027-01-02T12:00:00+02:00")
    assert changed.valid_until == datetime(2027, 1, 2, 10, tzinfo=UTC)
    assert squad.author.update(saved.id, valid_until=None, valid_from=None).valid_until is None
    assert [days(one.memory) for one in squad.author.history(saved.id)] == [
        *(("2026-12-20", "2027-01-02"), ("2026-12-20", "2027-01-02"), (None, None))
    ]


@pytest.mark.parametrize("wrong", ["2026-13-01", "2026-12-20T10:00:00", "soon", 7, ""])
def test_what_is_no_day_is_refused_by_its_name(squad: Squad, wrong: Any) -> None:
    for field in ("valid_from", "valid_until"):
        with pytest.raises(InvalidInput) as refused:
            squad.author.save(FREEZE, **{field: wrong})
        assert refused.value.field == field
    with pytest.raises(InvalidInput) as refused:
        squad.author.search("freeze", valid_at=wrong)
    assert refused.value.field == "valid_at"


def test_an_end_before_the_beginning_is_refused(squad: Squad) -> None:
    with pytest.raises(InvalidInput) as refused:
        squad.author.save(FREEZE, valid_from="2027-01-02", valid_until="2026-12-20")
    assert (refused.value.field, refused.value.problem) == ("valid_until", "must not be before valid_from")
    saved = squad.author.save(FREEZE, valid_from="2027-01-02", valid_until="2027-01-02")
    with pytest.raises(InvalidState):
        squad.author.update(saved.id, valid_until="2026-12-20")


def test_a_search_and_a_list_keep_to_what_holds_then(squad: Squad) -> None:
    company(squad)
    freeze = squad.author.save(FREEZE, valid_from="2026-12-20", valid_until="2027-01-02")
    always = squad.author.save("Deploys need two reviews.")
    for at, found in (
        ("2026-12-19", {always.id}),
        ("2026-12-20", {always.id, freeze.id}),
        ("2027-01-02T23:59:59Z", {always.id, freeze.id}),
        ("2027-01-03", {always.id}),
    ):
        hits = squad.teammate.search("who deploys", valid_at=at, min_relevance=0.01).hits
        assert {hit.memory.id for hit in hits} & {always.id, freeze.id} == found, at
        assert {one.id for one in squad.teammate.list(valid_at=at)} & {always.id, freeze.id} == found, at


def test_what_no_longer_holds_ranks_low_and_says_so(squad: Squad) -> None:
    company(squad)
    old = squad.author.save(
        "The deploy password is kept in the grey vault of the basement.", valid_until="2026-01-31", path="/a"
    )
    new = squad.author.save("Ever after the move, a deploy password comes from the secret manager.", path="/b")
    squad.pass_time(days=1)
    first, second = squad.teammate.search("deploy password").hits[:2]
    assert (first.memory.id, second.memory.id) == (new.id, old.id)
    assert "no longer valid: it held until 2026-01-31" in second.why
    assert second.breakdown["past"] < 0
    assert (first.memory.validity, second.memory.validity) == ("current", "past")
    assert "past" not in first.breakdown
    then = squad.teammate.search("deploy password", valid_at="2026-01-15").hits
    assert old.id in [hit.memory.id for hit in then]
    assert not any("past" in hit.breakdown for hit in then)


def test_what_does_not_hold_yet_says_so(squad: Squad) -> None:
    company(squad)
    squad.author.save(FREEZE, valid_from="2039-12-20", valid_until="2040-01-02")
    [hit] = squad.teammate.search("who deploys in the freeze", min_relevance=0.3).hits
    assert "not valid yet: it holds from 2039-12-20 until 2040-01-02" in hit.why


def test_the_swarm_ranking_lowers_what_is_over_too(squad: Squad) -> None:
    company(squad)
    old = squad.author.save(
        "Herons nest in the reeds of the lake, far from the road.", valid_until="2026-01-31", path="/a"
    )
    new = squad.author.save("In the reeds there is a nest that herons left.", path="/b")
    hits = squad.teammate.search("herons nest in the reeds", ranking="swarm", min_relevance=0.01).hits
    places = {hit.memory.id: place for place, hit in enumerate(hits)}
    assert places[new.id] < places[old.id]
    assert "no longer valid" in hits[places[old.id]].why


def test_a_context_says_what_no_longer_holds(squad: Squad) -> None:
    squad.author.save("Use the blue cluster.", type="decision", valid_until="2026-01-31")
    squad.author.save("Use the green cluster.", type="decision", valid_until="2039-01-31")
    text = squad.teammate.context_for(task="which cluster").to_markdown()
    assert "no longer valid: it held until 2026-01-31: Use the blue cluster." in text
    assert "valid until 2039-01-31: Use the green cluster." in text


def test_an_explanation_tells_when_it_holds(squad: Squad) -> None:
    company(squad)
    freeze = squad.author.save(FREEZE, valid_from="2026-12-20", valid_until="2027-01-02")
    squad.pass_time(hours=1)
    recall = squad.author.search("freeze deploys", valid_at="2027-02-01")
    told = squad.author.explain(recall_id=recall.id, missing=freeze.id)
    assert (told.step, told.filter) == ("filter", "valid_at")
    assert told.text == "At 2027-02-01 00:00Z it was no longer valid: it held until 2027-01-02."
    assert "In the world it holds from 2026-12-20 until 2027-01-02." in squad.author.explain(memory_id=freeze.id).text


def test_a_period_is_drawn_from_the_words_unless_it_is_said(squad: Squad) -> None:
    said = "2026-11-18T09:00:00Z"
    drawn = squad.author.save("The code freeze runs from December 20 to January 2.", observed_at=said)
    assert days(drawn) == ("2026-12-20", "2027-01-02")
    assert squad.author.save("The key works until 2026-12-31.", valid_until=None).valid_until is not None
    assert days(squad.author.save("The key works until 2026-12-31.", valid_from="2026-01-01")) == ("2026-01-01", None)
    assert days(squad.author.save("We shipped until 2026-12-31.", type="episode")) == (None, None)
    later = squad.author.update(drawn.id, content="The code freeze runs from December 22 to January 5.")
    assert days(later) == ("2026-12-22", "2027-01-05")
    cleared = squad.author.update(drawn.id, valid_from=None, valid_until=None)
    assert days(squad.author.update(cleared.id, content="A freeze until 2026-12-31.")) == (None, None)


def test_what_is_drawn_from_a_talk_has_the_period_of_its_words(squad: Squad) -> None:
    talk = [
        {"role": "user", "content": "How long is it?", "timestamp": "2026-11-18T09:00:00Z"},
        {
            "role": "assistant",
            "content": "Decision: nobody deploys from December 20 to January 2.",
            "timestamp": "2026-11-18T09:01:00Z",
        },
    ]
    squad.author.capture_session(talk, project="web")
    squad.workspace.run_pending()
    drawn = squad.author.list(status="any", type="decision")
    found = [one for one in drawn if "nobody deploys" in one.content]
    assert [days(one) for one in found] == [("2026-12-20", "2027-01-02")]


def test_an_archive_carries_it(squad: Squad, tmp_path: Path) -> None:
    saved = squad.author.save(FREEZE, valid_from="2026-12-20", valid_until="2027-01-02")
    squad.author.update(saved.id, valid_until="2027-01-05")
    file = tmp_path / "team.mycel"
    squad.workspace.export(file, team="squad")
    squad.author.purge(saved.id)
    other = squad.workspace
    other.add_team("elsewhere")
    other.add_member("swe-7", team="elsewhere", role="agent")
    other.import_(file, team="elsewhere")
    [moved] = [one for one in other.as_member("swe-7").list() if one.content == FREEZE]
    assert days(moved) == ("2026-12-20", "2027-01-05")
    assert [days(one.memory)[1] for one in other.as_member("swe-7").history(moved.id)] == ["2027-01-02", "2027-01-05"]


def test_a_cascade_carries_it(squad: Squad) -> None:
    saved = squad.lead.save(FREEZE, valid_from="2026-12-20", valid_until="2027-01-02")
    squad.lead.cascade(saved.id)
    squad.workspace.run_pending()
    assert "2027-01-02" in {days(one)[1] for one in squad.child_lead.list()}


def test_as_of_looks_at_what_was_believed_and_valid_at_at_what_held(squad: Squad) -> None:
    company(squad)
    saved = squad.author.save("The herons nest in the north.", valid_until="2026-06-30")
    squad.pass_time(hours=1)
    then = squad.clock.now()
    squad.pass_time(hours=1)
    squad.author.update(saved.id, valid_until="2026-09-30")
    asked: dict[str, Any] = {"valid_at": "2026-08-01", "min_relevance": 0.3}
    assert saved.content not in texts(squad.teammate.search("herons nest north", as_of=then, **asked))
    assert saved.content in texts(squad.teammate.search("herons nest north", **asked))
