"""A data directory that an earlier version made is opened, tells the same, and goes on."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from mycel.testing.clock import ManualClock
from tests.reliability.earlier_directory import ARCHIVE, QUESTION, told
from tests.squad import Squad, open_squad, wide_embedder


@pytest.fixture
def then(tmp_path: Path) -> dict[str, Any]:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    return json.loads((tmp_path / "told.json").read_text())


@pytest.fixture
def squad(tmp_path: Path, then: dict[str, Any]) -> Iterator[Squad]:
    clock = ManualClock(datetime.fromisoformat(then.pop("at")))
    squad = open_squad(tmp_path / "data", clock=clock, embedder=wide_embedder())
    with squad.workspace:
        yield squad


# What an earlier version told under another name.
RENAMED = {"valid_from": "believed_from", "valid_to": "believed_until"}


def missing(then: Any, now: Any, at: str = "") -> list[str]:
    """Where the present lacks something of the past, or has it otherwise; what it has beside is its own affair."""
    if isinstance(then, dict):
        return [
            place
            for name, inner in ((old if old in now else RENAMED.get(old, old), inner) for old, inner in then.items())
            for place in (missing(inner, now[name], f"{at}.{name}") if name in now else [f"{at}.{name}"])
        ]
    if isinstance(then, list):
        if len(then) != len(now):
            return [f"{at}: {len(then)} are {len(now)}"]
        return [place for n, inner in enumerate(then) for place in missing(inner, now[n], f"{at}[{n}]")]
    return [] if then == now else [f"{at}: {then!r} is {now!r}"]


def test_everybody_is_told_the_same_as_before(squad: Squad, then: dict[str, Any]) -> None:
    assert len(then["swe-1"]["memories"]) > 10
    assert all(then["swe-1"][kind] for kind in ("sources", "episodes", "artifacts", "knowledge", "inbox", "reports"))
    # Why something waits is worded anew.
    for item in (item for one in then.values() if "inbox" in one for item in one["inbox"]):
        del item["reason"]
    now = told(squad)
    for name, one in then.items():
        # More may be found by now, and what was found is found still.
        if "found" in one:
            assert set(one.pop("found")) <= set(now[name]["found"])
    assert not missing(then, now)


def test_it_is_whole_and_goes_on(squad: Squad, then: dict[str, Any]) -> None:
    assert not any(squad.workspace.check().values())
    old = squad.author.search(QUESTION).hits[0].memory
    squad.author.update(old.id, content="Prices are rounded half-even, per basket.")
    new = squad.author.save("Prices are shown with two digits.")
    mine = next(one for one in then["swe-1"]["memories"] if one["visibility"] == "private")
    squad.author.purge(mine["id"])
    squad.workspace.run_pending()
    squad.workspace.scrub()
    assert {old.id, new.id} <= {hit.memory.id for hit in squad.teammate.search("prices").hits}
    assert [version.memory.version for version in squad.author.history(old.id)][-1] == old.version + 1
    assert not any(squad.workspace.check().values())
