"""Walks an unpacked package and yields the texts of its documentation and its source files."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from training.gather import prose, python_source, questions
from training.gather.clean import Text, digest, is_code
from training.gather.fetch import Source
from training.gather.readers import READERS, read

# Enough of each package to be represented, not enough for a large one to drown the others.
MAX_PYTHON_FILES = 45
MAX_DOC_FILES = 110
MAX_MANUAL_FILES = 700
MAX_FILE_BYTES = 400_000
MAX_TEXTS = 1500
CAPS = {
    "service-models": 40_000,
    "abstracts": 60_000,
    "obo": 60_000,
    "wordnet": 200_000,
    "gene-ontology": 60_000,
    "debian-descriptions": 90_000,
    "books": 25_000,
    "r-books": 60_000,
    "html": 9_000,
    "ontology-json": 60_000,
}
DEFAULT_CAP = 25_000
NOT_PROSE = re.compile(
    r"licen[sc]e|copying|notice|authors|contributors|credits|thanks|changes?log.*json|requirements|sources\.txt", re.I
)
NOT_ENGLISH = re.compile(
    r"/(?:locales?|i18n|translations?|[a-z]{2}[_-][A-Z]{2}|zh|ja|ko|fr|de|es|ru|pt|it)/|\.(?:zh|ja|ko|fr|de|es|ru|pt)[.-]",
    re.I,
)
TEST_FILE = re.compile(r"/tests?/|/test_|_test\.py|conftest|/vendor/|/_vendor/|/migrations/|_pb2|third_party")
SNIPPET = re.compile(
    r"^(?:export )?(?:async )?(?:function|class|const \w+ = (?:async )?\(|func |pub fn |fn )", re.MULTILINE
)
FENCED = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def package_texts(source: Source, folder: Path) -> Iterator[Text]:
    """All the texts one source gives, capped, in a stable order."""
    if source.reader in READERS:
        yield from islice(READERS[source.reader](folder), CAPS.get(source.reader, DEFAULT_CAP))
        return
    kind = "science" if "science" in source.kinds else "docs"
    cap = CAPS.get(source.reader, MAX_TEXTS)
    files_limit = MAX_MANUAL_FILES if source.reader == "html" else MAX_DOC_FILES
    yield from islice(_documentation(folder, kind, files_limit), cap)
    yield from islice(_python(folder), 2 * MAX_TEXTS)
    yield from islice(_other_code(folder), 400)


def _documentation(folder: Path, kind: str, files_limit: int) -> Iterator[Text]:
    for path in _chosen(folder, (".rst", ".md", ".txt", ".html", ".pod", ".mdx", ".rst.txt", ".gz"), files_limit):
        if (
            NOT_PROSE.search(path.name)
            or NOT_ENGLISH.search(str(path))
            or path.name.endswith((".tar.gz", "changelog.gz"))
        ):
            continue
        raw = _readable(path)
        if path.name.endswith(".html"):
            raw = prose.html_to_text(raw)
        for item in prose.texts(raw, kind):
            if item.kind == "heading":
                yield from questions.from_heading(item.text)
            else:
                yield item
        for language, code in FENCED.findall(raw):
            snippet = python_source.cut(code.strip(), python_source.MAX_CODE)
            if language not in {"text", "console", "none"} and snippet.count("\n") >= 2 and is_code(snippet):
                yield Text("code", snippet)


def _python(folder: Path) -> Iterator[Text]:
    paths = _chosen(folder, (".py",), MAX_PYTHON_FILES * 5)
    ranked = [p for p in paths if not TEST_FILE.search(str(p))]
    for path in ranked[:MAX_PYTHON_FILES]:
        for item in python_source.texts(_readable(path)):
            yield item
            if item.kind == "pair":
                yield from questions.from_summary(item.query)


def _other_code(folder: Path) -> Iterator[Text]:
    for path in _chosen(folder, (".js", ".ts", ".go", ".sql", ".sh", ".rs", ".tsx"), 60):
        if ".min." in path.name or ".d.ts" in path.name or "bundle" in path.name:
            continue
        content = _readable(path)
        starts = [m.start() for m in SNIPPET.finditer(content)] or [0]
        for begin, end in zip(starts, [*starts[1:], len(content)], strict=True):
            snippet = python_source.cut(content[begin:end].strip(), python_source.MAX_CODE)
            lines = [line for line in snippet.split("\n") if line.strip()]
            if len(lines) >= 3 and max(map(len, lines)) < 160 and is_code(snippet):
                yield Text("code", "\n".join(lines))


def _chosen(folder: Path, suffixes: tuple[str, ...], limit: int) -> list[Path]:
    """At most `limit` files, the choice seeded by their names, so a rerun takes the same ones."""
    found = [
        p for p in folder.rglob("*") if p.name.endswith(suffixes) and p.is_file() and p.stat().st_size < MAX_FILE_BYTES
    ]
    found.sort(key=lambda p: digest(str(p.relative_to(folder))))
    return sorted(found[:limit])


def _readable(path: Path) -> str:
    try:
        return read(path)
    except (OSError, EOFError, zlib.error):
        return ""
