"""The vector index and its file are derived: lost, torn, old or foreign, the answers are those of a fresh one."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mycel.domain.memory import Memory
from mycel.testing.clock import ManualClock
from tests.reliability.member_process import SYNONYMS
from tests.squad import Squad, file_of, fill, ids, open_squad, rows, wait_until, wide_embedder

ROOT = Path(__file__).parents[2]
INDEX = "memory.vectors"
QUESTIONS = ("outage", "car", "payroll", "worker3", "who paints the fence", "an outage of the car")

Answers = list[list[tuple[str, float, float]]]


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few memories and changes would otherwise not be worth a file."""
    for name, value in {"WORTH_A_FILE": 10, "WORTH_SAVING": 1, "WORTH_SAVING_SHARE": 0.0}.items():
        monkeypatch.setattr(f"mycel.stores.sqlite.index_keeper.{name}", value)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def reopened(data: Path, clock: ManualClock, *, model: str = "words") -> Squad:
    return open_squad(data, clock=clock, embedder=wide_embedder(*SYNONYMS, name=model))


def prepare(data: Path, clock: ManualClock) -> list[Memory]:
    """A team with an index file."""
    squad = reopened(data, clock)
    with squad.workspace:
        texts = ["downtime at night", "an automobile in blue", "wages are paid late"]
        memories = [squad.author.save(text, path=f"/{at}") for at, text in enumerate(texts)]
        fill(squad)
        squad.workspace.run_pending()
        squad.author.search("outage")
    assert file_of(data, INDEX).exists()
    return memories


def answers(squad: Squad) -> Answers:
    return [
        [(hit.memory.id, hit.score, hit.relevance) for hit in squad.teammate.search(question, limit=20).hits]
        for question in QUESTIONS
    ]


def fresh_answers(data: Path, clock: ManualClock, copy: Path) -> Answers:
    """Of a copy without the file: whatever it answers is read from the store."""
    shutil.copytree(data, copy)
    file_of(copy, INDEX).unlink(missing_ok=True)
    squad = reopened(copy, clock)
    with squad.workspace:
        squad.workspace.run_pending()
        return answers(squad)


def same_as_fresh(data: Path, clock: ManualClock, copy: Path) -> None:
    expected = fresh_answers(data, clock, copy)
    squad = reopened(data, clock)
    with squad.workspace:
        squad.workspace.run_pending()
        assert answers(squad) == expected
    assert any(expected)


def turn_vectors(file: Path) -> None:
    """The same length and layout, but every vector points another way."""
    content = file.read_bytes()
    vectors = rows(file.parents[2], "SELECT vector FROM embeddings")
    assert all(vector in content for (vector,) in vectors)
    for (vector,) in vectors:
        content = content.replace(vector, vector[::-1])
    file.write_bytes(content)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(lambda file: None, id="whole"),
        pytest.param(lambda file: file.unlink(), id="deleted"),
        pytest.param(cut, id="truncated"),
        pytest.param(lambda file: file.write_bytes(b""), id="empty"),
        pytest.param(lambda file: file.write_bytes(b"mycelvec" + bytes(500)), id="zeros"),
        pytest.param(turn_vectors, id="other vectors"),
        pytest.param(lambda file: file.write_bytes(file.read_bytes() + b"x"), id="longer"),
    ],
)
def test_whatever_became_of_the_file_the_answers_are_the_same(
    tmp_path: Path, clock: ManualClock, harm: Callable[[Path], None]
) -> None:
    data = tmp_path / "data"
    prepare(data, clock)
    harm(file_of(data, INDEX))
    same_as_fresh(data, clock, tmp_path / "copy")


def test_a_file_that_cannot_be_read_or_written_stops_nothing(tmp_path: Path, clock: ManualClock) -> None:
    data = tmp_path / "data"
    prepare(data, clock)
    file_of(data, INDEX).unlink()
    (file_of(data, INDEX) / "in the way").mkdir(parents=True)
    squad = reopened(data, clock)
    with squad.workspace:
        assert answers(squad)[0]
        squad.author.save("downtime at noon", path="/noon")
        squad.workspace.run_pending()
        squad.teammate.search("outage")
    with reopened(data, clock).workspace as workspace:
        assert workspace.check() == {}


def test_a_file_of_another_model_is_not_used(tmp_path: Path, clock: ManualClock) -> None:
    data = tmp_path / "data"
    prepare(data, clock)
    kept = file_of(data, INDEX).read_bytes()
    other = reopened(data, clock, model="other")
    with other.workspace:
        other.workspace.run_pending()
        assert other.teammate.search("outage").degraded == ()
        expected = answers(other)
    file_of(data, INDEX).write_bytes(kept)
    again = reopened(data, clock, model="other")
    with again.workspace:
        assert answers(again) == expected


