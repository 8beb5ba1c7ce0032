r"""Builds the training text: downloads pinned packages, cleans their texts, and writes the compressed lists.

Each line of `more.txt.xz` is `kind<TAB>text`; each line of `pairs.txt.xz` is `pair<TAB>query<TAB>code`. In every column
a backslash is written `\\`, a newline `\n` and a tab `\t`. `sources.json` says what each package gave.
The texts of a source are kept under `found` in the work folder; delete that folder after changing a reader.

    python -m training.gather --work FOLDER --out FOLDER
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
import tomllib
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

from training.gather import questions, talk
from training.gather.clean import Sieve, Text, digest, escape
from training.gather.fetch import Source, unpack
from training.gather.packages import package_texts

HERE = Path(__file__).parent
# Megabytes of xz each kind may take; together a little under the limit of the two files.
SHARES = {
    "pair": 5.2,
    "code": 3.0,
    "docs": 5.4,
    "docstring": 1.5,
    "science": 3.7,
    "gloss": 1.8,
    "general": 2.8,
    "dialogue": 2.0,
    "question": 1.5,
}
MEGABYTE = 1_000_000
RUN_ROWS = 500
FOUND_BY_SOURCE = dict[str, list[Text]]


def load_sources(path: Path) -> list[Source]:
    """The pinned packages in the order of the file."""
    entries = tomllib.loads(path.read_text())["source"]
    return [Source(kinds=tuple(entry.pop("kinds")), **entry) for entry in entries]


def collect(job: tuple[Source, Path, Path]) -> tuple[Source, Path | None]:
    """Download one source and store its texts; a source that fails gives a warning and nothing else."""
    source, work, found = job
    target = found / (source.folder.replace("/", "__") + ".jsonl")
    if target.exists():
        return source, target
    try:
        folder = work if source.registry == "index" else unpack(source, work)
        lines = [json.dumps(item) for item in package_texts(source, folder)]
    except Exception as error:  # noqa: BLE001 - one broken package must not stop the others
        print(f"skipped {source.key}: {error!r:.200}", file=sys.stderr)
        return source, None
    target.write_text("\n".join(lines))
    return source, target


def sieved(results: list[tuple[Source, Path | None]]) -> FOUND_BY_SOURCE:
    """Keep each text once, over all the sources."""
    sieve = Sieve()
    kept: FOUND_BY_SOURCE = {}
    # Data sources first: when a text is in both, the scarcer kind keeps it.
    for source, path in sorted(results, key=lambda r: (not r[0].reader, r[0].key)):
        lines = path.read_text().split("\n") if path and path.stat().st_size else []
        items = (Text(*json.loads(line)) for line in lines)
        kept[source.key] = [item for item in items if sieve.accepts(item, source.key)]
    return kept


def add_generated(kept: FOUND_BY_SOURCE, sources: list[Source], work: Path) -> None:
    """Conversation lines and questions about people, with first names read from the faker package."""
    faker = next((s for s in sources if s.name == "faker"), None)
    names = questions.first_names(work / faker.folder) if faker else []
    sieve = Sieve()
    made: list[Text] = []
    for items in list(kept.values()):
        for item in items:
            if item.kind == "dialogue" or (item.kind == "general" and " I " in item.text):
                made.extend(questions.from_dialogue(item.text, names))
    wordnet = next((s for s in sources if s.reader == "wordnet"), None)
    if wordnet:
        made.extend(talk.talk(work / wordnet.folder, names))
    kept["generated:talk"] = [item for item in made if sieve.accepts(item, "generated")]


def chosen(kept: FOUND_BY_SOURCE, megabytes: dict[str, float]) -> dict[str, list[tuple[str, Text]]]:
    """For each kind a seeded sample that fits its share, in source order because that compresses best."""
    by_kind: dict[str, list[tuple[str, Text]]] = defaultdict(list)
    for key, items in sorted(kept.items()):
        for item in items:
            by_kind[item.kind].append((key, item))
    with ThreadPoolExecutor() as pool:
        fitting = pool.map(lambda kind: _fitting(by_kind[kind], megabytes.get(kind, 0.0) * MEGABYTE), sorted(by_kind))
        return dict(zip(sorted(by_kind), fitting, strict=True))


def _fitting(rows: list[tuple[str, Text]], room: float) -> list[tuple[str, Text]]:
    # Runs of rows compress nearly as well as the whole, and a tenth of it is enough to know the ratio.
    runs = [row for start in range(0, len(rows), 10 * RUN_ROWS) for row in rows[start : start + RUN_ROWS]]
    probe = "".join(f"{line(item)}\n" for _, item in runs).encode()
    ratio = len(lzma.compress(probe, preset=6)) / max(1, len(probe))
    total = sum(len(line(item).encode()) + 1 for _, item in rows)
    threshold = int(min(1.0, room / max(1.0, total * ratio)) * 2**64)
    return [row for row in rows if digest(row[1].text) < threshold]


def line(item: Text) -> str:
    """One output line without its newline."""
    columns = (item.kind, item.query, item.text) if item.kind == "pair" else (item.kind, item.text)
    return "\t".join(escape(column) for column in columns)


def compressed(rows: list[tuple[str, Text]]) -> bytes:
    """The xz file of these rows."""
    return lzma.compress("".join(f"{line(item)}\n" for _, item in rows).encode(), preset=6)


def write(out: Path, kept: FOUND_BY_SOURCE, sources: list[Source], share: float) -> None:
    """Write the text files and the listing of what each package gave."""
    selection = chosen(kept, {kind: size * share for kind, size in SHARES.items()})
    pairs = selection.pop("pair", [])
    rest = [row for found in selection.values() for row in found]
    (out / "sources.json").write_text(json.dumps(_listing([*pairs, *rest], sources), indent=1) + "\n")
    with ThreadPoolExecutor() as pool:  # xz works outside the interpreter lock
        for name, packed in zip(("pairs", "more"), pool.map(compressed, (pairs, rest)), strict=True):
            (out / f"{name}.txt.xz").write_bytes(packed)
    print({kind: len(found) for kind, found in {**selection, "pair": pairs}.items()})


def _listing(rows: list[tuple[str, Text]], sources: list[Source]) -> list[dict[str, object]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for key, item in rows:
        counts[key][item.kind] += 1
    known = {s.key: s for s in sources}
    listing: list[dict[str, object]] = []
    for key in sorted(counts):
        source = known.get(key)
        entry: dict[str, object] = {"package": key, "texts": dict(sorted(counts[key].items()))}
        if source:
            entry |= {"version": source.version, "licence": source.licence}
        listing.append(entry)
    return listing


def main() -> None:
    """Parse the arguments and run the steps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="where packages are downloaded and unpacked")
    parser.add_argument("--out", type=Path, required=True, help="where the text files are written")
    parser.add_argument("--sources", type=Path, default=HERE / "sources.toml")
    parser.add_argument("--share", type=float, default=1.0, help="scales the size limit of every kind")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    found = options.work / "found"
    found.mkdir(parents=True, exist_ok=True)
    options.out.mkdir(parents=True, exist_ok=True)
    sources = load_sources(options.sources)
    with ProcessPoolExecutor(options.processes) as pool:
        jobs = [(s, options.work, found) for s in sorted(sources, key=lambda s: (not s.reader, s.key))]
        results = list(pool.map(collect, jobs, chunksize=1))
    kept = sieved(results)
    add_generated(kept, sources, options.work)
    write(options.out, kept, sources, options.share)


if __name__ == "__main__":
    main()
