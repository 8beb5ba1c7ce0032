"""What every store promises about what stands around memories: requests, links, places, views, sources, purging."""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from mycel.contracts.memory_store import Rating, Request
from mycel.contracts.store import Store, Transaction
from mycel.domain.ids import MemberId, MemoryId, SourceId, new_id
from mycel.domain.inbox import Claim, Snoozes
from mycel.domain.link import Link, Relation
from mycel.domain.memory import (
    EvidenceRef,
    Memory,
    SourceRef,
    Visibility,
)
from mycel.domain.place import Project, Repo, SavedView
from mycel.domain.query import Filters, Order
from mycel.domain.receipt import Erasure
from mycel.domain.search_request import Signals
from mycel.services import erasure
from mycel.testing.clock import ManualClock
from mycel.testing.store_samples import (
    ANY_STATUS,
    AUTHOR,
    EVERYTHING,
    START,
    TEAMMATE,
    a_source,
    an_event,
    change,
    delete,
    found_by_word,
    purge,
    put,
    reader,
    restore,
)

HOUR = timedelta(hours=1)
ANYTHING = Filters()


def signals_of(store: Store, memory: Memory) -> Signals:
    number = store.index.find_number(reader(TEAMMATE), memory.id)
    assert number is not None
    assert store.index.numbers(reader(TEAMMATE), [memory.id]) == {memory.id: number}
    signals = store.index.signals(reader(TEAMMATE), [number])[number]
    loaded, with_it = store.index.load_with_signals(reader(TEAMMATE), [number], filters=ANY_STATUS)[number]
    assert (loaded.id, with_it) == (memory.id, signals)
    return signals