def test_a_stale_file_is_caught_up_with_all_that_came_after(tmp_path: Path, clock: ManualClock) -> None:
    data = tmp_path / "data"
    night, blue, late = prepare(data, clock)
    kept = file_of(data, INDEX).read_bytes()
    squad = reopened(data, clock)
    with squad.workspace:
        squad.author.update(night.id, content="a parade at night")
        squad.author.update(blue.id, visibility="private")
        squad.author.delete(late.id)
        noon = squad.author.save("downtime at noon", path="/noon")
        gone = squad.author.save("wages in cash", path="/cash")
        squad.author.purge(gone.id)
        squad.workspace.run_pending()
    file_of(data, INDEX).write_bytes(kept)
    same_as_fresh(data, clock, tmp_path / "copy")
    squad = reopened(data, clock)
    with squad.workspace:
        assert noon.id in ids(squad.teammate.search("outage"))
        everything = {id for question in ("outage", "car", "payroll") for id in ids(squad.teammate.search(question))}
        assert not everything & {blue.id, late.id, gone.id}


def restore(data: Path, backup: Path) -> None:
    """As an operator would: the copy of the database, beside whatever else still lies there."""
    for name in ("memory.sqlite-wal", "memory.sqlite-shm"):
        file_of(data, name).unlink(missing_ok=True)
    shutil.copyfile(file_of(backup), file_of(data))


def test_a_file_of_another_history_is_not_used(tmp_path: Path, clock: ManualClock) -> None:
    """A backup is restored and written on: the same numbers now mean other memories."""
    data, backup = tmp_path / "data", tmp_path / "backup"
    squad = reopened(data, clock)
    with squad.workspace:
        fill(squad)
        squad.workspace.run_pending()
        squad.workspace.backup(backup)
        squad.author.save("downtime at night", path="/night")
        squad.author.save("wages are paid late", path="/late")
        squad.workspace.run_pending()
        squad.teammate.search("outage")
    assert file_of(data, INDEX).exists()
    restore(data, backup)
    file = file_of(data, INDEX).read_bytes()
    clock.move(by=ManualClock().now() - clock.now())
    squad = reopened(data, clock)
    with squad.workspace:
        other = [squad.author.save(text, path=f"/{text}") for text in ("an automobile", "a parade", "downtime")]
        squad.workspace.run_pending()
    file_of(data, INDEX).write_bytes(file)
    same_as_fresh(data, clock, tmp_path / "copy")
    squad = reopened(data, clock)
    with squad.workspace:
        assert ids(squad.teammate.search("car"))[0] == other[0].id
        assert ids(squad.teammate.search("outage"))[0] == other[2].id


def test_vectors_made_anew_after_a_restore_take_the_place_of_those_in_the_file(
    tmp_path: Path, clock: ManualClock
) -> None:
    """The backup is from before the texts were embedded, so the store hands out the same vector numbers again."""
    data, backup = tmp_path / "data", tmp_path / "backup"
    squad = reopened(data, clock)
    with squad.workspace:
        fill(squad)
        memory = squad.author.save("downtime at night", path="/night")
        squad.workspace.backup(backup)
        squad.workspace.run_pending()
        squad.teammate.search("outage")
    assert file_of(data, INDEX).exists()
    restore(data, backup)
    squad = reopened(data, clock)
    with squad.workspace:
        squad.author.update(memory.id, content="an automobile in blue")
        squad.workspace.run_pending()
        recall = squad.teammate.search("car", ranking="swarm", min_relevance=0, limit=100)
        similarity = {hit.memory.id: hit.breakdown.get("similarity", 0.0) for hit in recall.hits}
        assert similarity[memory.id] > 0.4


@pytest.mark.parametrize("searched", [True, False], ids=["index in memory", "index never opened"])
def test_nothing_of_a_purged_memory_is_left_in_the_file(tmp_path: Path, clock: ManualClock, searched: bool) -> None:
    data = tmp_path / "data"
    prepare(data, clock)
    squad = reopened(data, clock)
    with squad.workspace:
        secret = squad.author.save(
            "the merger is called bluebird", path="/quiet", tags=["bluebird"], category="bluebird", key="bluebird"
        )
        squad.workspace.run_pending()
        [(vector,)] = rows(
            data, "SELECT vector FROM embeddings e JOIN memories m USING (number) WHERE m.id = ?", secret.id
        )
        squad.teammate.search("merger")
    assert len(vector) == 512
    # Able to fail: both were there.
    assert vector in file_of(data, INDEX).read_bytes()
    assert b"bluebird" in file_of(data, INDEX).read_bytes()
    squad = reopened(data, clock)
    with squad.workspace:
        if searched:
            squad.teammate.search("merger")
        squad.author.purge(secret.id)
        squad.workspace.run_pending()
        everything = b"".join(file.read_bytes() for file in file_of(data).parent.iterdir())
        assert vector not in everything
        assert b"bluebird" not in everything
        squad.teammate.search("merger")
    assert file_of(data, INDEX).exists()
    everything = b"".join(file.read_bytes() for file in file_of(data).parent.iterdir())
    assert vector not in everything
    assert b"bluebird" not in everything


