import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mycel.access.scope import ReadScope
from mycel.domain.embedding import IndexRow
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.query import Filters
from mycel.domain.team import Role
from mycel.index import index_file, scan
from mycel.index.team_index import Cursor, TeamIndex
from mycel.index.vectors import quantised
from mycel.retrieval.terms import HEAD, PER_ONE, pack, packed_number

READER = ReadScope(TeamName("team"), MemberId("ann"), Role.MEMBER)
DIMENSIONS = 16


def row(number: int) -> IndexRow:
    return IndexRow(
        number, "team" if number % 5 else "private", "bob", None, "active", None, None, "fact", "global", None, None,
        f"/日本/{number % 3}", number, None, None, f"s{number // 4}", None,
        '["a","b"]' if number % 2 else None, 0,
    )  # fmt: skip


def packed(*words: str) -> bytes:
    return pack(dict.fromkeys(map(packed_number, words), PER_ONE), len(words))


def filled(count: int = 30) -> TeamIndex:
    index = TeamIndex("model", DIMENSIONS)
    vectors = quantised(np.random.default_rng(0).normal(size=(count * 2, DIMENSIONS)).astype(np.float32))
    index.apply(
        map(row, range(1, count)),
        terms=[(number, packed(f"w{number % 3}", "heron")) for number in range(1, count)],
        gone=(),
        embedded=[(number, vectors[number * 2 : number * 2 + 1 + number % 2]) for number in range(1, count)],
        cursor=Cursor(41, 42, "the anchor"),
    )
    return index


def load(path: Path) -> TeamIndex | None:
    return index_file.load(path)


def answers(index: TeamIndex) -> list[object]:
    query = np.linspace(-1, 1, DIMENSIONS, dtype=np.float32)
    found: list[object] = [index.count, index.passages, index.sequence, index.embedding_id, index.anchor]
    for asked in (Filters(), Filters(path="/日本/1"), Filters(tags=("b",)), Filters(session_id="s2")):
        numbers, cosines = index.nearest(query, index.mask(READER, asked), limit=12)
        found += [numbers.tolist(), cosines.tolist()]
    found.append(index.word_statistics(READER, ["heron", "w1", "absent"]))
    return found


def change(index: TeamIndex) -> None:
    vectors = quantised(np.eye(3, DIMENSIONS, dtype=np.float32))
    embedded = [(2, vectors[:2]), (5_000, vectors[2:])]
    terms = [(5_000, packed("heron")), (2, packed("w1"))]
    index.apply([row(5_000), row(2)], terms=terms, gone=(3, 4), embedded=embedded, cursor=Cursor(50, 60, "next"))


@pytest.mark.parametrize("exact_rows", [10_000, 10], ids=["without sign bits", "with sign bits"])
def test_an_index_comes_back_as_it_was_and_goes_on(
    tmp_path: Path, exact_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "EXACT_ROWS", exact_rows)
    index, path = filled(), tmp_path / "index"
    index_file.save(index, path)
    loaded = load(path)
    assert loaded is not None
    assert answers(loaded) == answers(index)
    change(index)
    change(loaded)
    assert answers(loaded) == answers(index)
    index_file.save(loaded, path)
    again = load(path)
    assert again is not None
    assert answers(again) == answers(index)


def test_an_empty_index_comes_back_empty(tmp_path: Path) -> None:
    index_file.save(TeamIndex("model", DIMENSIONS), tmp_path / "index")
    loaded = load(tmp_path / "index")
    assert loaded is not None
    assert loaded.count == 0
    change(loaded)
    assert loaded.count == 2


def test_only_its_owner_can_read_the_file_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "index"
    path.write_text("something older")
    path.chmod(0o644)
    index_file.save(filled(), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_save_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "index"
    index_file.save(filled(), path)

    def full(_: int) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        index_file.save(filled(count=5), path)
    assert list(tmp_path.iterdir()) == [path]
    loaded = load(path)
    assert loaded is not None
    assert loaded.count == 29


def test_what_was_purged_is_not_in_the_file(tmp_path: Path) -> None:
    index, path = filled(), tmp_path / "index"
    secret = row(77)._replace(path="/secret", tags='["classified"]', key="hidden")
    vector = quantised(np.linspace(1, 3, DIMENSIONS, dtype=np.float32)[np.newaxis])
    terms = packed("plan")
    index.apply([secret], terms=[(77, terms)], gone=(), embedded=[(77, vector)], cursor=Cursor(1, 1))
    index_file.save(index, path)
    told = (b"secret", b"classified", b"hidden", vector[0], terms[HEAD.size : -1])
    assert all(part in path.read_bytes() for part in told)
    assert b"plan" not in path.read_bytes()
    index.apply([], terms=(), gone=[77], embedded=[], cursor=Cursor(2, 1))
    index_file.save(index, path)
    assert not any(part in path.read_bytes() for part in told)


def test_no_file_loads_as_nothing(tmp_path: Path) -> None:
    assert load(tmp_path / "index") is None
    assert load(tmp_path) is None


def test_another_model_leaves_the_words_as_they_are(tmp_path: Path) -> None:
    index_file.save(filled(), tmp_path / "index")
    loaded = load(tmp_path / "index")
    assert loaded is not None
    words = loaded.word_statistics(READER, ["heron"])
    loaded.use("another", 8)
    assert (loaded.model, loaded.dimensions, loaded.count, loaded.embedding_id) == ("another", 8, 0, 0)
    assert loaded.word_statistics(READER, ["heron"]) == words


def test_another_format_loads_as_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index_file.save(filled(), tmp_path / "index")
    monkeypatch.setattr(index_file, "FORMAT", index_file.FORMAT + 1)
    assert load(tmp_path / "index") is None


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "index"
    index_file.save(filled(), path)
    return path.read_bytes()


damage = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@damage
@given(st.data())
def test_a_file_with_any_byte_changed_loads_as_nothing(tmp_path: Path, whole: bytes, data: st.DataObject) -> None:
    # The beginning is where most can go wrong, and small beside the arrays.
    place = data.draw(st.one_of(st.integers(0, 60), st.integers(0, len(whole) - 1)))
    flipped = bytearray(whole)
    flipped[place] ^= data.draw(st.integers(1, 255))
    (tmp_path / "index").write_bytes(flipped)
    assert load(tmp_path / "index") is None


@damage
@given(st.data())
def test_a_file_cut_anywhere_or_with_more_behind_loads_as_nothing(
    tmp_path: Path, whole: bytes, data: st.DataObject
) -> None:
    end = data.draw(st.one_of(st.integers(0, 60), st.integers(0, len(whole) - 1)))
    more = data.draw(st.binary(min_size=1, max_size=9))
    for damaged in (whole[:end], whole + more):
        (tmp_path / "index").write_bytes(damaged)
        assert load(tmp_path / "index") is None