class StoreSurroundings:
    """Needs the fixtures `store` and `clock`."""

    def test_remembers_a_request_for_seven_days(self, store: Store, clock: ManualClock) -> None:
        request = Request(AUTHOR, "save", "key-1", "hash", put(store).id, 1)
        store.transact(lambda transaction: transaction.requests.remember(request))

        def known(member: str = AUTHOR, operation: str = "save") -> Request | None:
            return store.transact(
                lambda transaction: transaction.requests.find(type(AUTHOR)(member), operation, "key-1")
            )

        assert known() == request
        assert known(TEAMMATE) is None
        assert known(operation="update") is None
        clock.move(timedelta(days=7, seconds=-1))
        assert known() == request
        clock.move(timedelta(seconds=2))
        assert known() is None
        store.transact(lambda transaction: transaction.requests.remember(request))
        assert known() == request

    def test_links_show_at_both_ends_until_removed(self, store: Store) -> None:
        one, two = put(store, "one"), put(store, "two")
        link = Link(one.id, two.id, Relation.SUPPORTS, AUTHOR, START)
        place = Link(one.id, "project:pricing", Relation.APPLIES_TO, AUTHOR, START)
        for made in (link, place):
            later = replace(made, created_by=TEAMMATE)
            assert store.transact(lambda transaction, made=made: transaction.links.add(made, origin=one)) == made
            assert store.transact(lambda transaction, later=later: transaction.links.add(later, origin=one)) == made
        assert set(store.links.of(reader(), one.id)) == {link, place}
        assert store.links.of(reader(), two.id) == [link]
        assert store.transact(lambda transaction: transaction.links.remove(link, origin=one)) is True
        assert store.transact(lambda transaction: transaction.links.remove(link, origin=one)) is False
        assert store.links.of(reader(), two.id) == []

    def test_links_to_what_is_deleted_are_not_listed(self, store: Store) -> None:
        one, two = put(store, "one"), put(store, "two")
        link = Link(one.id, two.id, Relation.SUPPORTS, AUTHOR, START)
        store.transact(lambda transaction: transaction.links.add(link, origin=one))
        delete(store, two.id)
        assert store.links.of(reader(), one.id) == []
        restore(store, two.id)
        assert store.links.of(reader(), one.id) == [link]

    def test_places_are_known_once_mentioned_or_registered(self, store: Store) -> None:
        put(store, project_id="mentioned", repo_id="mentioned-repo")
        project, repo = Project("named", "about it", START), Repo("code", "named", "/src", "git@example.org:x", START)
        store.transact(lambda transaction: transaction.places.register_project(project))
        store.transact(lambda transaction: transaction.places.register_repo(repo))
        store.transact(lambda transaction: transaction.places.register_project(Project("named", None, START + HOUR)))
        assert [found.name for found in store.places.projects(reader())] == ["mentioned", "named"]
        assert project in store.places.projects(reader())
        assert [found.name for found in store.places.repos(reader())] == ["code", "mentioned-repo"]
        assert repo in store.places.repos(reader())

    def test_views_belong_to_one_member(self, store: Store) -> None:
        view = SavedView("mine", "node", {"type": ["fact"], "since": "2026-01-01T00:00:00+00:00"}, START)
        store.transact(lambda transaction: transaction.places.save_view(AUTHOR, view))
        renewed = replace(view, query="deno")
        store.transact(lambda transaction: transaction.places.save_view(AUTHOR, renewed))
        assert store.places.views(reader()) == [renewed]
        assert store.places.views(reader(TEAMMATE)) == []
        assert store.transact(lambda transaction: transaction.places.delete_view(TEAMMATE, "mine")) is False
        assert store.transact(lambda transaction: transaction.places.delete_view(AUTHOR, "mine")) is True
        assert store.places.views(reader()) == []

    def test_one_member_looks_at_a_candidate_and_each_puts_off_its_own(self, store: Store) -> None:
        first, second = put(store).id, put(store).id

        def claimed(id: MemoryId, by: MemberId, *, at: datetime = START) -> MemberId:
            claim = Claim(id, by, at + HOUR)
            return store.transact(lambda transaction: transaction.reviews.claim(claim, at=at)).member_id

        assert claimed(first, AUTHOR) == AUTHOR
        assert claimed(first, TEAMMATE) == AUTHOR
        assert claimed(first, TEAMMATE, at=START + HOUR) == TEAMMATE
        assert claimed(second, TEAMMATE, at=START + HOUR) == TEAMMATE
        assert list(store.reviews.claims([first, second], at=START + HOUR)) == [second]
        assert store.reviews.claims([second], at=START + 2 * HOUR) == {}
        store.transact(lambda transaction: transaction.reviews.snooze(AUTHOR, first, until=START + HOUR))
        assert store.reviews.snoozes(AUTHOR, [first, second], at=START) == {first: START + HOUR}
        assert store.reviews.snoozes(TEAMMATE, [first], at=START) == {}
        assert store.reviews.snoozes(AUTHOR, [first], at=START + HOUR) == {}
        left = replace(ANYTHING, snoozes=Snoozes(AUTHOR, START, are_left_out=True))
        asleep = replace(left, snoozes=Snoozes(AUTHOR, START, are_left_out=False))
        assert [one.id for one in store.memories.page(reader(), left, order=Order(), limit=9)] == [second]
        assert [one.id for one in store.memories.page(reader(), asleep, order=Order(), limit=9)] == [first]
        store.transact(lambda transaction: transaction.reviews.snooze(AUTHOR, first, until=None))
        store.transact(lambda transaction: transaction.reviews.forget(second))
        assert store.memories.count(reader(), left) == 2
        assert store.reviews.claims([first, second], at=START) == {}

    def test_sources_and_events_are_listed_newest_first(self, store: Store) -> None:
        sources = [a_source(f"text {index}") for index in range(5)]
        events = [an_event(source) for source in sources]

        def work(transaction: Transaction) -> None:
            for source, event in zip(sources, events, strict=True):
                transaction.sources.add(source)
                transaction.queue.add(event)

        store.transact(work)
        first = store.sources.page(reader(), limit=3, cursor=None)
        rest = store.sources.page(reader(), limit=3, cursor=first.next_cursor)
        assert [entry.id for entry in (*first, *rest)] == [source.id for source in sources[::-1]]
        entry = first.items[0]
        assert not hasattr(entry, "text")
        assert {name: getattr(sources[-1], name) for name in entry.__slots__} == {
            name: getattr(entry, name) for name in entry.__slots__
        }
        assert rest.next_cursor is None
        assert store.sources.find(reader(), sources[0].id) == sources[0]
        assert store.sources.find(reader(), SourceId(new_id())) is None
        assert list(store.queue.page(reader(), limit=2)) == events[:2:-1]

    def test_a_source_follows_the_strictest_memory_made_from_it(self, store: Store) -> None:
        source, own_event, sourceless = a_source(), an_event(None), an_event(None, agent_id=TEAMMATE)
        store.transact(lambda transaction: transaction.sources.add(source))
        store.transact(lambda transaction: transaction.queue.add(an_event(source)))
        store.transact(lambda transaction: transaction.queue.add(own_event))
        store.transact(lambda transaction: transaction.queue.add(sourceless))
        assert store.sources.find(reader(TEAMMATE), source.id) == source
        put(store, visibility=Visibility.PRIVATE, source_ref=SourceRef(source.id))
        assert store.sources.find(reader(TEAMMATE), source.id) is None
        assert list(store.sources.page(reader(TEAMMATE), limit=9, cursor=None)) == []
        assert list(store.queue.page(reader(TEAMMATE), limit=9)) == [sourceless]
        assert store.sources.find(reader(), source.id) == source

    def test_purging_leaves_nothing_to_find(self, store: Store) -> None:
        source = a_source("We agreed on Node 22.")
        store.transact(lambda transaction: transaction.sources.add(source))
        memory = put(store, "a heron", tags=("t",), source_ref=SourceRef(source.id))
        change(store, memory.id, content="a stork")
        other = put(store, "other")
        link = Link(other.id, memory.id, Relation.SUPPORTS, AUTHOR, START)
        store.transact(lambda transaction: transaction.links.add(link, origin=other))
        request = Request(AUTHOR, "save", "key-1", "hash", memory.id, 1)
        store.transact(lambda transaction: transaction.requests.remember(request))
        receipt = store.transact(lambda transaction: erasure.purge(transaction, memory, by=TEAMMATE))
        assert (receipt.memory_id, receipt.purged_by, receipt.state) == (memory.id, TEAMMATE, Erasure.LOGICAL)
        assert (
            store.transact(lambda transaction: transaction.memories.find(EVERYTHING, memory.id, deleted=True)) is None
        )
        assert store.memories.versions(EVERYTHING, memory.id) == []
        assert store.links.of(EVERYTHING, other.id) == []
        assert found_by_word(store, "heron") | found_by_word(store, "stork") == set()
        asked = store.transact(lambda transaction: transaction.requests.find(AUTHOR, "save", "key-1"))
        assert asked == replace(request, request_hash="")
        blanked = store.sources.find(EVERYTHING, source.id)
        assert blanked is not None
        assert "Node" not in blanked.text
        assert store.files.check() == []

    def test_purging_blanks_only_its_own_evidence_in_a_shared_source(self, store: Store) -> None:
        source = a_source("We agreed on Node 22 and on tabs.")
        store.transact(lambda transaction: transaction.sources.add(source))
        node = put(store, source_ref=SourceRef(source.id), evidence_ref=EvidenceRef(source.id, 13, 20))
        put(store, source_ref=SourceRef(source.id), evidence_ref=EvidenceRef(source.id, 28, 32))
        purge(store, node.id)
        left = store.sources.find(reader(), source.id)
        assert left is not None
        assert left.text[28:32] == "tabs"
        assert "Node" not in left.text
        assert len(left.text) == len(source.text)

    def test_authors_do_not_speak_for_their_own(self, store: Store) -> None:
        memory, own, other = put(store), put(store), put(store, agent_id=TEAMMATE)
        links = [(start, relation) for start in (own, other) for relation in Relation]

        def speak(transaction: Transaction, who: MemberId) -> None:
            transaction.memories.rate(Rating(memory.id, who, useful=True, recall_id=None))
            for start, relation in links:
                transaction.links.add(Link(start.id, memory.id, relation, who, START), origin=start)

        store.transact(lambda transaction: speak(transaction, AUTHOR))
        store.recalls.count_access([memory.id], by=AUTHOR, at=START)
        store.recalls.that_found(AUTHOR, memory.id, limit=1)
        assert signals_of(store, memory) == Signals()

    def test_everybody_has_one_voice(self, store: Store) -> None:
        memory = put(store)
        others = [put(store, agent_id=TEAMMATE) for _ in range(3)]

        def speak(transaction: Transaction) -> None:
            transaction.memories.rate(Rating(memory.id, TEAMMATE, useful=True, recall_id=None))
            for other in others:
                transaction.links.add(Link(other.id, memory.id, Relation.SUPPORTS, TEAMMATE, START), origin=other)

        store.transact(speak)
        store.recalls.count_access([memory.id], by=TEAMMATE, at=START)
        store.recalls.that_found(AUTHOR, memory.id, limit=1)
        assert signals_of(store, memory) == Signals(access_count=1, last_accessed_at=START, useful=1)

    def test_it_is_known_whether_others_wrote(self, store: Store) -> None:
        assert not store.index.has_other_authors(AUTHOR)
        put(store)
        assert not store.index.has_other_authors(AUTHOR)
        assert store.index.has_other_authors(TEAMMATE)
        put(store, agent_id=TEAMMATE)
        assert store.index.has_other_authors(AUTHOR)

    def test_words_of_an_earlier_analyser_are_made_again(self, store: Store) -> None:
        """Only what a store was left by an earlier version is: `tests/services/test_outdated_words.py` makes some."""
        put(store)
        assert not store.index.has_outdated()
        assert store.transact(lambda transaction: transaction.memories.renew_words(limit=10)) == 0

    def test_the_revision_of_searches_changes_with_whatever_they_depend_on(self, store: Store) -> None:
        memory = put(store, expires_at=START + HOUR)
        other = put(store)
        link = Link(memory.id, other.id, Relation.SUPPORTS, AUTHOR, START)
        before = store.index.standing(EVERYTHING, START).revision
        steps: dict[str, Callable[[], object]] = {
            "a new one": lambda: put(store),
            "a change": lambda: change(store, memory.id, content="The build needs Node 24."),
            "a deletion": lambda: delete(store, other.id),
            "its end": lambda: restore(store, other.id),
            "a link": lambda: store.transact(lambda writing: writing.links.add(link, origin=memory)),
            "a rating": lambda: _rate(store, other, useful=True),
            "another rating": lambda: _rate(store, other, useful=False),
            "a first reading": lambda: _read(store, other),
            "another reading": lambda: _read(store, other),
            "a purge": lambda: purge(store, other.id),
        }
        for name, step in steps.items():
            assert store.index.standing(EVERYTHING, START).revision == before, f"before {name}"
            step()
            after = store.index.standing(EVERYTHING, START).revision
            assert after != before, name
            before = after
        assert store.index.standing(EVERYTHING, START + HOUR / 2).revision == before
        assert store.index.standing(EVERYTHING, START + HOUR).revision != before


def _rate(store: Store, memory: Memory, *, useful: bool) -> None:
    rating = Rating(memory.id, TEAMMATE, useful=useful, recall_id=None)
    store.transact(lambda transaction: transaction.memories.rate(rating))


def _read(store: Store, memory: Memory) -> None:
    store.recalls.count_access([memory.id], by=TEAMMATE, at=START)
    # Asked about, it is written at once.
    store.recalls.that_found(AUTHOR, memory.id, limit=1)
