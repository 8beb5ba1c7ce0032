"""Several workers embed one team at once: how far they are stays true, and whoever waits for the end gets there."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from mycel.domain.embedding import Backlog, Embedded
from mycel.domain.ids import TeamName
from mycel.services import team_worker
from mycel.services.embeddings import BATCH, Embedding
from mycel.settings import load_settings
from mycel.storage import open_side
from mycel.stores.migrate import migrations
from mycel.testing.embedder import WordEmbedder
from tests.patience import PATIENCE_SECONDS, ends
from tests.squad import TEAM, Squad, embedded, file_of, fill, open_squad, rows, wait_until, wide_embedder

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vectors

pytestmark = pytest.mark.each_database(slow=True)
MODEL = wide_embedder().model


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path, embedder=wide_embedder())
    with squad.workspace:
        yield squad


def is_whole(squad: Squad, *, count: int) -> None:
    progress = squad.workspace.embedding_progress(TEAM)
    assert (progress.embedded, progress.pending) == (count, 0)
    assert len(embedded(squad)) == count
    assert squad.author.search("worker1").degraded == ()


class SlowAtFirst(WordEmbedder):
    """Its first call takes until another one is done."""

    def __init__(self) -> None:
        super().__init__(dimensions=512)
        self._first = True
        self._other_done = threading.Event()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        vectors = super().embed_documents(texts)
        with self._lock:
            is_first, self._first = self._first, False
        if is_first:
            self._other_done.wait(PATIENCE_SECONDS)
        else:
            self._other_done.set()
        return vectors


def test_a_worker_that_began_on_fewer_memories_leaves_a_true_count(tmp_path: Path) -> None:
    squad = open_squad(tmp_path, embedder=SlowAtFirst())
    with squad.workspace:
        fill(squad, count=3)
        # The worker beside begins with these three.
        squad.author.search("worker1")
        for number in range(5):
            squad.author.save(f"worker1 came later {number}", path=f"/later/{number}")
        ends(squad.workspace.run_pending)
        is_whole(squad, count=8)
        ends(lambda: squad.admin.consolidate())


class Worker:
    """Reads a backlog now and stores its vectors whenever it is told to."""

    def __init__(self, squad: Squad) -> None:
        self._squad = squad
        with self._stores.lease(TeamName(TEAM)) as store:
            self.backlog: Backlog = store.embeddings.backlog(MODEL, limit=BATCH)

    @property
    def _stores(self):
        return self._squad.workspace._do.upkeep._stores

    def store(self) -> None:
        made = [Embedded(item.number, item.version, item.text_hash, ()) for item in self.backlog.items]
        with self._stores.lease(TeamName(TEAM)) as store:
            store.transact(
                lambda transaction: transaction.embeddings.put(
                    MODEL, made, started=self.backlog.started, reached=self.backlog.reached
                )
            )


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
@pytest.mark.parametrize("count", [3, BATCH, BATCH + 3])
def test_whoever_stores_first_no_memory_is_left_out(squad: Squad, count: int, order: tuple[int, ...]) -> None:
    workers: list[Worker] = []
    for _ in range(3):
        fill(squad, count=count)
        workers.append(Worker(squad))
    for place in order:
        workers[place].store()
        [(number, last_number, _)] = rows(squad.data, "SELECT number, last_number, sequence FROM embedding_progress")
        assert 0 <= number <= last_number
        assert squad.workspace.embedding_progress(TEAM).pending >= 0
    # The vectors of these workers are missing, so that what embedding goes through can be seen.
    ends(squad.workspace.run_pending)
    assert squad.workspace.embedding_progress(TEAM).pending == 0
    seen = {item.number for worker in workers for item in worker.backlog.items}
    with_vectors = {number for (number,) in rows(squad.data, "SELECT DISTINCT number FROM embeddings")}
    assert seen | with_vectors == set(range(1, 3 * count + 1))


def test_what_is_written_all_the_time_does_not_keep_a_run_from_ending(tmp_path: Path) -> None:
    class Busy(WordEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> Vectors:
            if texts[0].startswith("again"):
                squad.author.save_many([{"content": f"again {len(texts)} {place}"} for place in range(BATCH + 1)])
            return super().embed_documents(texts)

    squad = open_squad(tmp_path, embedder=Busy(dimensions=512))
    with squad.workspace:
        squad.author.save("again and again")
        ends(squad.workspace.embed_pending)
        assert squad.workspace.embedding_progress(TEAM).pending > 0


def test_two_models_at_once_both_end(tmp_path: Path, squad: Squad) -> None:
    fill(squad, count=3 * BATCH)
    # As another process has it: one process has one embedder for a workspace.
    with open_side(load_settings(tmp_path)) as side, ThreadPoolExecutor(2) as pool:
        other = Embedding(side.stores, wide_embedder(name="other"))
        calls = [pool.submit(ends, work) for work in (squad.workspace.embed_pending, other.run_pending)]
        for call in calls:
            call.result()


BROKEN = {
    "beyond its end": "UPDATE embedding_progress SET number = 8, last_number = 3",
    "jumped over": "DELETE FROM embeddings WHERE number > 3",
}


@pytest.mark.files_only
@pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN.keys())
def test_a_store_whose_count_went_wrong_is_healed_when_it_is_opened(tmp_path: Path, damage: str) -> None:
    squad = open_squad(tmp_path, embedder=wide_embedder())
    with squad.workspace:
        fill(squad, count=8)
        squad.workspace.run_pending()
    migrate_from(file_of(tmp_path), damage)
    squad = open_squad(tmp_path, clock=squad.clock, embedder=wide_embedder())
    with squad.workspace:
        ends(squad.workspace.run_pending)
        is_whole(squad, count=8)
        ends(lambda: squad.admin.consolidate())


@pytest.mark.files_only
def test_a_sound_store_embeds_nothing_anew_when_it_is_opened(tmp_path: Path) -> None:
    squad = open_squad(tmp_path, embedder=wide_embedder())
    with squad.workspace:
        fill(squad, count=8)
        squad.workspace.run_pending()
    migrate_from(file_of(tmp_path), "SELECT 1")
    embedder = wide_embedder()
    squad = open_squad(tmp_path, clock=squad.clock, embedder=embedder)
    with squad.workspace:
        squad.workspace.run_pending()
        is_whole(squad, count=8)
        assert embedder.document_calls == 0


def migrate_from(file: Path, damage: str) -> None:
    """The table as it was, in a state that it let happen, and then the step of the schema that guards it."""
    [guard] = [step for step in migrations("mycel.stores.sqlite", "team") if "TABLE embedding_progress;" in step.sql]
    connection = apsw.Connection(str(file))
    connection.execute(
        """
        CREATE TABLE earlier (model TEXT PRIMARY KEY, number INTEGER NOT NULL, last_number INTEGER NOT NULL,
          sequence INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO earlier SELECT * FROM embedding_progress;
        DROP TABLE embedding_progress;
        ALTER TABLE earlier RENAME TO embedding_progress;
        DROP INDEX episodes_to_prune_by_clock;
        ALTER TABLE memories DROP COLUMN clock_at;"""
    )
    connection.execute(damage)
    connection.execute(guard.sql)
    connection.close()


def test_an_embedder_that_fails_unforeseen_does_not_end_the_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team_worker, "RETRY_SECONDS", 0.01)

    class Breaking(WordEmbedder):
        broken = True

        def embed_documents(self, texts: Sequence[str]) -> Vectors:
            if self.broken:
                self.broken = False
                raise RuntimeError("nobody thought of this")
            return super().embed_documents(texts)

    squad = open_squad(tmp_path, embedder=Breaking(dimensions=512))
    with squad.workspace:
        fill(squad, count=3)
        squad.author.search("worker1")
        wait_until(lambda: len(embedded(squad)) == 3)
        is_whole(squad, count=3)
