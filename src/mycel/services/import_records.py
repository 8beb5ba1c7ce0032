"""Records of an archive into a store, as they are, unless something there stands against it."""

from __future__ import annotations

from collections.abc import Callable

from mycel.access.scope import ReadScope
from mycel.contracts.store import Transaction
from mycel.domain.archive import MemoryRecord, Record, SourcePassage, Taken, Tombstone, weigh_memory, weigh_same
from mycel.domain.ids import MemberId
from mycel.domain.link import Link
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.place import Project, Repo
from mycel.domain.receipt import PurgedPassage
from mycel.domain.source import IngestionEvent, Source
from mycel.retrieval.terms import packed_terms


def take_record(
    transaction: Transaction,
    scope: ReadScope,
    record: Record,
    *,
    by: MemberId,
    words: PackedTerms | None = None,
    dry_run: bool = False,
) -> Taken:
    """With its id and times; the same record twice is `unchanged`. With `dry_run` it only tells what it would do."""
    taken, store = _weighed(transaction, scope, record, by, words)
    if taken in {Taken.NEW, Taken.UPDATED} and not dry_run:
        store()
    return taken


def _weighed(
    transaction: Transaction, scope: ReadScope, record: Record, by: MemberId, words: PackedTerms | None
) -> tuple[Taken, Callable[[], object]]:
    """What is to become of a record, and how it would be stored."""
    match record:
        case MemoryRecord(present=present):
            standing = transaction.archive.standing(scope, record)
            before = standing.present and standing.present.memory
            return weigh_memory(record, standing), lambda: transaction.archive.put_memory(
                record, words or packed_terms(present.memory), by=by, before=before
            )
        case Link():
            is_known = transaction.links.find_same(record) is not None
            return Taken.UNCHANGED if is_known else Taken.NEW, lambda: transaction.links.add(
                record, origin=transaction.memories.get(scope, record.from_id, deleted=True)
            )
        case Tombstone():
            return _weigh_stone(transaction, scope, record), lambda: transaction.archive.put_tombstone(record)
        case SourcePassage():
            key, digest = bytes.fromhex(record.key), bytes.fromhex(record.digest)
            known = transaction.sources.has_passage(record.source_id, digest)
            passage = PurgedPassage(record.words, record.letters, key, digest)
            return Taken.UNCHANGED if known else Taken.NEW, lambda: transaction.sources.add_passages(
                record.source_id, [passage]
            )
        case _:
            standing, store = _plain(transaction, scope, record)
            return weigh_same(record, standing), store


def _weigh_stone(transaction: Transaction, scope: ReadScope, stone: Tombstone) -> Taken:
    if transaction.archive.is_known(stone):
        return Taken.UNCHANGED
    standing = transaction.memories.find(scope, stone.memory_id, deleted=True)
    return Taken.NEW if standing is None else Taken.STANDS


def _plain(
    transaction: Transaction, scope: ReadScope, record: Project | Repo | Source | IngestionEvent
) -> tuple[object, Callable[[], object]]:
    """What stands under the record's name, and how it is stored where nothing does."""
    match record:
        case Project():
            return transaction.places.find_project(record.name), lambda: transaction.places.register_project(record)
        case Repo():
            return transaction.places.find_repo(record.name), lambda: transaction.places.register_repo(record)
        case Source():
            return transaction.sources.find(scope, record.id), lambda: transaction.sources.add(record)
        case IngestionEvent():
            return transaction.queue.find(scope, record.id), lambda: transaction.queue.add(record)
