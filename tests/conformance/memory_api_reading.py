"""What every way into a team's memory promises about reading, finding and relating."""

from __future__ import annotations

import time
from datetime import timedelta
from itertools import islice
from typing import Any

import pytest

from mycel.domain.query import Folder
from mycel.errors import AccessDenied, InvalidInput, NotFound
from mycel.testing.clock import ManualClock
from tests.conformance.memory_api_cast import Cast, outcome
from tests.template import ABSENT

SOON_SECONDS = 3.0


class ApiReading:
    """Needs the fixtures `cast` and `clock`."""

    def test_an_absent_memory_is_not_found(self, cast: Cast) -> None:
        author = cast.author
        for read in (author.get, author.history, author.links, author.usage, author.delete, author.restore):
            with pytest.raises(NotFound, match=ABSENT):
                read(ABSENT)
        for read in (author.purge, author.receipt):
            outcome(lambda read=read: read(ABSENT), NotFound)
        outcome(lambda: author.update(ABSENT, content="a"), NotFound)
        outcome(lambda: author.rate(ABSENT, useful=True), NotFound)
        outcome(lambda: author.sources.get(ABSENT), NotFound)

    def test_ids_are_read_in_any_case(self, cast: Cast) -> None:
        memory = cast.author.save("a")
        assert cast.author.get(f" {memory.id.upper()} ") == memory

    def test_an_expired_memory_can_be_read_but_is_not_found(self, cast: Cast, clock: ManualClock) -> None:
        memory = cast.author.save("a heron", ttl=60)
        clock.move(timedelta(seconds=59))
        assert [found.id for found in cast.author.list()] == [memory.id]
        assert cast.author.search("heron").hits
        clock.move(timedelta(seconds=1))
        assert not cast.author.list()
        assert not cast.author.recent()
        assert not cast.author.search("heron").hits
        assert not cast.author.search(None).hits
        assert not cast.author.tree("/notes").items
        assert cast.author.tree().subdirs == ()
        assert cast.author.get(memory.id) == memory
        assert [found.id for found in cast.author.list(status="any")] == [memory.id]

    def test_what_has_expired_and_what_was_archived_can_be_listed(self, cast: Cast, clock: ManualClock) -> None:
        short, put_away = cast.author.save("a heron", ttl=60), cast.author.save("an old heron", ttl=60)
        kept = cast.author.save("a stork")
        cast.author.update(put_away.id, status="archived")
        clock.move(timedelta(minutes=2))
        for status, expected in (
            ("archived", [put_away]),
            ("expired", [put_away, short]),
            # Whoever asks for what is active as well wants what holds.
            (["active", "archived"], [kept]),
            ("active", [kept]),
        ):
            assert [found.id for found in cast.author.list(status=status)] == [one.id for one in expected]
        assert {hit.memory.id for hit in cast.author.search("heron", status="expired").hits} == {put_away.id, short.id}
        assert [hit.memory.id for hit in cast.author.search("heron", status="archived").hits] == [put_away.id]
        cast.author.update(short.id, visibility="private")
        assert [found.id for found in cast.teammate.list(status="expired")] == [put_away.id]
        outcome(lambda: cast.author.list(status=["active", "expired"]), InvalidInput)

    def test_a_record_says_how_fresh_it_is(self, cast: Cast, clock: ManualClock) -> None:
        new = cast.author.save("Renamed the heron.", type="thread_summary")
        assert cast.author.get(new.id).freshness == 1.0
        # A write that is told again has the same answer.
        assert new.freshness is None
        cast.author.save("Herons are patient.", type="decision")
        clock.move(timedelta(days=14))
        aged, lasting = 0.2 + 0.8 / 2, 0.9 + 0.1 / 2
        assert cast.teammate.get(new.id).freshness == pytest.approx(aged)
        listed = cast.teammate.list(order_by="created_at")
        assert [one.freshness for one in listed] == pytest.approx([aged, lasting])
        assert [one.freshness for one in cast.teammate.recent()] == pytest.approx([lasting, aged])
        found = {hit.memory.id: hit.memory.freshness for hit in cast.teammate.search("heron").hits}
        assert found[new.id] == pytest.approx(aged)

    def test_the_replay_of_a_search_shows_the_titles_of_what_it_found(self, cast: Cast) -> None:
        memory = cast.author.save("Herons are patient.", title="On herons")
        hidden = cast.author.save("Herons are grey.", title="On grey herons")
        recall = cast.teammate.search("heron")
        cast.author.update(hidden.id, visibility="private")
        told = cast.teammate.explain(recall.id)
        assert told.recall is not None
        assert [(hit.memory_id, hit.title) for hit in told.recall.hits] == [(memory.id, "On herons")]
        assert "1. On herons [" in told.text
        assert "grey" not in told.text

    def test_answers_what_was_believed_at_a_moment(self, cast: Cast, clock: ManualClock) -> None:
        first = cast.author.save("one")
        clock.move(timedelta(hours=1))
        second = cast.author.update(first.id, content="two")
        assert cast.teammate.get(first.id, as_of=first.created_at) == first
        assert cast.teammate.get(first.id, as_of=second.updated_at.isoformat()) == second
        outcome(lambda: cast.author.get(first.id, as_of=first.created_at - timedelta(seconds=1)), NotFound)
        for wrong in ("yesterday", "2026-11-15T09:00:00", 5):
            when: Any = wrong
            outcome(lambda when=when: cast.author.get(first.id, as_of=when), InvalidInput)

    def test_lists_what_was_believed_at_a_moment_page_by_page(self, cast: Cast, clock: ManualClock) -> None:
        first, second = cast.author.save("one", tags=["old"]), cast.author.save("two")
        clock.move(timedelta(hours=1))
        cast.author.update(first.id, content="changed", tags=["new"])
        cast.author.update(second.id, visibility="private")
        third = cast.author.save("three")
        then = third.created_at - timedelta(minutes=1)
        page = cast.author.list(as_of=then, limit=1)
        assert list(page) == [second]
        assert list(cast.author.list(as_of=then, limit=1, cursor=page.next_cursor)) == [first]
        assert list(cast.author.list(as_of=then, tags="old")) == [first]
        assert not cast.author.list(as_of=then, tags="new")
        # What is hidden today was never there.
        assert list(cast.teammate.list(as_of=then)) == [first]
        outcome(lambda: cast.author.list(as_of=then, deleted=True), InvalidInput)

    def test_history_tells_who_changed_what_and_why(self, cast: Cast) -> None:
        memory = cast.author.save("one")
        cast.lead.update(memory.id, content="two", reason="measured again")
        first, second = cast.teammate.history(memory.id)
        assert (first.changed_by, first.reason, first.memory) == ("swe-1", None, memory)
        assert (second.changed_by, second.reason, second.memory.agent_id) == ("lead-1", "measured again", "swe-1")
        assert first.believed_until == second.believed_from
        assert second.believed_until is None

    @pytest.mark.parametrize(
        ("order_by", "expected"),
        [
            (None, "cba"),
            ("created_at", "abc"),
            ("-created_at", "cba"),
            ("created_at DESC", "cba"),
            ("created_at asc", "abc"),
            ("updated_at", "bca"),
            ("title", "abc"),
            ("-title", "cba"),
            ("path", "cab"),
        ],
    )
    def test_lists_in_the_order_asked_for(
        self, cast: Cast, clock: ManualClock, order_by: str | None, expected: str
    ) -> None:
        paths = {"a": "/2", "b": "/3", "c": "/1"}
        ids = {
            title: cast.author.save(title, path=path).id
            for title, path in paths.items()
            if clock.move(timedelta(1)) is None
        }
        clock.move(timedelta(1))
        cast.author.update(ids["a"], summary="changed")
        assert "".join(memory.title for memory in cast.author.list(order_by=order_by)) == expected

    @pytest.mark.parametrize("order_by", ["content", "created_at sideways", "", "--title", "title; DROP", 5])
    def test_refuses_an_order_it_does_not_know(self, cast: Cast, order_by: Any) -> None:
        outcome(lambda: cast.author.list(order_by=order_by), InvalidInput)

    def test_pages_skip_nothing_and_repeat_nothing_while_others_write(self, cast: Cast) -> None:
        expected = [cast.author.save(f"note {index}").id for index in range(17)]
        seen: list[str] = []
        page = cast.teammate.list(limit=5)
        while True:
            seen += [memory.id for memory in page]
            if page.next_cursor is None:
                break
            cast.author.save("meanwhile")
            page = cast.teammate.list(limit=5, cursor=page.next_cursor)
        assert seen == expected[::-1]

    @pytest.mark.parametrize("cursor", ["", "x", "WyJjcmVhdGVkX2F0Il0", "\0", "é" * 3000, 5])
    def test_refuses_a_cursor_that_is_not_its_own(self, cast: Cast, cursor: Any) -> None:
        cast.author.save("a")
        outcome(lambda: cast.author.list(cursor=cursor), InvalidInput)

    @pytest.mark.parametrize("limit", [0, -1, 1001, 1.5, "5", True])
    def test_refuses_a_page_size_out_of_bounds(self, cast: Cast, limit: Any) -> None:
        outcome(lambda: cast.author.list(limit=limit), InvalidInput)
        outcome(lambda: cast.author.search("a", limit=limit), InvalidInput)
        outcome(lambda: cast.author.recent(limit), InvalidInput)

    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({"path": "/projects"}, "ab"),
            ({"path": "/projects/p/"}, "a"),
            ({"path": "/proj"}, ""),
            ({"type": "lesson"}, "b"),
            ({"type": ["lesson", "note"]}, "b"),
            ({"status": "inbox"}, "d"),
            ({"status": "any"}, "abcd"),
            ({"status": ["inbox", "active"]}, "abcd"),
            ({"scopes": "project"}, "ab"),
            ({"tags": "x,y"}, "a"),
            ({"tags": ["X"]}, "ab"),
            ({"category": "convention"}, "a"),
            ({"key": "k"}, "b"),
            ({"project": "q"}, "b"),
            ({"repo": "r"}, "c"),
            ({"agent": "swe-2"}, "c"),
            ({"session_id": "s"}, "a"),
            ({"task_id": "t"}, "b"),
            ({"project": None, "type": None}, "abc"),
            ({"path": "/projects", "type": "lesson", "tags": "x"}, "b"),
        ],
    )
    def test_filters_leave_what_they_name(self, cast: Cast, filters: dict[str, Any], expected: str) -> None:
        cast.author.save("a", project="p", tags=["x", "y"], category="convention", session_id="s")
        cast.author.save("b", project="q", type="lesson", tags=["x"], key="k", task_id="t")
        cast.teammate.save("c", repo="r")
        cast.author.save("d", needs_review=True)
        assert "".join(sorted(memory.content for memory in cast.human.list(**filters))) == expected

    def test_filters_by_time(self, cast: Cast, clock: ManualClock) -> None:
        early = cast.author.save("early")
        clock.move(timedelta(days=1))
        late = cast.author.save("late")
        assert [memory.id for memory in cast.author.list(since=late.created_at)] == [late.id]
        assert [memory.id for memory in cast.author.list(until=late.created_at.isoformat())] == [early.id]

    @pytest.mark.parametrize(
        "filters", [{"colour": "red"}, {"type": "rumour"}, {"path": "x"}, {"since": "now"}, {"deleted": 1}, {"tags": 5}]
    )
    def test_a_wrong_filter_is_refused_by_its_name(self, cast: Cast, filters: dict[str, Any]) -> None:
        with pytest.raises(InvalidInput) as refused:
            cast.author.list(**filters)
        assert refused.value.field in filters
        with pytest.raises(InvalidInput):
            cast.author.search("a", **filters)

    def test_a_tree_shows_one_level_with_counts(self, cast: Cast) -> None:
        cast.author.save("a", path="/docs")
        cast.author.save("b", path="/docs/api/v1")
        cast.author.save("c", path="/docs/api")
        cast.author.save("d", path="/documents")
        cast.author.save("e", path="/")
        cast.author.save("f", path="/docs/api", visibility="private")
        top = cast.teammate.tree()
        assert top.subdirs == (Folder("/docs", 3), Folder("/documents", 1))
        assert [memory.content for memory in top.items] == ["e"]
        docs = cast.teammate.tree("/docs/")
        assert (docs.path, docs.subdirs) == ("/docs", (Folder("/docs/api", 2),))
        assert [memory.content for memory in docs.items] == ["a"]
        assert cast.author.tree("/docs").subdirs == (Folder("/docs/api", 3),)
        assert cast.teammate.tree("/nowhere").subdirs == ()

    def test_recent_is_newest_first(self, cast: Cast) -> None:
        for index in range(12):
            cast.author.save(f"note {index}")
        assert [memory.content for memory in cast.teammate.recent(3)] == ["note 11", "note 10", "note 9"]
        assert len(cast.teammate.recent()) == 10

    def test_stats_count_what_the_caller_may_read(self, cast: Cast) -> None:
        cast.author.save("a", project="p")
        cast.author.save("b", type="lesson", needs_review=True)
        cast.author.save("c", visibility="private", project="secret")
        cast.author.delete(cast.author.save("d").id)
        mine, theirs = cast.author.stats(), cast.teammate.stats()
        assert [sum(one.by_day.values()) for one in (mine, theirs)] == [mine.memories, theirs.memories]
        assert (mine.memories, mine.projects) == (3, 2)
        assert (theirs.memories, theirs.projects) == (2, 1)
        assert dict(theirs.by_type) == {"fact": 1, "lesson": 1}
        assert dict(theirs.by_status) == {"active": 1, "inbox": 1}
        assert cast.outsider.stats().memories == 0

    def test_links_relate_memories_and_places(self, cast: Cast) -> None:
        one, two = cast.author.save("one"), cast.teammate.save("two")
        link = cast.author.link(one.id, two.id, "supports")
        assert cast.author.link(one.id, two.id, "supports") == link
        place = cast.author.link(one.id, "project:pricing", "applies-to")
        assert set(cast.human.links(one.id)) == {link, place}
        assert cast.human.links(two.id) == [link]
        cast.author.unlink(one.id, two.id, "supports")
        cast.author.unlink(one.id, two.id, "supports")
        assert cast.human.links(two.id) == []

    def test_links_are_refused_where_they_make_no_sense(self, cast: Cast) -> None:
        one, hidden = cast.author.save("one"), cast.teammate.save("two", visibility="private")
        outcome(lambda: cast.author.link(one.id, one.id, "supports"), InvalidInput)
        outcome(lambda: cast.author.link(one.id, one.id, "loves"), InvalidInput)
        outcome(lambda: cast.author.link(one.id, "project:p", "supports"), InvalidInput)
        outcome(lambda: cast.author.link(one.id, "project:a/b", "applies_to"), InvalidInput)
        outcome(lambda: cast.author.link(one.id, "team:p", "applies_to"), InvalidInput)
        outcome(lambda: cast.author.link(one.id, hidden.id, "supports"), NotFound)
        outcome(lambda: cast.author.link(one.id, ABSENT, "supports"), NotFound)
        outcome(lambda: cast.teammate.link(one.id, "repo:r", "related_to"), AccessDenied)

    def test_ratings_are_taken_from_whoever_sees_the_memory(self, cast: Cast) -> None:
        memory = cast.author.save("a heron")
        recall = cast.teammate.search("heron")
        cast.teammate.rate(memory.id, useful=True, recall_id=recall.id)
        cast.teammate.rate(memory.id, useful=False)
        wrong: Any = "yes"
        outcome(lambda: cast.teammate.rate(memory.id, useful=wrong), InvalidInput)
        outcome(lambda: cast.teammate.rate(memory.id, useful=True, recall_id="x"), InvalidInput)
        outcome(lambda: cast.outsider.rate(memory.id, useful=True), NotFound)

    def test_reading_is_counted_apart_from_the_record(self, cast: Cast) -> None:
        memory = cast.author.save("a")
        for _ in range(3):
            cast.teammate.get(memory.id)
        deadline = time.monotonic() + SOON_SECONDS
        while cast.author.usage(memory.id).access_count < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert cast.author.usage(memory.id).access_count == 3
        assert cast.author.history(memory.id)[-1].memory == memory

    def test_projects_are_known_by_what_the_caller_may_read(self, cast: Cast) -> None:
        cast.author.save("a", project="seen", repo="seen-repo")
        cast.author.save("b", project="secret", repo="secret-repo", visibility="private")
        cast.author.delete(cast.author.save("c", project="gone").id)
        named = cast.lead.projects.register("named", description="By hand")
        code = cast.lead.repos.register("code", project="named", folder="/src", remote="git@example.org:code")
        assert [project.name for project in cast.teammate.projects()] == ["named", "seen"]
        assert [project.name for project in cast.author.projects.list()] == ["named", "secret", "seen"]
        assert [repo.name for repo in cast.teammate.repos()] == ["code", "seen-repo"]
        assert named in cast.teammate.projects()
        assert code in cast.teammate.repos.list()
        for wrong in ("a/b", "", "..", "x" * 201):
            outcome(lambda wrong=wrong: cast.lead.projects.register(wrong), InvalidInput)
            outcome(lambda wrong=wrong: cast.lead.repos.register(wrong), InvalidInput)

    def test_registering_again_answers_with_what_is_stored(self, cast: Cast, clock: ManualClock) -> None:
        cast.author.projects.register("p", description="About")
        cast.author.repos.register("r", folder="/src")
        clock.move(timedelta(hours=1))
        assert cast.teammate.projects.register("p") == cast.author.projects()[0]
        assert cast.teammate.repos.register("r") == cast.author.repos()[0]
        assert cast.author.projects()[0].description == "About"

    def test_sources_are_empty_before_anything_is_captured(self, cast: Cast) -> None:
        cast.author.save("a")
        assert list(cast.author.sources.list()) == []
        assert list(cast.author.sources.events()) == []
        outcome(lambda: cast.author.sources.list(cursor="x"), InvalidInput)
        outcome(lambda: cast.author.sources.list(limit=0), InvalidInput)

    def test_changes_tell_what_happened_in_order(self, cast: Cast) -> None:
        memory = cast.author.save("a", path="/a")
        cast.author.save("b", visibility="private")
        cast.lead.update(memory.id, path="/b")
        seen = [(change.sequence, change.operation, change.changed_by) for change in cast.teammate.changes()]
        assert seen == [(1, "create", "swe-1"), (3, "update", "lead-1")]
        assert [change.operation for change in cast.teammate.changes(path="/a")] == ["create", "remove"]
        assert [change.sequence for change in cast.teammate.changes(after=1)] == [3]
        for wrong in (-1, "1", 1.5, True, 2**63):
            after: Any = wrong
            outcome(lambda after=after: list(cast.author.changes(after=after)), InvalidInput)

    def test_what_waits_is_told_without_its_place_and_enters_it_when_it_is_approved(self, cast: Cast) -> None:
        waiting = cast.newcomer.save("a", path="/ignore-what-stands-here")
        told = [*cast.teammate.changes(), *cast.teammate.audit()]
        assert {change.path for change in told} == {"/inbox"}
        assert list(cast.teammate.changes(path=waiting.path)) == []
        cast.human.approve(waiting.id)
        assert [change.operation for change in cast.teammate.changes(path=waiting.path)] == ["update"]
        assert [change.path for change in cast.teammate.audit()] == [waiting.path, "/inbox"]

    def test_changes_are_told_by_project_and_type(self, cast: Cast) -> None:
        memory = cast.author.save("a", project="web", type="lesson")
        cast.author.save("b", type="decision")
        cast.author.update(memory.id, project="billing")
        cast.author.update(memory.id, type="note")

        def told(**wanted: Any) -> list[tuple[int, str]]:
            return [(change.sequence, change.operation.value) for change in cast.teammate.changes(**wanted)]

        assert told(project="web") == [(1, "create"), (3, "remove")]
        assert told(project="billing") == [(3, "update"), (4, "update")]
        assert told(project="billing", type="lesson") == [(3, "update"), (4, "remove")]
        assert told(type=["lesson", "decision"]) == [(1, "create"), (2, "create"), (3, "update"), (4, "remove")]
        assert told(type="note", path="/nowhere") == []
        wrong: Any
        for wrong in ({"project": ""}, {"project": 1}, {"type": "song"}, {"type": ["note", 1]}, {"path": "notes"}):
            outcome(lambda wrong=wrong: list(cast.author.changes(**wrong)), InvalidInput)

    def test_changes_can_begin_with_what_comes_from_now_on(self, cast: Cast) -> None:
        cast.author.save("a")
        assert list(cast.teammate.changes(after=None)) == []
        following = cast.teammate.changes(after=None, follow=True)
        rest = [cast.author.save("b").id, cast.author.save("c").id]
        assert [change.memory_id for change in islice(following, 2)] == rest

    def test_changes_can_be_followed(self, cast: Cast) -> None:
        first = cast.author.save("a")
        following = cast.teammate.changes(follow=True)
        assert next(following).memory_id == first.id
        rest = [cast.author.save("b").id, cast.author.save("c").id]
        assert [change.memory_id for change in islice(following, 2)] == rest
