"""What every store promises about erasure, and about what was made from a source."""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from mycel.contracts.engine_store import Quote
from mycel.contracts.store import Store, Transaction
from mycel.domain.cascade import Cascade, Direction, armed_again
from mycel.domain.change import Audience
from mycel.domain.ids import MemoryId, new_id
from mycel.domain.memory import EvidenceRef, MadeBy, Memory, SourceKind, SourceRef, Status, Visibility
from mycel.domain.receipt import PurgedPassage
from mycel.domain.source import EventState, Source, Step
from mycel.testing.clock import ManualClock
from mycel.testing.store_samples import (
    AUTHOR,
    EVERYTHING,
    START,
    TEAMMATE,
    a_source,
    an_event,
    change,
    delete,
    found_by_word,
    put,
    reader,
)

PASSAGE = PurgedPassage(3, 12, b"k" * 16, b"d" * 16)


def add(store: Store, source: Source) -> Source:
    store.transact(lambda transaction: transaction.sources.add(source))
    return source


def drawn(store: Store, source: Source, start: int, end: int, content: str = "quoted") -> Memory:
    return put(store, content, evidence_ref=EvidenceRef(source.id, start, end))


class StoreErasure:
    """Needs the fixtures `store` and `clock`."""

    def test_a_memory_knows_what_it_and_its_versions_were_drawn_from(self, store: Store) -> None:
        source, whole = add(store, a_source("One. Two. Three.")), add(store, a_source("Another."))
        memory, other = drawn(store, source, 0, 4, "one"), drawn(store, source, 5, 9)
        change(store, memory.id, evidence_ref=None, source_ref=SourceRef(whole.id), content="two")
        quotes = store.sources.quoted_by(memory.id)
        assert sorted(quotes, key=lambda quote: quote.content) == [
            Quote(source.id, EvidenceRef(source.id, 0, 4), "one"),
            Quote(whole.id, None, "two"),
        ]
        assert store.sources.other_evidence(source.id, memory.id) == [other.evidence_ref]
        assert store.sources.other_evidence(whole.id, other.id) == [None]

    def test_a_blanked_source_has_no_hash_and_is_as_hidden_as_it_was_made(self, store: Store) -> None:
        source = add(store, a_source("We agreed on Node 22.", title="Node 22"))
        private = Audience(Visibility.PRIVATE, AUTHOR)

        def work(transaction: Transaction) -> None:
            transaction.sources.blank(source.id, "#" * len(source.text), title=None)
            transaction.sources.restrict(source.id, private)

        store.transact(work)
        found = store.sources.find(reader(), source.id)
        assert found is not None
        assert (found.text, found.title, found.sha256) == ("#" * 21, None, "")
        assert found.visibility is Visibility.PRIVATE
        assert store.sources.find(reader(TEAMMATE), source.id) is None

    def test_a_purged_passage_is_known_to_reports_of_the_same_session(self, store: Store) -> None:
        source = add(store, a_source(session_id="s-1"))

        def work(transaction: Transaction) -> None:
            assert transaction.sources.passage_key(source.id) is None
            transaction.sources.add_passages(source.id, [PASSAGE])
            transaction.sources.add_passages(source.id, [PASSAGE])
            assert transaction.sources.passage_key(source.id) == PASSAGE.key
            assert transaction.sources.has_passage(source.id, PASSAGE.digest)
            assert not transaction.sources.has_passage(source.id, b"other")

        store.transact(work)
        assert list(store.sources.purged_passages(a_source(session_id="s-1"))) == [PASSAGE]
        assert list(store.sources.purged_passages(a_source(session_id="s-2"))) == []
        assert list(store.sources.purged_passages(a_source(session_id="s-1", agent_id=TEAMMATE))) == []

    def test_erasing_a_memory_leaves_its_source_and_a_receipt(self, store: Store) -> None:
        source = add(store, a_source())
        memory = drawn(store, source, 0, 2, "heron")
        change(store, memory.id, content="egret")
        receipt = store.transact(lambda transaction: transaction.memories.erase(memory, by=TEAMMATE))
        assert store.memories.find_receipt(memory.id) == receipt
        assert store.memories.find(EVERYTHING, memory.id, deleted=True) is None
        assert store.memories.versions(EVERYTHING, memory.id, deleted=True) == []
        assert found_by_word(store, "heron") == found_by_word(store, "egret") == set()
        assert store.sources.find(reader(), source.id) == source

    def test_that_a_memory_was_purged_is_told_to_those_who_saw_it(self, store: Store) -> None:
        shared, private = put(store, "heron"), put(store, "egret", visibility=Visibility.PRIVATE)
        for memory in (shared, private):
            assert not store.memories.was_purged(reader(), memory.id)
            store.transact(lambda transaction, one=memory: transaction.memories.erase(one, by=TEAMMATE))
        told = [
            [store.memories.was_purged(reader(who), memory.id) for memory in (shared, private)]
            for who in (AUTHOR, TEAMMATE)
        ]
        assert told == [[True, True], [True, False]]

    def test_past_versions_say_what_they_are_redacted_to(self, store: Store) -> None:
        memory = put(store, "heron", rationale="It is a heron.", alternatives=("a heron", "an egret"))
        now = change(store, memory.id, content="egret", by=TEAMMATE)
        clean = replace(memory, title="[purged]", content="[purged]", rationale="[purged]", alternatives=("[purged]",))
        store.transact(lambda transaction: transaction.memories.redact_versions([clean]))
        assert [version.memory for version in store.memories.versions(reader(), memory.id)] == [clean, now]
        assert store.memories.changed_last_by(memory.id) == TEAMMATE
        assert store.memories.changed_last_by(MemoryId(new_id())) is None

    def test_all_that_was_made_from_a_source_deleted_or_not(self, store: Store) -> None:
        source = add(store, a_source())
        first, second = (
            put(store, made_by=made_by, source_ref=SourceRef(source.id))
            for made_by in (MadeBy.SESSION_SUMMARY, MadeBy.EXTRACTION)
        )
        delete(store, first.id)
        assert store.memories.made_from(EVERYTHING, source.id) == [second]
        found = store.memories.made_from(EVERYTHING, source.id, deleted=True)
        assert [memory.id for memory in found] == [first.id, second.id]

    def test_a_later_state_of_a_file_knows_the_earlier_one_and_what_stands_of_it(self, store: Store) -> None:
        file = {"kind": SourceKind.DOCUMENT, "uri": "notes.md"}
        old = add(store, a_source("old", **file))
        indexed = put(store, made_by=MadeBy.FILE_INDEX, source_ref=SourceRef(old.id))
        new = a_source("new", **file)
        assert store.sources.find_document(new, shared=False) == old
        assert store.sources.find_document(replace(new, agent_id=TEAMMATE), shared=False) is None
        assert store.sources.find_document(replace(new, agent_id=TEAMMATE), shared=True) == old
        assert store.memories.indexed_from(EVERYTHING, new, shared=False) == [indexed]

    def test_a_source_is_known_by_its_thread_and_how_far_it_was_read(self, store: Store) -> None:
        source = add(store, a_source(thread_id="t-1", title="About Node"))
        assert store.sources.find_thread_title(reader(), "t-1") == "About Node"
        assert store.sources.find_thread_title(reader(), "t-2") is None
        assert store.sources.is_growing(a_source("more", thread_id="t-1"))
        assert not store.sources.is_growing(a_source("more", thread_id="t-2"))
        assert store.sources.is_still_so(source)
        store.transact(lambda transaction: transaction.sources.set_extracted(source.id, 5))
        assert not store.sources.is_still_so(source)

    def test_waiting_by_key_and_forgotten_memories(self, store: Store, clock: ManualClock) -> None:
        waiting = put(store, key="node", status=Status.INBOX)
        assert store.memories.find_waiting_by_key(reader(), waiting) == waiting
        assert store.memories.find_waiting_by_key(reader(), replace(waiting, agent_id=TEAMMATE)) is None
        change(store, put(store).id, status=Status.ARCHIVED)
        gone = delete(store, put(store).id)
        clock.move(timedelta(days=1))
        found = store.memories.forgotten(EVERYTHING, before=clock.now(), limit=9)
        assert gone in found
        assert len(found) == 2

    def test_an_event_of_a_cascade_is_armed_as_the_rule_says(self, store: Store) -> None:
        memory = put(store)
        done = an_event(None, steps=(Step.DELIVER,), state=EventState.DONE, tries=2)
        cascade = Cascade(
            memory_id=memory.id, event_id=done.id, direction=Direction.DOWN, started_by=AUTHOR, started_at=START
        )

        def begin(transaction: Transaction) -> None:
            transaction.queue.add(done)
            transaction.cascades.put(cascade)
            assert transaction.cascades.events() == [done]

        store.transact(begin)
        change(store, memory.id, content="two")
        armed = store.queue.find(EVERYTHING, done.id)
        assert armed is not None
        assert armed.due_at is not None
        assert armed == armed_again(done, due_at=armed.due_at)

    def test_the_team_s_own_event_that_was_given_up_is_known(self, store: Store) -> None:
        dead = an_event(None, steps=(Step.MAINTAIN,), state=EventState.DEAD)
        store.transact(lambda transaction: transaction.queue.add(dead))
        assert store.queue.gave_up_since(Step.MAINTAIN, START - timedelta(days=1))
        assert not store.queue.gave_up_since(Step.MAINTAIN, START + timedelta(seconds=1))
        assert not store.queue.gave_up_since(Step.CONSOLIDATE, START - timedelta(days=1))
