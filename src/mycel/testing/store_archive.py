"""What every store promises about archives, and about the care of its files."""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from mycel.contracts.store import Store, Transaction
from mycel.contracts.tables import Row, Table, Take
from mycel.domain.archive import BackupNote, MemoryRecord, Record, Standing, Tombstone
from mycel.domain.ids import MemoryId, new_id
from mycel.domain.link import Link, Relation
from mycel.domain.memory import Version
from mycel.domain.place import Project, Repo
from mycel.errors import Conflict, NotFound
from mycel.retrieval.terms import packed_terms
from mycel.testing.store_samples import (
    AUTHOR,
    EVERYTHING,
    START,
    TEAM,
    TEAMMATE,
    a_source,
    an_event,
    change,
    delete,
    found_by_word,
    purge,
    put,
    reader,
    sample,
)

PROJECT = Project("web", "the site", START)
REPO = Repo("site", "web", "site/", None, START)


def records_of(store: Store) -> list[Record]:
    found: list[Record] = []
    store.archive.read(EVERYTHING, found.append)
    return found


def standing_of(store: Store, record: MemoryRecord) -> Standing:
    return store.transact(lambda transaction: transaction.archive.standing(EVERYTHING, record))


def take(store: Store, record: MemoryRecord) -> None:
    def work(transaction: Transaction) -> None:
        present = transaction.archive.standing(EVERYTHING, record).present
        words = packed_terms(record.present.memory)
        before = present and present.memory
        transaction.archive.put_memory(record, words, by=AUTHOR, before=before)

    store.transact(work)


