"""Vectors follow the texts: never inside a write, caught up before a search or beside it, and only sound ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mycel.errors import Unavailable
from mycel.services.embeddings import LITTLE
from mycel.testing.embedder import WordEmbedder
from tests.patience import ends
from tests.squad import (
    HeldEmbedder,
    Squad,
    company,
    embedded,
    file_of,
    fill,
    finds_by_meaning,
    ids,
    open_squad,
    rows,
    stored_vectors,
    wait_until,
    wide_embedder,
)

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vectors

pytestmark = pytest.mark.each_database(slow=True)

SYNONYMS = (["outage", "downtime"], ["car", "automobile"], ["payroll", "wages"])


@pytest.fixture
def embedder() -> WordEmbedder:
    return wide_embedder(*SYNONYMS)


@pytest.fixture
def squad(tmp_path: Path, embedder: WordEmbedder) -> Iterator[Squad]:
    squad = open_squad(tmp_path, embedder=embedder)
    with squad.workspace:
        yield squad


def similarity(squad: Squad, id: str, question: str) -> float:
    recall = squad.teammate.search(question, ranking="swarm", min_relevance=0, limit=100)
    [hit] = [hit for hit in recall.hits if hit.memory.id == id]
    return hit.breakdown["similarity"]


def test_a_value_is_found_by_the_meaning_of_its_key(squad: Squad) -> None:
    company(squad)
    stored = squad.author.knowledge.upsert(key="outage-window", value="Sunday, four to six.")
    near = similarity(squad, stored.id, "downtime")
    squad.author.update(stored.id, key="maintenance-window")
    assert near > 0.3 > similarity(squad, stored.id, "downtime")


def test_no_write_calls_the_embedder(squad: Squad, embedder: WordEmbedder) -> None:
    memory = squad.author.save("downtime of the billing host")
    squad.author.update(memory.id, content="downtime of the mail host")
    squad.author.save_many([{"content": f"note {number}"} for number in range(20)])
    squad.author.delete(memory.id)
    squad.author.restore(memory.id)
    squad.author.purge(memory.id)
    assert embedder.calls == 0


def test_a_search_where_nothing_is_saved_embeds_no_question(squad: Squad, embedder: WordEmbedder) -> None:
    assert squad.teammate.search("downtime").degraded == ()
    assert squad.child_lead.search("downtime", min_relevance=0).hits == ()
    assert embedder.calls == 0
    memory = squad.author.save("outage of the billing host")
    assert memory.id in ids(squad.child_lead.search("downtime"))


def test_a_save_neither_waits_for_a_hanging_embedder_nor_fails_with_it(tmp_path: Path) -> None:
    with HeldEmbedder() as embedder:
        squad = open_squad(tmp_path, embedder=embedder)
        with squad.workspace, embedder:
            fill(squad, count=20)
            # The worker now hangs in the embedder.
            squad.author.search("worker1")
            wait_until(lambda: any(thread.name == "mycel-embedding" for thread in threading.enumerate()))
            saved = ends(lambda: [squad.author.save(f"heron{number}") for number in range(50)])
            assert len({memory.id for memory in saved}) == 50
            embedder.failing = Unavailable("down")
            assert squad.author.save("while it fails").version == 1


def test_a_single_save_is_found_by_meaning_by_the_very_next_search(squad: Squad) -> None:
    fill(squad, count=100)
    squad.workspace.run_pending()
    for number, (text, question) in enumerate(
        [("downtime at night", "outage"), ("an automobile in blue", "car"), ("wages are paid late", "payroll")]
    ):
        memory = squad.author.save(text, path=f"/single/{number}")
        assert finds_by_meaning(squad, memory.id, question).degraded == ()


def test_the_only_memory_of_a_team_is_found_by_meaning(squad: Squad) -> None:
    memory = squad.author.save("downtime at night")
    finds_by_meaning(squad, memory.id, "outage")


def test_all_memories_that_the_filters_leave_are_found_by_meaning_when_all_are_about_it(squad: Squad) -> None:
    """Then none of them stands out from the others."""
    fill(squad, count=100)
    texts = ["downtime at night", "downtime on Monday", "downtime for customers", "announced downtime"]
    memories = [squad.author.save(text, path=f"/down/{number}") for number, text in enumerate(texts)]
    squad.workspace.run_pending()
    assert set(ids(squad.teammate.search("outage", path="/down"))) == {memory.id for memory in memories}


def test_a_few_saves_are_caught_up_with_and_many_are_done_beside(tmp_path: Path) -> None:
    embedder = HeldEmbedder()
    squad = open_squad(tmp_path, embedder=embedder)
    with squad.workspace, embedder:
        embedder.release()
        for number in range(LITTLE):
            squad.author.save(f"heron {number}", path=f"/{number}")
        assert squad.author.search("heron").degraded == ()
        assert len(embedded(squad)) == LITTLE
        embedder.hold()
        for number in range(LITTLE + 1):
            squad.author.save(f"stork {number}", path=f"/s/{number}")
        assert squad.author.search("stork").degraded == ("embedding_backlog",)
        embedder.release()
        wait_until(lambda: len(embedded(squad)) == 2 * LITTLE + 1)
        wait_until(lambda: squad.author.search("stork").degraded == ())


@pytest.mark.parametrize("by", ["run_pending", "the worker"])
def test_a_thousand_saves_are_found_by_words_at_once_and_by_meaning_when_embedded(tmp_path: Path, by: str) -> None:
    embedder = HeldEmbedder(synonyms=SYNONYMS)
    squad = open_squad(tmp_path, embedder=embedder)
    with squad.workspace, embedder:
        wanted = squad.author.save("downtime of the tape robot", path="/wanted")
        fill(squad, count=999)
        recall = squad.teammate.search("tape robot downtime")
        assert recall.degraded == ("embedding_backlog",)
        assert ids(recall)[:1] == [wanted.id]
        embedder.release()
        if by == "run_pending":
            squad.workspace.run_pending()
        wait_until(lambda: len(embedded(squad)) == 1000, seconds=30)
        wait_until(lambda: squad.teammate.search("worker1").degraded == ())
        finds_by_meaning(squad, wanted.id, "outage")


@pytest.mark.parametrize(
    "question", ["when is the tape robot oiled", "who looks after the tape robot", "which days is the machinery oiled"]
)
def test_a_memory_of_the_backlog_is_found_by_its_words_beside_those_that_are_embedded(
    tmp_path: Path, question: str
) -> None:
    embedder = HeldEmbedder(synonyms=SYNONYMS)
    embedder.release()
    squad = open_squad(tmp_path, embedder=embedder)
    with squad.workspace, embedder:
        fill(squad, count=200)
        squad.workspace.run_pending()
        embedder.hold()
        wanted = squad.author.save("the tape robot is oiled on Fridays", path="/wanted")
        fill(squad, count=20)
        recall = squad.teammate.search(question)
        assert recall.degraded == ("embedding_backlog",)
        assert ids(recall)[:1] == [wanted.id]


def test_a_new_text_is_embedded_anew(squad: Squad, embedder: WordEmbedder) -> None:
    fill(squad, count=30)
    memory = squad.author.save("downtime at night", path="/x")
    squad.workspace.run_pending()
    finds_by_meaning(squad, memory.id, "outage")
    squad.author.update(memory.id, content="wages are paid late")
    finds_by_meaning(squad, memory.id, "payroll")
    assert similarity(squad, memory.id, "outage") < 0.2 < 0.4 < similarity(squad, memory.id, "payroll")
    assert len(embedded(squad)[memory.id]) == 1
    squad.author.update(memory.id, title="automobile insurance")
    finds_by_meaning(squad, memory.id, "car")


def test_a_change_of_anything_but_the_text_does_not_call_the_embedder(squad: Squad, embedder: WordEmbedder) -> None:
    company(squad)
    memory = squad.author.save("downtime at night", title="Night shift")
    squad.workspace.run_pending()
    calls = embedder.document_calls
    squad.author.update(memory.id, tags=["ops"], confidence=0.5, category="hosts", metadata={"a": 1})
    squad.author.update(memory.id, visibility="private")
    squad.author.delete(memory.id)
    squad.author.restore(memory.id)
    squad.author.update(memory.id, visibility="team")
    squad.workspace.run_pending()
    squad.author.search("night")
    assert embedder.document_calls == calls
    finds_by_meaning(squad, memory.id, "outage")


def test_the_deleted_are_not_found_by_meaning_and_the_restored_are(squad: Squad, embedder: WordEmbedder) -> None:
    company(squad)
    memory = squad.author.save("downtime at night", path="/x")
    finds_by_meaning(squad, memory.id, "outage")
    squad.author.delete(memory.id)
    assert memory.id not in ids(squad.teammate.search("outage"))
    assert memory.id not in ids(squad.teammate.search("outage", min_relevance=0))
    squad.author.restore(memory.id)
    calls = embedder.document_calls
    finds_by_meaning(squad, memory.id, "outage")
    assert embedder.document_calls == calls


def test_the_purged_leave_no_vector(squad: Squad) -> None:
    company(squad)
    kept, gone = squad.author.save("downtime at night", path="/a"), squad.author.save("downtime at noon", path="/b")
    squad.workspace.run_pending()
    assert len(stored_vectors(squad)) == 7
    squad.author.purge(gone.id)
    found = ids(squad.teammate.search("outage"))
    assert kept.id in found
    assert gone.id not in found
    assert gone.id not in embedded(squad)
    assert len(stored_vectors(squad)) == 6


def test_the_purged_are_not_embedded_when_their_turn_comes(squad: Squad, embedder: WordEmbedder) -> None:
    memory = squad.author.save("downtime at night")
    squad.author.purge(memory.id)
    squad.workspace.run_pending()
    assert embedder.document_calls == 0
    assert stored_vectors(squad) == []


def test_a_long_memory_is_found_by_what_its_last_paragraph_means(tmp_path: Path) -> None:
    seen: list[str] = []

    class Watched(WordEmbedder):
        # It could read more at once, but one vector would then stand for too many things.
        max_tokens = 4096

        def embed_documents(self, texts: Sequence[str]) -> Vectors:
            seen.extend(texts)
            return super().embed_documents(texts)

    embedder = Watched(dimensions=512, synonyms=SYNONYMS)
    squad = open_squad(tmp_path, embedder=embedder)
    with squad.workspace:
        body = " ".join(f"topic{number}" for number in range(2000))
        long = squad.author.save(f"{body}\n\nDowntime is announced a day before.", path="/long")
        fill(squad, count=30)
        squad.workspace.run_pending()
        finds_by_meaning(squad, long.id, "outage")
        asked = 'SELECT start, "end" FROM embeddings e JOIN memories m USING (number) WHERE m.id = ?'
        passages = rows(squad.data, asked, long.id)
        assert len(passages) >= 9
        assert max(len(embedder.token_ends(text)) for text in seen) <= 256
        # Nothing is left out, and nothing stands twice.
        assert "".join(long.content[start:end] for start, end in sorted(passages)) == long.content
        squad.author.update(long.id, content="short now")
        squad.workspace.run_pending()
        assert len(embedded(squad)[long.id]) == 1


def test_passages_are_no_longer_than_a_smaller_model_reads(tmp_path: Path) -> None:
    seen: list[int] = []

    class Small(WordEmbedder):
        max_tokens = 64

        def embed_documents(self, texts: Sequence[str]) -> Vectors:
            seen.extend(len(self.token_ends(text)) for text in texts)
            return super().embed_documents(texts)

    squad = open_squad(tmp_path, embedder=Small())
    with squad.workspace:
        squad.author.save(" ".join(f"word{number}" for number in range(500)))
        squad.workspace.run_pending()
    assert max(seen) <= 64
    assert sum(seen) >= 500


def test_another_model_embeds_everything_again_while_words_go_on(tmp_path: Path) -> None:
    clock = open_and_fill(tmp_path)
    other = HeldEmbedder(synonyms=SYNONYMS, name="other")
    squad = open_squad(tmp_path, clock=clock, embedder=other)
    with squad.workspace, other:
        wanted = squad.author.save("the tape robot is oiled", path="/wanted")
        recall = squad.author.search("tape robot oiled")
        assert recall.degraded == ("embedding_backlog",)
        assert ids(recall)[:1] == [wanted.id]
        assert {model for models in embedded(squad).values() for model in models} == {"words/512"}
        told: list[tuple[int, int]] = []
        other.release()
        squad.workspace.run_pending(report=lambda team, progress: told.append((progress.embedded, progress.pending)))
        wait_until(lambda: len(embedded(squad)) == 201)
        assert {model for models in embedded(squad).values() for model in models} == {other.model}
        assert told == sorted(told, key=lambda entry: (entry[0], -entry[1]))
        assert told[-1] == (201, 0)
        # No vector of the old model is left, and none of it is in the index.
        assert rows(squad.data, "SELECT DISTINCT model FROM embedding_progress") == [(other.model,)]
        finds_by_meaning(squad, squad.author.list(path="/night")[0].id, "outage")


def open_and_fill(data: Path) -> Any:
    squad = open_squad(data, embedder=wide_embedder(*SYNONYMS))
    with squad.workspace:
        squad.author.save("downtime at night", path="/night")
        fill(squad, count=199)
        squad.workspace.run_pending()
        assert len(embedded(squad)) == 200
    return squad.clock


def test_going_back_to_the_earlier_model_works_as_well(tmp_path: Path) -> None:
    clock = open_and_fill(tmp_path)
    for name in ("other", "words"):
        squad = open_squad(tmp_path, clock=clock, embedder=wide_embedder(*SYNONYMS, name=name))
        with squad.workspace:
            squad.workspace.run_pending()
            assert {model for models in embedded(squad).values() for model in models} == {f"{name}/512"}
            finds_by_meaning(squad, squad.author.list(path="/night")[0].id, "outage")


def test_the_worker_tries_again_until_the_embedder_has_recovered(tmp_path: Path) -> None:
    class Moody(WordEmbedder):
        down = True

        def embed_documents(self, texts: Sequence[str]) -> Vectors:
            vectors = super().embed_documents(texts)
            if self.down:
                raise Unavailable("not now", retry_after=0.05)
            return vectors

    embedder = Moody(dimensions=512, synonyms=SYNONYMS)
    squad = open_squad(tmp_path, embedder=embedder)
    with squad.workspace:
        wanted = squad.author.save("downtime at night", path="/night")
        fill(squad, count=100)
        assert squad.author.search("night").degraded == ("embedding_backlog",)
        wait_until(lambda: embedder.document_calls > 2)
        assert embedded(squad) == {}
        embedder.down = False
        # Nobody asks meanwhile.
        wait_until(lambda: len(embedded(squad)) == 101)
        finds_by_meaning(squad, wanted.id, "outage")


def test_a_search_after_the_recovery_sets_the_worker_to_work_again(tmp_path: Path) -> None:
    embedder = wide_embedder(*SYNONYMS)
    embedder.failing = Unavailable("down", retry_after=0.05)
    squad = open_squad(tmp_path, embedder=embedder)
    with squad.workspace:
        wanted = squad.author.save("downtime at night", path="/night")
        fill(squad, count=100)
        assert squad.author.search("night").degraded == ("meaning",)
        assert embedded(squad) == {}
        embedder.failing = None
        wait_until(lambda: squad.author.search("night").degraded == ())
        assert len(embedded(squad)) == 101
        finds_by_meaning(squad, wanted.id, "outage")


@pytest.mark.files_only
def test_the_worker_outlives_an_index_file_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedder: WordEmbedder
) -> None:
    """As on a full disk: the file only saves time, and what it could not save must cost nothing else."""
    died: list[object] = []
    monkeypatch.setattr(threading, "excepthook", died.append)
    monkeypatch.setattr("mycel.stores.sqlite.index_keeper.WORTH_A_FILE", 1)
    monkeypatch.setattr("mycel.stores.sqlite.index_keeper.WORTH_SAVING", 1)
    squad = open_squad(tmp_path, embedder=embedder)
    with squad.workspace:
        squad.author.search("make the index")
        in_the_way = file_of(tmp_path, "memory.vectors") / "in the way"
        in_the_way.mkdir(parents=True)
        for round in range(1, 4):
            fill(squad, count=20)
            squad.author.search("worker1")
            wait_until(lambda: len(embedded(squad)) == 20 * round)  # noqa: B023 - waited for at once
            wait_until(lambda: squad.author.search("worker1").degraded == ())
        in_the_way.rmdir()
        in_the_way.parent.rmdir()
    assert died == []


def test_closing_does_not_wait_for_the_whole_backlog(tmp_path: Path) -> None:
    class Slow(WordEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> Vectors:
            time.sleep(0.2)
            return super().embed_documents(texts)

    squad = open_squad(tmp_path, embedder=Slow())
    fill(squad, count=1000)
    squad.author.search("worker1")
    squad.workspace.close()
    assert 0 <= len(embedded(squad)) < 1000


def test_without_an_embedder_nothing_waits_and_nothing_is_degraded(tmp_path: Path) -> None:
    squad = open_squad(tmp_path)
    with squad.workspace:
        fill(squad, count=100)
        assert squad.author.search("worker1").degraded == ()
        assert squad.workspace.run_pending() == 0
        assert stored_vectors(squad) == []


def test_the_vectors_of_short_questions_alone_are_remembered(
    squad: Squad, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    embed = embedder.embed_query

    def noted(text: str) -> Vectors:
        asked.append(len(text))
        return embed(text)

    monkeypatch.setattr(embedder, "embed_query", noted)
    squad.author.save("the heron stands")
    for question in ("heron", "heron " * 2000):
        for member in (squad.author, squad.teammate):
            member.search(question)
    assert asked == [5, 12_000, 12_000]
