"""Purged text is gone from the bytes of every file, not only from the answers."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mycel.access.scope import read_scope
from mycel.app import open_workspace
from mycel.domain.ids import MemberId, SourceId, TeamName, new_id
from mycel.domain.memory import EvidenceRef, Memory, SourceKind
from mycel.domain.receipt import Erasure
from mycel.domain.source import Source
from mycel.domain.team import Caller, Role
from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.workspace import Workspace
from mycel.stores.sqlite import connection as connections
from mycel.stores.sqlite import write_ahead_log
from mycel.testing.clock import ManualClock
from tests.reliability.crowd import Crowd
from tests.reliability.inspection import find_damage, find_words, team_file

TEAM = "builders"
FILLER = ("rivers", "flow", "while", "mountains", "stand", "and", "the", "wind", "goes", "over", "plain")


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "data") as workspace:
        workspace.add_team(TEAM)
        yield workspace


@pytest.fixture
def memory(workspace: Workspace) -> TeamMemory:
    return workspace.as_operator(TEAM)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


class Words:
    """Words that stand nowhere else: no two share a beginning, so that no index can shorten them."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def new(self) -> str:
        return "".join(self._random.choices("bcdfghklmnprstvz", k=14))

    def fields(self, *, length: int) -> tuple[dict[str, Any], list[str]]:
        """All the texts a memory can carry, and every distinctive word in them."""
        used = [self.new() for _ in range(11)]
        title, summary, tag, rationale, other, name, value, category, key, session, content = used
        padding = self._random.choices(FILLER, k=length)
        fields: dict[str, Any] = {
            "content": f"{content} {' '.join(padding)} {content}",
            "title": title,
            "summary": f"a summary with {summary}",
            "tags": [tag],
            "rationale": f"because of {rationale}",
            "alternatives": [f"or {other}"],
            "metadata": {name: {"deep": [value]}},
            "category": category,
            "key": key,
            "session_id": session,
        }
        return fields, used


def save(memory: TeamMemory, fields: dict[str, Any], **more: Any) -> Memory:
    return memory.save(fields["content"], **{name: fields[name] for name in fields if name != "content"}, **more)


def test_the_receipt_tells_when_only_the_answers_and_when_the_bytes_are_clean(
    workspace: Workspace, memory: TeamMemory, data: Path
) -> None:
    words = Words(1)
    fields, used = words.fields(length=30)
    key = words.new()
    saved = save(memory, fields, idempotency_key=key)
    assert set(find_words(data, [*used, key])) & {"memory.sqlite", "memory.sqlite-wal"}
    receipt = memory.purge(saved.id)
    assert (receipt.state, receipt.scrubbed_at) == (Erasure.LOGICAL, None)
    assert memory.receipt(saved.id).state is Erasure.LOGICAL
    assert workspace.run_pending() == 1
    assert memory.receipt(saved.id).state is Erasure.SCRUBBED
    assert find_words(data, [*used, key]) == {}
    assert workspace.run_pending() == 0


def test_old_versions_go_as_well_however_long_they_were(workspace: Workspace, memory: TeamMemory, data: Path) -> None:
    words = Words(2)
    fields, used = words.fields(length=9000)
    saved = save(memory, fields)
    for length in (10, 9500, 3, 700):
        fields, more = words.fields(length=length)
        reason = words.new()
        memory.update(saved.id, reason=f"since {reason}", **fields)
        used += [*more, reason]
    memory.delete(saved.id)
    memory.purge(saved.id)
    workspace.run_pending()
    assert find_words(data, used) == {}


def test_a_purged_artifact_leaves_neither_path_nor_text_nor_checksum(
    workspace: Workspace, memory: TeamMemory, data: Path
) -> None:
    words = Words(13)
    path, description, kept = words.new(), words.new(), words.new()
    made = memory.artifacts.register(
        path=f"src/{path}.py", description=description, content=kept, keep_content=True, idempotency_key=words.new()
    )
    used = [path, description, kept, str(made.checksum)]
    assert {word for found in find_words(data, used).values() for word in found} == set(used)
    memory.purge(made.id)
    workspace.run_pending()
    assert find_words(data, used) == {}
    assert memory.receipt(made.id).state is Erasure.SCRUBBED


def fill(memory: TeamMemory, words: Words, *, memories: int, random: Random) -> dict[str, list[str]]:
    """Memories of all lengths, half of them changed once or more; the words of each by its id."""
    lengths = (3, 10, 30, 80, 200, 400, 400, 9000)
    drafts = [
        words.fields(length=random.choices(lengths, weights=(9, 9, 9, 9, 6, 6, 6, 1))[0]) for _ in range(memories)
    ]
    with ThreadPoolExecutor(16) as pool:
        saved = list(pool.map(lambda draft: save(memory, draft[0]).id, drafts))
        used = {id: list(draft[1]) for id, draft in zip(saved, drafts, strict=True)}
        changes: list[tuple[str, dict[str, Any]]] = []
        for id in random.choices(saved, k=memories):
            fields, more = words.fields(length=random.choice(lengths[:-1]))
            changes.append((id, fields))
            used[id] += more
        list(pool.map(lambda change: memory.update(change[0], **change[1]), changes))
    return used


