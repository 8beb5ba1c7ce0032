"""What is measured of each peer: adding and searching as the store grows, quality, and the first result."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import Any

from benchmarks import finding_quality
from benchmarks.peers.catalogue import Peer
from benchmarks.peers.child import Child, PeerFailed
from benchmarks.peers.endpoint import Endpoint
from benchmarks.peers.environments import Environment
from benchmarks.peers.prepared import Prepared, Question

LIMIT = 10
QUESTIONS = 200
WARMING = 20
# The last adds before a size is reached, one by one: enough for a 95th percentile.
SINGLE_ADDS = 500
ADDS_AND_FINDS = 30
MOST_SINGLE_SECONDS = 60.0
MOST_SEARCHING_SECONDS = 120.0
# A single call may outlast the time it is given; after this it is not waited for.
GRACE_SECONDS = 120.0
# Quality is no matter of time.
MOST_QUALITY_SECONDS = 900.0
FIRST_RESULTS = 5

Started = Callable[[], Child]


@dataclass(frozen=True, slots=True)
class Sized:
    """At one size; seconds throughout. `projected` is what the filling would have taken, where it was stopped."""

    size: int
    loaded: int
    adds: Sequence[float]
    searches: Sequence[float]
    adds_and_finds: Sequence[float]
    added_in_bulk: int
    bulk_seconds: float
    settling_seconds: float
    projected_seconds: float | None
    answered_percent: float
    found_at_once_percent: float


@dataclass(slots=True)
class Measured:
    """`failures` says by part what went wrong; the other parts stand."""

    peer: Peer
    environment: Environment
    sizes: list[Sized] = field(default_factory=list)
    recall: float | None = None
    gain: float | None = None
    first_seconds: float | None = None
    stored_bytes: int | None = None
    failures: dict[str, str] = field(default_factory=dict)
    # Texts whose vectors were not there beforehand: their time counts, so there should be next to none.
    embedded_meanwhile: int = 0
    load_average: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What all peers are put through."""

    sizes: Sequence[int]
    load_seconds: float
    speed: Prepared
    first: Prepared
    locomo: Prepared | None
    endpoint: Endpoint
    scratch: Path

    def run(self, peer: Peer, environment: Environment) -> Measured:
        measured = Measured(peer, environment)
        home = self.scratch / peer.name
        home.mkdir(parents=True)

        def start() -> Child:
            return Child(environment.python, peer.script, home=home / "home", log=home / "log.txt")

        before = sum(self.endpoint.unknown.values())
        parts = {"first result": self._first, "quality": self._quality, "speed": self._speed}
        for name, part in parts.items():
            try:
                part(measured, start, home / name.replace(" ", "-"))
            except PeerFailed as failure:
                measured.failures[name] = str(failure)[:300]
        measured.embedded_meanwhile = sum(self.endpoint.unknown.values()) - before
        measured.load_average = os.getloadavg()[1]
        return measured

    def _first(self, measured: Measured, start: Started, folder: Path) -> None:
        # Once before, so that no Python file is compiled within the time.
        each = [self._first_once(start, folder / str(turn)) for turn in range(FIRST_RESULTS + 1)]
        measured.first_seconds = median(each[1:])

    def _first_once(self, start: Started, folder: Path) -> float:
        question = self.first.questions[0]
        started = perf_counter()
        with start() as child:
            child.open(folder, self.first, endpoint=self.endpoint.address(self.first.name))
            child.ask("add", GRACE_SECONDS, count=1, seconds=GRACE_SECONDS)
            found = _search(child, [question], seconds=GRACE_SECONDS)["found"]
            seconds = perf_counter() - started
        if not question.gold & set(found[0]):
            raise PeerFailed("did not find the one memory it has")
        return seconds

    def _quality(self, measured: Measured, start: Started, folder: Path) -> None:
        if self.locomo is None:
            return
        with start() as child:
            opened = child.open(folder, self.locomo, endpoint=self.endpoint.address(self.locomo.name))
            wanted = {"count": self.locomo.texts, "seconds": MOST_QUALITY_SECONDS}
            if opened["bulk"]:
                added = child.ask("add_many", MOST_QUALITY_SECONDS + GRACE_SECONDS, **wanted)["added"]
            else:
                added = len(child.ask("add", MOST_QUALITY_SECONDS + GRACE_SECONDS, **wanted)["each"])
            child.ask("settle", MOST_QUALITY_SECONDS)
            found = _search(child, self.locomo.questions, seconds=MOST_QUALITY_SECONDS)["found"]
        if added < self.locomo.texts or len(found) < len(self.locomo.questions):
            raise PeerFailed(f"not done within {MOST_QUALITY_SECONDS:.0f} s")
        answers = [
            finding_quality.Answer(finding_quality.Question(asked.text, asked.scope, asked.gold), ids)
            for asked, ids in zip(self.locomo.questions, found, strict=True)
        ]
        measured.recall = 100 * mean(answer.recall for answer in answers)
        measured.gain = 100 * mean(answer.gain for answer in answers)

    def _speed(self, measured: Measured, start: Started, folder: Path) -> None:
        with start() as child:
            opened = child.open(folder, self.speed, endpoint=self.endpoint.address(self.speed.name))
            loaded = 0
            for place, size in enumerate(self.sizes):
                asked = QUESTIONS + WARMING
                questions = self.speed.questions[place * asked : (place + 1) * asked]
                sized = self._at_size(child, size, loaded, questions, bulk=opened["bulk"])
                measured.sizes.append(sized)
                loaded = sized.loaded + len(sized.adds_and_finds)
                if sized.projected_seconds is not None:
                    break
        measured.stored_bytes = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())

    def _at_size(self, child: Child, size: int, loaded: int, questions: Sequence[Question], *, bulk: bool) -> Sized:
        filling = size - loaded - min(SINGLE_ADDS, size - loaded)
        added, spent, adds = 0, 0.0, []
        patience = self.load_seconds + GRACE_SECONDS
        if bulk and filling:
            answer = child.ask("add_many", patience, count=filling, seconds=self.load_seconds)
            added, spent = answer["added"], answer["seconds"]
        elif filling:
            adds = child.ask("add", patience, count=filling, seconds=self.load_seconds)["each"]
        stopped = added + len(adds) < filling
        if not stopped or bulk:
            more = {"count": size - loaded - filling, "seconds": MOST_SINGLE_SECONDS}
            adds += child.ask("add", MOST_SINGLE_SECONDS + GRACE_SECONDS, **more)["each"]
        reached = loaded + added + len(adds)
        projected = (spent + sum(adds)) * (size - loaded) / (reached - loaded) if stopped else None
        settling = child.ask("settle", patience)["seconds"]
        _search(child, questions[:WARMING], seconds=MOST_SEARCHING_SECONDS)
        searched = _search(child, questions[WARMING:], seconds=MOST_SEARCHING_SECONDS)
        again = {"count": ADDS_AND_FINDS, "limit": LIMIT, "seconds": MOST_SINGLE_SECONDS}
        at_once = child.ask("add_and_find", MOST_SINGLE_SECONDS + GRACE_SECONDS, **again)
        return Sized(
            size=size,
            loaded=reached,
            adds=adds[-SINGLE_ADDS:],
            searches=searched["each"],
            adds_and_finds=at_once["each"],
            added_in_bulk=added,
            bulk_seconds=spent,
            settling_seconds=settling,
            projected_seconds=projected,
            answered_percent=_answered_percent(questions[WARMING:], searched["found"]),
            found_at_once_percent=100 * at_once["found"] / len(at_once["each"]),
        )


def _search(child: Child, questions: Sequence[Question], *, seconds: float) -> dict[str, Any]:
    asked = [(question.text, question.scope) for question in questions]
    return child.ask("search", seconds + GRACE_SECONDS, questions=asked, limit=LIMIT, seconds=seconds)


def _answered_percent(questions: Sequence[Question], found: Sequence[Sequence[str]]) -> float:
    """Questions whose note is among the hits; some may not have been asked in time."""
    pairs = list(zip(questions, found, strict=False))
    return 100 * sum(bool(question.gold & set(ids)) for question, ids in pairs) / len(pairs)