class StoreArchive:
    """Needs the fixture `store`."""

    def test_everything_comes_out_after_what_it_refers_to(self, store: Store) -> None:
        source = a_source()
        event = an_event(source)

        def fill(transaction: Transaction) -> None:
            transaction.places.register_project(PROJECT)
            transaction.places.register_repo(REPO)
            transaction.sources.add(source)
            transaction.queue.add(event)

        store.transact(fill)
        one, other = put(store, "one"), put(store, "other")
        later = change(store, one.id, content="later")
        link = Link(one.id, other.id, Relation.SUPPORTS, AUTHOR, START)
        store.transact(lambda transaction: transaction.links.add(link, origin=one))
        delete(store, other.id)
        gone = put(store)
        purge(store, gone.id)
        stone, *plain, first, second, last = records_of(store)
        assert isinstance(stone, Tombstone)
        assert stone.memory_id == gone.id
        assert plain == [PROJECT, REPO, source, event]
        assert isinstance(first, MemoryRecord)
        assert isinstance(second, MemoryRecord)
        assert (first.present.memory, [past.memory for past in first.past]) == (later, [one])
        assert second.present.memory.id == other.id
        assert last == link

    def test_all_rows_come_out_and_take_the_place_of_others(self, store: Store) -> None:
        kept = put(store, "heron", tags=("bird",))
        change(store, kept.id, content="egret")
        parts: list[tuple[Table, Sequence[Row]]] = []
        store.tables.read(lambda table, rows: parts.append((table, rows)))
        size = store.tables.count()
        assert size == sum(len(rows) for _, rows in parts)
        put(store, "otter")
        assert store.tables.count() > size

        def read(take: Take) -> None:
            for part in parts:
                take(*part)

        store.tables.replace(read)
        assert store.tables.count() == size
        assert [version.memory.content for version in store.memories.versions(reader(), kept.id)] == ["heron", "egret"]
        sequence = store.log.last_sequence()
        later = put(store, "crane")
        assert store.log.last_sequence() == sequence + 1
        assert (found_by_word(store, "otter"), found_by_word(store, "crane")) == (set(), {later.id})

    def test_rows_that_do_not_all_arrive_leave_what_was_there(self, store: Store) -> None:
        kept = put(store, "heron")

        def read(take: Take) -> None:
            raise Conflict("cut off")

        with pytest.raises(Conflict, match="cut off"):
            store.tables.replace(read)
        assert store.memories.find(reader(), kept.id) == kept

    def test_a_memory_is_put_as_it_is_with_its_past(self, store: Store) -> None:
        past = sample("heron", tags=("bird",))
        now = replace(past, version=2, content="egret")
        record = MemoryRecord(
            Version(now, START, None, TEAMMATE, "it moved on"), (Version(past, START, START, AUTHOR, None),)
        )
        assert standing_of(store, record) == Standing(None)
        take(store, record)
        assert standing_of(store, record) == Standing(record.present, frozenset({1}))
        assert store.memories.find(reader(), now.id) == now
        assert found_by_word(store, "egret") == {now.id}
        assert records_of(store) == [record]
        third, stood = replace(now, version=3, content="otter", tags=()), replace(record.present, believed_until=START)
        take(store, MemoryRecord(Version(third, START, None, AUTHOR, None), (*record.past, stood)))
        assert [version.memory for version in store.memories.versions(reader(), now.id)] == [past, now, third]
        assert (found_by_word(store, "egret"), found_by_word(store, "otter")) == (set(), {now.id})

    def test_tells_who_has_the_key_and_what_was_purged(self, store: Store) -> None:
        put(store, key="node")
        rival = MemoryRecord(Version(sample(key="node"), START, None, AUTHOR, None))
        assert standing_of(store, rival) == Standing(None, is_key_taken=True)
        gone = put(store)
        purge(store, gone.id)
        record = MemoryRecord(Version(gone, START, None, AUTHOR, None))
        assert standing_of(store, record) == Standing(None, is_purged=True)

    def test_a_tombstone_from_elsewhere_is_a_receipt(self, store: Store) -> None:
        stone = Tombstone(
            id=new_id(), memory_id=MemoryId(new_id()), purged_by=TEAMMATE, purged_at=START, memory_created_at=START
        )

        def work(transaction: Transaction) -> tuple[bool, bool]:
            was_known = transaction.archive.is_known(stone)
            transaction.archive.put_tombstone(stone)
            return was_known, transaction.archive.is_known(stone)

        assert store.transact(work) == (False, True)
        receipt = store.memories.find_receipt(stone.memory_id)
        assert receipt is not None
        assert receipt.purged_by == TEAMMATE

    def test_a_tombstone_takes_the_place_of_a_receipt_that_is_here(self, store: Store) -> None:
        gone = put(store)
        purge(store, gone.id)
        [made_here] = store.archive.tombstones()
        given = replace(made_here, id=new_id(), purged_by=TEAMMATE)
        store.transact(lambda transaction: transaction.archive.put_tombstone(given))
        assert store.archive.tombstones() == [given]
        assert store.archive.passages() == []

    def test_a_receipt_names_the_backups_that_may_hold_the_memory(self, store: Store) -> None:
        long_ago, before, after = (START + timedelta(hours=hours) for hours in (-2, -1, 1))
        notes = [
            BackupNote("/ended-before", long_ago, before),
            BackupNote("/under-way", before, None),
            BackupNote("/with", before, after),
        ]
        memory = put(store, created_at=START)
        purge(store, memory.id)

        def work(transaction: Transaction) -> None:
            for note in (*notes, BackupNote("/removed", before, after)):
                transaction.archive.put_backup_note(note)
            transaction.archive.forget_backup("/removed")

        store.transact(work)
        assert store.archive.backup_notes() == notes
        receipt = store.memories.find_receipt(memory.id)
        assert receipt is not None
        assert set(receipt.held_by_backups) == {"/under-way", "/with"}

    def test_knows_what_was_registered_by_hand_and_which_links_stand(self, store: Store) -> None:
        memory = put(store, project_id="mentioned")
        link = Link(memory.id, "project:web", Relation.RELATED_TO, AUTHOR, START)

        def work(transaction: Transaction) -> None:
            assert transaction.places.find_project("web") is transaction.places.find_repo("site") is None
            assert transaction.links.find_same(link) is None
            transaction.places.register_project(PROJECT)
            transaction.places.register_repo(REPO)
            transaction.links.add(link, origin=memory)
            assert transaction.places.find_project("web") == PROJECT
            assert transaction.places.find_project("mentioned") is None
            assert transaction.places.find_repo("site") == REPO
            assert transaction.links.find_same(replace(link, created_by=TEAMMATE)) == link

        store.transact(work)

    def test_a_sound_store_can_be_read_and_goes_by_its_team(self, store: Store) -> None:
        put(store)
        assert store.files.name == TEAM
        assert store.files.is_readable()
        assert not store.files.is_damaged
        assert store.files.damage() is None
        assert store.files.damaged_rows is None
        assert store.files.find_damaged_rows() == []

    def test_a_sound_memory_is_absent_or_as_it_was(self, store: Store) -> None:
        memory = put(store)
        assert type(store.memories.absence(reader(), MemoryId("0"))) is NotFound
        mended = store.transact(lambda transaction: transaction.memories.get_mended(reader(), memory.id))
        assert mended.content == memory.content
