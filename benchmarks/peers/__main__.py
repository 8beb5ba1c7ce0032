"""Runs the comparison: `make bench-peers ARGS="--bench-data DIR"`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from benchmarks.kept_vectors import KeptVectors
from benchmarks.peers import measure, prepared, report
from benchmarks.peers.catalogue import MYCEL, PEERS, Peer
from benchmarks.peers.endpoint import Endpoint
from benchmarks.peers.environments import Environment, NotInstallable, ready
from mycel.providers.embeddings.registry import EmbeddingOptions, make_embedder

SIZES = (1_000, 10_000, 100_000)
QUICK_SIZES = (1_000,)
LOAD_SECONDS = 240.0
# Of each peer at each size: what is added to be found at once.
SPARE = measure.ADDS_AND_FINDS


def main() -> None:
    options = _options()
    work = options.work or Path(platformdirs.user_cache_dir("mycel")) / "peers"
    work.mkdir(parents=True, exist_ok=True)
    wanted = [MYCEL, *(peer for peer in PEERS if not options.only or peer.name in options.only)]
    environments, missing = _installed(wanted, work)
    measured: list[measure.Measured] = []
    with tempfile.TemporaryDirectory(dir=work, prefix="run-") as folder, _plan(Path(folder), options) as plan:
        for peer, environment in environments:
            _say(f"measuring {peer.name}")
            measured.append(plan.run(peer, environment))
            _say(f"{peer.name}: {measured[-1].failures or 'done'}")
            # After each, so that a run that is broken off has kept what it found.
            if options.json:
                options.json.write_text(json.dumps(report.as_json(measured, missing=missing), indent=1))
    print(report.markdown(measured, options.sizes, missing=missing))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.peers", description="Mycel beside its peers, all offline.")
    parser.add_argument("--bench-data", type=Path, help="folder with the LoCoMo data, for quality")
    parser.add_argument("--work", type=Path, help="where environments are kept and stores are written")
    parser.add_argument("--model", type=Path, help="folder of a local model, for quality; Mycel's own by default")
    parser.add_argument("--cache", type=Path, help="where vectors of the model are kept for the next run")
    parser.add_argument("--only", type=_names, default=(), help=f"which of {', '.join(p.name for p in PEERS)}")
    parser.add_argument("--sizes", type=_sizes, help="how many memories, growing: 1000,10000,100000")
    parser.add_argument("--load-seconds", type=float, default=LOAD_SECONDS, help="the most that filling may take")
    parser.add_argument("--quick", action="store_true", help="the smallest size alone")
    parser.add_argument("--json", type=Path, help="where to write all figures as well")
    options = parser.parse_args()
    if unknown := set(options.only) - {peer.name for peer in PEERS}:
        parser.error(f"unknown peer: {', '.join(sorted(unknown))}")
    options.sizes = options.sizes or (QUICK_SIZES if options.quick else SIZES)
    return options


def _names(given: str) -> tuple[str, ...]:
    return tuple(given.split(","))


def _sizes(given: str) -> tuple[int, ...]:
    return tuple(sorted(map(int, given.split(","))))


def _installed(peers: Sequence[Peer], work: Path) -> tuple[list[tuple[Peer, Environment]], list[str]]:
    made: list[tuple[Peer, Environment]] = []
    missing: list[str] = []
    for peer in peers:
        _say(f"installing {peer.name}")
        try:
            made.append((peer, ready(peer, work)))
        except NotInstallable as reason:
            missing.append(f"{peer.name} could not be installed: {reason}")
    if not made or made[0][0] is not MYCEL:
        raise SystemExit(missing[0])
    return made, missing


@contextmanager
def _plan(folder: Path, options: argparse.Namespace) -> Iterator[measure.Plan]:
    _say("preparing texts and vectors")
    asked = len(options.sizes) * (measure.QUESTIONS + measure.WARMING)
    speed = prepared.speed(folder, count=max(options.sizes) + len(options.sizes) * SPARE, questions=asked)
    first = prepared.first(folder)
    locomo = None
    if options.bench_data is None:
        print("Quality is measured with --bench-data DIR.")
    elif (embedder := _embedder(options)) is None:
        print("Quality is not measured: there is no model.")
    else:
        locomo = prepared.locomo(folder, options.bench_data, embedder)
    with Endpoint([one for one in (speed, first, locomo) if one]).running() as endpoint:
        yield measure.Plan(options.sizes, options.load_seconds, speed, first, locomo, endpoint, folder / "stores")


def _embedder(options: argparse.Namespace) -> KeptVectors | None:
    chosen = EmbeddingOptions(embedder=str(options.model)) if options.model else EmbeddingOptions()
    embedder = make_embedder(chosen)
    return embedder and KeptVectors(embedder, folder=options.cache)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
