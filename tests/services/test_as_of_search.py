"""A search as of a past moment answers from what was believed then, for whoever may see it today."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from mycel.embedded.team_memory import TeamMemory
from mycel.errors import NotFound
from mycel.testing.embedder import WordEmbedder
from tests.squad import Squad, ids, open_squad, texts, wide_embedder

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture(params=["words", "words and meaning"])
def squad(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path, embedder=wide_embedder() if request.param == "words and meaning" else None)
    with squad.workspace:
        yield squad


def a_moment(squad: Squad) -> datetime:
    """Some time after all that was written, and before all that will be."""
    squad.pass_time(hours=1)
    at = squad.clock.now()
    squad.pass_time(hours=1)
    return at


def company(squad: Squad) -> None:
    for number, note in enumerate(["Herons fish.", "Trains leave.", "Lunch begins.", "Paint dries.", "Owls sleep."]):
        squad.author.save(note, path=f"/company/{number}")


def found(member: TeamMemory, question: str, at: datetime | None, **options: Any) -> list[str]:
    return texts(member.search(question, as_of=at, **options))


def test_a_changed_memory_is_found_by_its_old_words_and_shown_as_it_was(squad: Squad) -> None:
    memory = squad.author.save("The port is 5432.", path="/a")
    then = a_moment(squad)
    squad.author.update(memory.id, content="The socket is a file.")
    recall = squad.teammate.search("port 5432", as_of=then)
    assert texts(recall) == ["The port is 5432."]
    [hit] = recall.hits
    assert (hit.memory.version, hit.memory.id) == (1, memory.id)
    assert "**5432**" in hit.snippet
    assert found(squad.teammate, "port 5432", None, min_relevance=0.3) == []
    assert found(squad.teammate, "socket file", None) == ["The socket is a file."]


def test_a_changed_memory_is_not_found_by_the_words_it_got_later(tmp_path: Path) -> None:
    squad = open_squad(tmp_path)
    with squad.workspace:
        memory = squad.author.save("The port is 5432.", path="/a")
        then = a_moment(squad)
        squad.author.update(memory.id, content="The socket is a file.")
        assert found(squad.teammate, "socket file", then) == []


def test_of_several_versions_the_one_of_that_moment_answers(squad: Squad) -> None:
    memory = squad.author.save("The owner is Ada.", path="/a")
    moments = [a_moment(squad)]
    for name in ("Grace", "Barbara"):
        squad.author.update(memory.id, content=f"The owner is {name}.")
        moments.append(a_moment(squad))
    for at, name in zip(moments, ("Ada", "Grace", "Barbara"), strict=True):
        assert found(squad.teammate, "who is the owner", at) == [f"The owner is {name}."]


def test_what_was_saved_later_is_not_found(squad: Squad) -> None:
    squad.author.save("The old heron.", path="/a")
    then = a_moment(squad)
    squad.author.save("The new heron.", path="/b")
    assert found(squad.teammate, "heron", then) == ["The old heron."]
    assert found(squad.teammate, "heron", then, min_relevance=0) == ["The old heron."]
    assert found(squad.teammate, "", then) == ["The old heron."]
    assert len(found(squad.teammate, "heron", None)) == 2


def test_what_was_deleted_since_is_found_as_it_was_believed_then(squad: Squad) -> None:
    memory = squad.author.save("The heron stands.", path="/a")
    then = a_moment(squad)
    squad.author.update(memory.id, content="The heron sits.")
    later = a_moment(squad)
    squad.author.delete(memory.id)
    gone = a_moment(squad)
    for member in (squad.author, squad.teammate):
        for question in ("heron", "", '"the heron"'):
            assert found(member, question, then) == ["The heron stands."]
            assert found(member, question, later) == ["The heron sits."]
            assert found(member, question, gone) == found(member, question, None) == []
        assert member.get(memory.id, as_of=then).content == "The heron stands."
        assert [one.content for one in member.list(as_of=later)] == ["The heron sits."]
        for at in (gone, None):
            with pytest.raises(NotFound):
                member.get(memory.id, as_of=at)
        assert not member.list(as_of=gone)


def test_who_may_not_see_it_today_finds_nothing_of_what_was_deleted_since(squad: Squad) -> None:
    hidden = squad.author.save("The heron stands.", path="/a")
    own = squad.author.save("The heron sits.", path="/b", visibility="private")
    for_leads = squad.lead.save("The heron flies.", path="/c", visibility="role", allowed_roles=["lead"])
    then = a_moment(squad)
    squad.author.update(hidden.id, visibility="private")
    for author, memory in ((squad.author, hidden), (squad.author, own), (squad.lead, for_leads)):
        author.delete(memory.id)
    a_moment(squad)
    for question in ("heron", ""):
        assert found(squad.teammate, question, then, min_relevance=0) == []
    assert not squad.teammate.list(as_of=then)
    for memory in (hidden, own, for_leads):
        with pytest.raises(NotFound):
            squad.teammate.get(memory.id, as_of=then)
    assert sorted(found(squad.author, "heron", then)) == ["The heron sits.", "The heron stands."]
    assert found(squad.lead, "heron", then) == ["The heron flies."]


def test_what_was_purged_is_gone_from_the_past_as_well(squad: Squad) -> None:
    memory = squad.author.save("The heron stands.", path="/a")
    then = a_moment(squad)
    squad.author.delete(memory.id)
    a_moment(squad)
    squad.author.purge(memory.id)
    assert found(squad.author, "heron", then, min_relevance=0) == []
    assert not squad.author.list(as_of=then)
    with pytest.raises(NotFound):
        squad.author.get(memory.id, as_of=then)


def test_what_was_deleted_then_and_restored_since_is_not_found_at_that_moment(squad: Squad) -> None:
    memory = squad.author.save("The heron stands.", path="/a")
    there = a_moment(squad)
    squad.author.delete(memory.id)
    gone = a_moment(squad)
    squad.author.restore(memory.id)
    assert found(squad.author, "heron", there) == ["The heron stands."]
    assert found(squad.author, "heron", gone) == []
    assert found(squad.author, "heron", gone, min_relevance=0) == []
    assert found(squad.author, "heron", None) == ["The heron stands."]


def test_who_could_see_it_then_and_can_see_it_now_finds_it(squad: Squad) -> None:
    hidden_since = squad.author.save("The heron stands.", path="/a")
    shown_since = squad.author.save("The heron sits.", path="/b", visibility="private")
    then = a_moment(squad)
    squad.author.update(hidden_since.id, visibility="private")
    squad.author.update(shown_since.id, visibility="team")
    assert found(squad.teammate, "heron", then) == []
    assert found(squad.teammate, "heron", then, min_relevance=0) == []
    assert sorted(found(squad.author, "heron", then)) == ["The heron sits.", "The heron stands."]
    assert found(squad.teammate, "heron", None) == ["The heron sits."]


def test_filters_look_at_the_version_of_then(squad: Squad) -> None:
    memory = squad.author.save("The heron stands.", type="note", tags=["bird"], path="/old", category="pond")
    then = a_moment(squad)
    squad.author.update(memory.id, type="lesson", tags=["wader"], path="/new", category="lake")
    for was, now in (
        ({"type": "note"}, {"type": "lesson"}),
        ({"tags": "bird"}, {"tags": "wader"}),
        ({"path": "/old"}, {"path": "/new"}),
        ({"category": "pond"}, {"category": "lake"}),
    ):
        before: Any = was
        after: Any = now
        assert found(squad.teammate, "heron", then, **before) == ["The heron stands."], was
        assert found(squad.teammate, "heron", then, **after) == [], now
        assert found(squad.teammate, "heron", None, **after) == ["The heron stands."], now
        assert found(squad.teammate, "heron", None, **before) == [], was


def test_the_status_and_the_expiry_of_then_count(squad: Squad) -> None:
    memory = squad.author.save("The heron stands.", ttl="3h")
    then = a_moment(squad)
    squad.lead.update(memory.id, status="archived")
    squad.pass_time(days=1)
    assert found(squad.teammate, "heron", None) == []
    assert found(squad.teammate, "heron", None, status="archived") == ["The heron stands."]
    assert found(squad.teammate, "heron", None, status=["active", "archived"]) == []
    assert found(squad.teammate, "heron", then) == ["The heron stands."]
    assert found(squad.teammate, "heron", then, status="archived") == []


def test_a_project_reaches_its_own_past(squad: Squad) -> None:
    memory = squad.author.save("The heron stands.", project="alpha", path="/a")
    then = a_moment(squad)
    squad.author.update(memory.id, content="The stork stands.")
    assert found(squad.teammate, "heron", then, project="alpha") == ["The heron stands."]
    assert found(squad.teammate, "heron", then, project="beta") == []


def test_an_empty_question_lists_what_stood_then_as_it_was(squad: Squad) -> None:
    changed = squad.author.save("The heron stands.", path="/a")
    squad.author.save("The stork sits.", path="/b")
    then = a_moment(squad)
    squad.author.update(changed.id, content="The crane stands.")
    squad.author.save("The owl sleeps.", path="/c")
    assert found(squad.teammate, "", then) == ["The stork sits.", "The heron stands."]
    assert set(found(squad.teammate, "heron", then, min_relevance=0)) == {"The stork sits.", "The heron stands."}


@pytest.mark.parametrize("present", [(), ("One grey heron flew over the pond.",)], ids=["changed", "changed or not"])
def test_a_quoted_phrase_is_looked_for_in_the_text_of_then(squad: Squad, present: tuple[str, ...]) -> None:
    quoted, turned = "A grey heron stands in the reeds.", "That heron is grey."
    changed, became = squad.author.save(quoted, path="/a"), squad.author.save(turned, path="/b")
    squad.author.save("The heron was not grey at all.", path="/c")
    for text in present:
        squad.author.save(text, path="/d")
    then = a_moment(squad)
    squad.author.update(changed.id, content="Gone.")
    squad.author.update(became.id, content="That grey heron.")
    assert sorted(found(squad.teammate, '"grey heron"', then)) == [quoted, *present]
    assert "That grey heron." in found(squad.teammate, '"grey heron"', None)


def test_where_the_past_alone_quotes_nobody_else_is_asked_to_share_the_answer(squad: Squad) -> None:
    quoted = [f"A grey heron {does} by the lake." for does in ("stands", "sleeps", "waits")]
    changed = [squad.author.save(text, path="/a") for text in quoted]
    squad.teammate.save("The heron over there is not grey, said everybody.", path="/b")
    then = a_moment(squad)
    for number, memory in enumerate(changed):
        squad.author.update(memory.id, content=f"Gone {number}.")
    quoting = found(squad.teammate, '"grey heron"', then, limit=2)
    assert len(quoting) == 2
    assert set(quoting) <= set(quoted)


def test_the_reasons_name_the_words_that_it_had_then(squad: Squad) -> None:
    memory = squad.author.save("The port is 5432.", path="/a")
    then = a_moment(squad)
    squad.author.update(memory.id, content="The socket is a heron.")
    [hit] = squad.teammate.search("port heron 5432", as_of=then).hits
    assert hit.why.startswith("Matches 2 of 3 search terms (port, 5432)")


def test_a_lead_searches_the_past_of_both_teams(squad: Squad) -> None:
    above, below = squad.author.save("The heron above."), squad.child_lead.save("The heron below.")
    then = a_moment(squad)
    squad.author.update(above.id, content="Gone.")
    squad.child_lead.update(below.id, content="Gone as well.")
    assert sorted(found(squad.child_lead, "heron", then)) == ["The heron above.", "The heron below."]


def test_what_has_not_changed_is_found_by_meaning_as_of_then(tmp_path: Path) -> None:
    squad = open_squad(tmp_path, embedder=wide_embedder(["outage", "downtime"]))
    with squad.workspace:
        company(squad)
        memory = squad.author.save("Downtime costs customers.", path="/a")
        then = a_moment(squad)
        later = squad.author.save("Downtime is announced.", path="/b")
        assert memory.id in ids(squad.teammate.search("outage", as_of=then))
        assert later.id not in ids(squad.teammate.search("outage", as_of=then))
        assert {memory.id, later.id} <= set(ids(squad.teammate.search("outage")))


def test_what_changed_in_all_but_its_text_is_found_by_meaning_as_of_then(tmp_path: Path) -> None:
    embedder = WordEmbedder(dimensions=512, synonyms=[["outage", "downtime"]])
    squad = open_squad(tmp_path, embedder=embedder)
    with squad.workspace:
        company(squad)
        memory = squad.author.save("Downtime costs customers.", path="/a", tags=["old"])
        then = a_moment(squad)
        squad.author.update(memory.id, tags=["new"])
        hits = squad.teammate.search("outage", as_of=then).hits
        [hit] = [hit for hit in hits if hit.memory.id == memory.id]
        assert hit.memory.tags == ("old",)
        assert "meaning" in hit.breakdown