def check_purge(workspace: Workspace, data: Path, *, seed: int, memories: int, purged: int) -> None:
    memory, random = workspace.as_operator(TEAM), Random(seed)
    used = fill(memory, Words(seed), memories=memories, random=random)
    gone = random.sample(sorted(used), purged)
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(memory.purge, gone))
    workspace.run_pending()
    states = {memory.receipt(id).state for id in gone}
    assert states == {Erasure.SCRUBBED}
    left = find_words(data, [word for id in gone for word in used[id]])
    assert {file: len(words) for file, words in left.items()} == {}
    kept = next(id for id in used if id not in gone)
    assert memory.get(kept).content.split()[0] in used[kept]
    assert workspace.check() == {}
    assert find_damage(team_file(data, TEAM)) == []


@pytest.mark.parametrize("seed", [11, 12])
def test_nothing_is_left_between_the_rows_of_others(workspace: Workspace, data: Path, seed: int) -> None:
    """Pages that split keep stale copies of rows in their free space."""
    check_purge(workspace, data, seed=seed, memories=700, purged=250)


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(20, 30))
def test_nothing_is_left_between_the_rows_of_thousands(workspace: Workspace, data: Path, seed: int) -> None:
    check_purge(workspace, data, seed=seed, memories=3000, purged=500)


def test_words_of_the_purged_are_gone_from_an_index_that_was_merged_before(
    workspace: Workspace, memory: TeamMemory, data: Path
) -> None:
    words = Words(3)
    for _ in range(3):
        drafts = [words.fields(length=20) for _ in range(60)]
        saved = [save(memory, fields).id for fields, _ in drafts]
        for id in saved[:30]:
            memory.purge(id)
        workspace.run_pending()
        assert find_words(data, [word for _, used in drafts[:30] for word in used]) == {}


def test_a_reader_in_the_middle_of_a_query_delays_the_scrub(
    workspace: Workspace, memory: TeamMemory, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_ahead_log, "CHECKPOINT_SECONDS", 0.2)
    monkeypatch.setattr(connections, "BUSY_SECONDS", 0.1)
    fields, used = Words(4).fields(length=50)
    saved = save(memory, fields)
    reader = connections.open_reader(team_file(data, TEAM))
    try:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memories").fetchall()
        memory.purge(saved.id)
        assert workspace.run_pending() == 0
        assert memory.receipt(saved.id).state is Erasure.LOGICAL
        memory.save("writing goes on meanwhile")
    finally:
        reader.close()
    assert workspace.run_pending() == 1
    assert memory.receipt(saved.id).state is Erasure.SCRUBBED
    assert find_words(data, used) == {}


def test_a_later_purge_is_not_settled_by_an_earlier_scrub(workspace: Workspace, memory: TeamMemory) -> None:
    first, second = memory.save("one"), memory.save("two")
    memory.purge(first.id)
    workspace.run_pending()
    memory.purge(second.id)
    assert memory.receipt(first.id).state is Erasure.SCRUBBED
    assert memory.receipt(second.id).state is Erasure.LOGICAL


class Evidence:
    """A store with one source and memories that rest on parts of it, as extraction will make them."""

    def __init__(self, folder: Path) -> None:
        self.crowd = Crowd(folder)
        self.caller = Caller(MemberId("ada"), TeamName("builders"), Role.ADMIN)
        self.scope = read_scope(self.caller)

    def add_source(self, text: str, *, title: str | None = None) -> SourceId:
        source = Source(
            id=SourceId(new_id()),
            kind=SourceKind.CONVERSATION,
            agent_id=self.caller.member_id,
            text=text,
            sha256="0" * 64,
            title=title,
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
        )
        self.crowd.store.transact(lambda transaction: transaction.sources.add(source))
        return source.id

    def add_memory(self, source_id: SourceId, start: int, end: int) -> Memory:
        memory = self.crowd.save("rests on a part of a source", source={"source_id": source_id})
        found = EvidenceRef(source_id, start, end)

        def attach(transaction: Any) -> None:
            packed = f'["{found.source_id}",{found.start},{found.end}]'
            transaction.connection.execute("UPDATE memories SET evidence_ref = ? WHERE id = ?", (packed, memory.id))

        self.crowd.store.transact(attach)
        return memory

    def purge(self, memory: Memory) -> None:
        self.crowd.writing.purge(self.caller, memory.id)
        self.crowd.store.files.scrub()

    def text(self, source_id: SourceId) -> str:
        source = self.crowd.store.sources.find(self.scope, source_id)
        assert source is not None
        return source.text