@pytest.mark.parametrize("left", ["whole", "unfinished"])
def test_what_a_killed_process_left_of_the_index_is_gone_after_a_purge(
    tmp_path: Path, clock: ManualClock, left: str
) -> None:
    """It was killed while it wrote the file, or before it looked whether all that it had written still stands."""
    data = tmp_path / "data"
    prepare(data, clock)
    squad = reopened(data, clock)
    with squad.workspace:
        secret = squad.author.save("the merger is called bluebird", tags=["bluebird"])
        squad.workspace.run_pending()
        squad.teammate.search("merger")
    kept = file_of(data, INDEX).read_bytes()
    assert b"bluebird" in kept

    def leave() -> None:
        file_of(data, INDEX if left == "whole" else f".{INDEX}.k1ll3d__").write_bytes(kept)

    def is_left() -> bool:
        return any(b"bluebird" in file.read_bytes() for file in file_of(data).parent.iterdir())

    if left == "unfinished":
        leave()
    squad = reopened(data, clock)
    with squad.workspace:
        squad.author.purge(secret.id)
        squad.workspace.run_pending()
    if left == "whole":
        assert not is_left()
        leave()
    with reopened(data, clock).workspace as workspace:
        workspace.as_member("swe-2").search("merger")
        assert not is_left()


def test_a_question_that_found_a_memory_right_before_it_was_purged_is_forgotten_with_it(
    tmp_path: Path, clock: ManualClock
) -> None:
    """Recalls are written a moment after they were answered, which must not be after the purge."""
    squad = reopened(tmp_path, clock)
    with squad.workspace:
        fill(squad)
        squad.workspace.run_pending()
        for _ in range(5):
            secret = squad.author.save("the merger is called bluebird", path="/quiet")
            assert secret.id in ids(squad.teammate.search("is bluebird the merger"))
            squad.author.purge(secret.id)
        squad.workspace.run_pending()
    everything = b"".join(file.read_bytes() for file in file_of(tmp_path).parent.iterdir())
    assert b"bluebird" not in everything


@pytest.mark.parametrize("rounds", [2, pytest.param(25, marks=pytest.mark.proof)])
def test_killed_while_it_writes_or_keeps_the_index_it_answers_as_a_fresh_one(tmp_path: Path, rounds: int) -> None:
    data, notes = tmp_path / "data", tmp_path / "notes"
    command = [sys.executable, "-m", "tests.reliability.index_process", str(data), str(notes)]
    for round in range(rounds):
        known = len(told(notes))
        process = subprocess.Popen(command, cwd=ROOT)
        wait_until(lambda: len(told(notes)) > known)  # noqa: B023 - waited for at once
        time.sleep(random.uniform(0.0, 0.3))
        process.kill()
        process.wait()
        same_as_fresh(data, ManualClock(), tmp_path / f"copy{round}")
        squad = reopened(data, ManualClock())
        with squad.workspace:
            assert not [id for id, _ in told(notes) if not squad.author.get(id).content.startswith("wages")]
    everything = b"".join(file.read_bytes() for file in file_of(data).parent.iterdir())
    assert not [word for _, word in told(notes) if word.encode() in everything]


def told(notes: Path) -> list[list[str]]:
    """A line that the kill cut short was never finished."""
    return (
        [line.split() for line in notes.read_text().splitlines(keepends=True) if line[-1] == "\n"]
        if notes.exists()
        else []
    )