@pytest.fixture
def evidence(tmp_path: Path) -> Iterator[Evidence]:
    evidence = Evidence(tmp_path)
    yield evidence
    evidence.crowd.close()


def test_a_source_that_only_the_purged_memory_used_loses_its_text(evidence: Evidence, tmp_path: Path) -> None:
    word, long = Words(5).new(), " ".join(FILLER * 900)
    source = evidence.add_source(f"{long} {word} {long}")
    memory = evidence.add_memory(source, 4, 9)
    evidence.purge(memory)
    assert find_words(tmp_path, [word, "mountains stand"]) == {}
    assert len(evidence.text(source)) == len(f"{long} {word} {long}")


def test_of_a_shared_source_only_the_evidence_is_blanked_and_all_else_keeps_its_place(
    evidence: Evidence, tmp_path: Path
) -> None:
    mine, yours = "søkrötchen", "brzdzvfg"
    text = f"ünder {mine} liegt {yours} daneben"
    source = evidence.add_source(text)
    start = text.index(mine)
    memory = evidence.add_memory(source, start, start + len(mine))
    evidence.add_memory(source, text.index(yours), text.index(yours) + len(yours))
    evidence.purge(memory)
    left = evidence.text(source)
    assert len(left) == len(text)
    assert left.index(yours) == text.index(yours)
    assert left.replace("\N{FULL BLOCK}" * len(mine), mine) == text
    assert find_words(tmp_path, [mine]) == {}


def test_the_last_memory_of_a_shared_source_takes_the_rest_of_it_along(evidence: Evidence, tmp_path: Path) -> None:
    words = Words(6)
    used = [words.new() for _ in range(4)]
    source = evidence.add_source(" ".join(used), title=f"a talk of {used[3]}")
    first = evidence.add_memory(source, 0, 14)
    second = evidence.add_memory(source, 15, 29)
    evidence.purge(first)
    evidence.purge(second)
    assert find_words(tmp_path, used) == {}


def backup(workspace: Workspace, folder: Path) -> str:
    return workspace.backup(folder).folder


def test_the_receipt_names_the_backups_that_still_hold_the_memory(
    workspace: Workspace, memory: TeamMemory, tmp_path: Path
) -> None:
    memory.save("so that there is a store")
    backup(workspace, tmp_path / "too early")
    word = Words(7).new()
    saved = memory.save(word)
    holding = backup(workspace, tmp_path / "holding")
    memory.purge(saved.id)
    workspace.run_pending()
    backup(workspace, tmp_path / "too late")
    assert memory.receipt(saved.id).held_by_backups == (holding,)
    assert find_words(tmp_path / "holding", [word]) == {"memory.sqlite": [word]}
    assert find_words(tmp_path / "too late", [word]) == {}


def test_a_backup_made_between_purge_and_scrub_may_hold_bytes_and_is_named(
    workspace: Workspace, memory: TeamMemory, tmp_path: Path
) -> None:
    saved = memory.save(Words(9).new())
    memory.purge(saved.id)
    holding = backup(workspace, tmp_path / "holding")
    workspace.run_pending()
    assert memory.receipt(saved.id).held_by_backups == (holding,)


@pytest.mark.parametrize("step", [timedelta(days=-3), timedelta(days=3650)], ids=str)
def test_a_clock_that_steps_hides_no_backup(tmp_path: Path, step: timedelta) -> None:
    clock = ManualClock()
    with open_workspace(tmp_path / "data", clock=clock) as workspace:
        workspace.add_team(TEAM)
        memory = workspace.as_operator(TEAM)
        saved = memory.save("held by a backup")
        clock.move(step)
        holding = backup(workspace, tmp_path / "holding")
        clock.move(-step)
        memory.purge(saved.id)
        assert memory.receipt(saved.id).held_by_backups == (holding,)


def test_a_purge_while_a_backup_is_made_still_names_it(
    workspace: Workspace, memory: TeamMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy holds the memory; it is purged before the copy has its final name."""
    saved = memory.save(word := Words(8).new())
    real_replace: Callable[[Path, Path], Path] = Path.replace

    def purge_then_replace(unfinished: Path, target: Path) -> Path:
        if target.name == "memory.sqlite":
            memory.purge(saved.id)
        return real_replace(unfinished, target)

    monkeypatch.setattr(Path, "replace", purge_then_replace)
    holding = backup(workspace, tmp_path / "holding")
    assert find_words(tmp_path / "holding", [word]) == {"memory.sqlite": [word]}
    assert memory.receipt(saved.id).held_by_backups == (holding,)