class Other:
    """Members of the team in a process of its own."""

    def __init__(self, data: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.member_process", str(data)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._answer() == "ready"

    def __call__(self, member: str | None, method: str, *arguments: Any, **options: Any) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([member, method, arguments, options]) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the other process has died"
        return json.loads(line)


@pytest.fixture
def here_and_there(tmp_path: Path) -> Iterator[tuple[Squad, Other]]:
    squad = reopened(tmp_path, ManualClock())
    with squad.workspace:
        fill(squad)
        squad.workspace.run_pending()
        other = Other(tmp_path)
        yield squad, other
        other.close()


def test_each_process_finds_at_once_what_the_other_writes_by_words_and_by_meaning(
    here_and_there: tuple[Squad, Other],
) -> None:
    squad, other = here_and_there
    assert other("swe-2", "search", "worker3")
    written = squad.author.save("downtime at night", path="/a")
    assert written.id in other("swe-2", "search", "night")
    assert written.id in other("swe-2", "search", "outage")
    answered = other("swe-2", "save", "an automobile in blue", path="/b")
    assert answered in ids(squad.author.search("blue"))
    assert answered in ids(squad.author.search("car"))


def test_each_process_respects_at_once_what_the_other_changes(here_and_there: tuple[Squad, Other]) -> None:
    squad, other = here_and_there

    def found(question: str, **filters: Any) -> list[str]:
        return other("swe-2", "search", question, **filters)

    memory = squad.author.save("downtime at night", path="/a", tags=["old"])
    assert memory.id in found("outage")

    squad.author.update(memory.id, content="wages at night")
    assert memory.id in found("payroll")
    assert memory.id not in found("downtime", min_relevance=0.3)
    squad.author.update(memory.id, tags=["new"], path="/b")
    assert memory.id in found("payroll", tags="new", path="/b", min_relevance=0)
    assert memory.id not in found("payroll", tags="old", min_relevance=0)

    squad.author.update(memory.id, visibility="private")
    for question in ("payroll", "night"):
        assert memory.id not in found(question, min_relevance=0, limit=100)
    assert memory.id in other("swe-1", "search", "payroll")
    squad.author.update(memory.id, visibility="team")
    assert memory.id in found("payroll")

    squad.author.delete(memory.id)
    assert memory.id not in found("payroll", min_relevance=0, limit=100)
    squad.author.restore(memory.id)
    assert memory.id in found("payroll")

    squad.author.update(memory.id, status="archived")
    assert memory.id not in found("payroll", min_relevance=0, limit=100)
    squad.lead.update(memory.id, status="active")

    squad.author.purge(memory.id)
    for question in ("payroll", "night"):
        assert memory.id not in found(question, min_relevance=0, limit=100)
        assert memory.id not in other("swe-1", "search", question, min_relevance=0, limit=100)
    # And the other way round.
    theirs = other("swe-2", "save", "downtime at noon", path="/noon")
    assert theirs in ids(squad.author.search("outage"))
    other("swe-2", "update", theirs, visibility="private")
    assert theirs not in ids(squad.author.search("outage", min_relevance=0, limit=100))


@pytest.mark.parametrize("by", ["words", "words and meaning"])
def test_while_others_write_every_search_finds_what_was_acknowledged_before_it(tmp_path: Path, by: str) -> None:
    squad = open_squad(tmp_path, embedder=wide_embedder(*SYNONYMS) if by == "words and meaning" else None)
    problems: list[str] = []
    acknowledged: list[tuple[str, str]] = []
    stop = threading.Event()

    def guarded(work: Callable[[], None]) -> None:
        try:
            while not stop.is_set():
                work()
        except Exception as error:  # noqa: BLE001 - told to the test
            problems.append(repr(error))
            stop.set()

    def write() -> None:
        number = len(acknowledged)
        memory = squad.author.save(f"codename{number} stands for downtime", path=f"/c/{number % 20}")
        acknowledged.append((memory.id, f"codename{number}"))

    def change() -> None:
        if acknowledged:
            id, _ = acknowledged[len(acknowledged) // 2]
            squad.author.update(id, tags=[f"round{time.monotonic_ns()}"])

    searches = [0]

    def search() -> None:
        if acknowledged:
            id, word = acknowledged[-1]
            searches[0] += 1
            recall = squad.teammate.search(word)
            if id not in ids(recall):
                problems.append(f"{word} was acknowledged and is not found; degraded: {recall.degraded}")

    with squad.workspace:
        fill(squad)
        squad.workspace.run_pending()
        threads = [threading.Thread(target=guarded, args=(work,)) for work in (write, change, search, search)]
        for thread in threads:
            thread.start()
        stop.wait(2)
        wait_until(lambda: stop.is_set() or min(searches[0], len(acknowledged)) > 20)
        stop.set()
        for thread in threads:
            thread.join()
        assert problems == []
        squad.workspace.run_pending()
        expected = len(acknowledged) + 40 if by == "words and meaning" else 0
        assert rows(tmp_path, "SELECT count(DISTINCT number) FROM embeddings") == [(expected,)]
        assert squad.workspace.check() == {}
