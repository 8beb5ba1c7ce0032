"""Readers for sources that are data rather than documentation: dictionaries, ontologies, books, dialogue."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import sqlite3
import struct
import subprocess
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from training.gather.clean import Text, is_prose, normalise
from training.gather.prose import html_to_text, inline, sentences

Reader = Callable[[Path], Iterator[Text]]
STRING_LITERAL = re.compile(r"\"((?:[^\"\\\n]|\\.){12,900})\"|'((?:[^'\\\n]|\\.){12,900})'|`([^`$]{12,900})`")
QUOTED = re.compile(r"[\"“]([^\"“”]{12,400})[\"”]")
R_STRING = re.compile(rb"\x00[\x00-\x0f]\x00\x09(....)", re.DOTALL)
ABSTRACT_XML = re.compile(r"<ArticleTitle[^>]*>(.*?)</ArticleTitle>|<AbstractText[^>]*>(.*?)</AbstractText>", re.DOTALL)
LOOKS_LIKE_CODE = re.compile(r"[{}=]|\(\d\)|\)\s*[.;]|=>|\$\w|^:|function|throw ")
NOT_ENGLISH = re.compile(r"data/(?!english)[a-z]+/|/docs/|/node_modules/")
BLANK_SLOT = re.compile(r"[{}\[\]<>|]")
# Sets that are benchmarks themselves, or are not English, stay out.
SKIPPED_EVALS = re.compile(
    r"mrpc|sts|sick|scifact|banking|twenty|quora|arguana|squad|hotpot|lexicon|rhyme|numerals|unsafe", re.IGNORECASE
)


def read(path: Path) -> str:
    """The text of a file, compressed or not; undecodable bytes are dropped."""
    stored = path.read_bytes()
    plain = gzip.decompress(stored) if path.suffix in {".gz", ".dz"} else stored
    return plain.decode("utf-8", "ignore")


def files(folder: Path, *suffixes: str) -> list[Path]:
    """The package's files with these endings, in a stable order."""
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.name.lower().endswith(suffixes))


def prose(kind: str, text: str, *, min_words: int = 3) -> Iterator[Text]:
    """One text when it is clean; a question is filed as a question."""
    text = inline(text)
    if is_prose(text, min_words=min_words):
        yield Text("question" if text.endswith("?") and kind != "dialogue" and len(text) < 200 else kind, text)


def book(kind: str, text: str) -> Iterator[Text]:
    """Sentences of a book, and the words spoken in it as dialogue."""
    for paragraph in re.split(r"\n\s*\n", text):
        flat = normalise(paragraph.replace("_", ""))
        for match in QUOTED.finditer(flat):
            # A small letter means that the quotation marks were paired wrongly, or that a sentence goes on.
            if match[1][0].isupper():
                yield from prose("dialogue", match[1].rstrip(","))
        for sentence in sentences(flat):
            if not QUOTED.search(sentence):
                yield from prose(kind, sentence, min_words=4)


def debian_descriptions(work: Path) -> Iterator[Text]:
    """The English descriptions of Debian's packages, from a package index fetched into the work folder."""
    lists, cache = work / "apt/lists", work / "apt/cache"
    for folder in (lists / "partial", cache / "archives/partial"):
        folder.mkdir(parents=True, exist_ok=True)
    places = [f"Dir::State::lists={lists.resolve()}", f"Dir::Cache={cache.resolve()}", "APT::Sandbox::User=root"]
    options = [*places, "Acquire::Languages=en", "Acquire::GzipIndexes=false"]
    command = ["apt-get", "update", "-q", *(part for option in options for part in ("-o", option))]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    for path in sorted(lists.glob("*_Translation-en")):
        for match in re.finditer(r"^Description-en: (.*)\n((?: .*\n?)*)", read(path), re.MULTILINE):
            yield from prose("general", match[1])
            for paragraph in re.split(r"^ \.$", match[2], flags=re.MULTILINE):
                if not re.search(r"^ {2,}|^ [-*o] ", paragraph, re.MULTILINE):
                    yield from prose("general", paragraph, min_words=6)


def wordnet(folder: Path) -> Iterator[Text]:
    """`word: gloss` for each synset, and the usage examples as sentences."""
    for path in files(folder, "data.noun", "data.verb", "data.adj", "data.adv"):
        for line in read(path).split("\n"):
            if "|" not in line or line.startswith(" "):
                continue
            fields, gloss = line.split("|", 1)
            word = fields.split(" ")[4].replace("_", " ").split("(")[0]
            parts = [p.strip() for p in gloss.split('; "')]
            yield from prose("gloss", f"{word}: {parts[0]}")
            for example in parts[1:]:
                yield from prose("general", example.strip('" ;'), min_words=4)


def gene_ontology(folder: Path) -> Iterator[Text]:
    """Terms with their definitions from the GO database."""
    for path in files(folder, ".sqlite"):
        with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as database:
            rows = database.execute("select term, definition from go_term where definition is not null order by go_id")
            for number, (term, definition) in enumerate(rows):
                yield from prose("science", f"{term}: {definition}" if number % 2 else definition)


def ontology_json(folder: Path) -> Iterator[Text]:
    """Labels with definitions from ontology JSON files, newest file of each ontology only."""
    newest = {p.name.split("-")[0]: p for p in files(folder, ".json.gz", ".json") if "external" not in p.parts}
    for path in newest.values():
        if "NCBITaxon" in path.name:
            continue
        for number, entry in enumerate(_dicts(json.loads(read(path)))):
            definition = entry.get("description") or entry.get("definition")
            if isinstance(definition, str) and isinstance(entry.get("label", entry.get("name")), str):
                label = entry.get("label", entry.get("name"))
                yield from prose("science", f"{label}: {definition}" if number % 2 else definition)


def obo(folder: Path) -> Iterator[Text]:
    """`name: definition` from OBO files."""
    for path in files(folder, ".obo"):
        name = ""
        for line in read(path).split("\n"):
            if line.startswith("name: "):
                name = line[6:]
            elif line.startswith('def: "'):
                definition = line[6:].split('" [')[0].replace('\\"', '"')
                yield from prose("science", f"{name}: {definition}" if len(definition) % 2 else definition)


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _dicts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _dicts(inner)


def service_models(folder: Path) -> Iterator[Text]:
    """Documentation strings inside JSON service descriptions."""
    for path in files(folder, "service-2.json", "service-2.json.gz", ".v1.json", ".v2.json", ".v3.json"):
        for entry in _dicts(json.loads(read(path))):
            found = entry.get("documentation") or entry.get("description")
            if isinstance(found, str):
                for part in re.split(r"\n\s*\n", html_to_text(found)):
                    for sentence in sentences(inline(part)):
                        yield from prose("docs", sentence, min_words=6)


def literals(kind: str) -> Reader:
    """Strings of JSON, YAML, text or source files: for packages whose content is a list of sentences."""

    def gather(folder: Path) -> Iterator[Text]:
        for path in files(folder, ".json", ".js", ".ts", ".txt", ".csv", ".yml", ".yaml", ".tsv"):
            name = path.name.lower()
            if (
                name.startswith(("package", "license", "tsconfig", "readme", "sources", "setup"))
                or "test" in name
                or ".min." in name
            ):
                continue
            if NOT_ENGLISH.search(str(path.relative_to(folder))):
                continue
            content = read(path)
            if path.suffix in {".txt", ".csv", ".tsv"}:
                found = (part for line in content.split("\n") for part in re.split(r"\t|\",\"|;", line))
            elif path.suffix in {".yml", ".yaml"}:
                found = (re.sub(r"^[\s-]+", "", line) for line in content.split("\n"))
            else:
                found = ((m[1] or m[2] or m[3]).replace("\\", "") for m in STRING_LITERAL.finditer(content))
            for text in found:
                if not LOOKS_LIKE_CODE.search(text):
                    yield from prose(kind, text.strip("\"' "), min_words=4)

    return gather


def locale_strings(folder: Path) -> Iterator[Text]:
    """English phrases of voice-assistant skills and English interface strings."""
    for path in files(folder, ".dialog", ".intent"):
        if "en-us" in str(path).lower():
            for line in read(path).split("\n"):
                if not BLANK_SLOT.search(line):
                    yield from prose("dialogue", line)
    for path in files(folder, "strings.json"):
        for match in STRING_LITERAL.finditer(read(path)):
            text = (match[1] or "").replace("\\n", " ").replace("\\", "")
            if not BLANK_SLOT.search(text):
                yield from prose("general", text, min_words=4)


def fortunes(folder: Path) -> Iterator[Text]:
    """Sayings separated by a line with a percent sign, without their attributions."""
    for path in sorted((folder / "usr/share/games/fortunes").glob("*.u8")):
        if path.stem in {"ascii-art", "translate-me", "tao", "songs-poems", "startrek", "computers"}:
            continue
        for saying in read(path).split("\n%\n"):
            yield from prose("general", re.split(r"\n\s*--", saying)[0], min_words=4)


def plain_books(folder: Path) -> Iterator[Text]:
    """Public-domain books and speeches stored as text files."""
    for path in files(folder, ".txt"):
        if re.search(r"licen|readme|requirement|sources|top_level|lexicon", path.name, re.IGNORECASE):
            continue
        yield from book("general", read(path))


def dictionary(folder: Path) -> Iterator[Text]:
    """Entries of a dictd dictionary or a plain-text lexicon."""
    for path in files(folder, ".dict.dz", ".txt.gz"):
        boundary = r"\n(?=[A-Z][A-Z' -]+, )" if path.suffix == ".dz" else r"\n\s*\n|\n(?=\S)"
        for paragraph in re.split(boundary, read(path)):
            yield from prose("gloss", paragraph, min_words=5)


def king_james(folder: Path) -> Iterator[Text]:
    """Verses, at most five thousand of them."""
    verses = [line for path in files(folder, ".json") for line in re.findall(r"\"([A-Z][^\"]{20,400})\"", read(path))]
    for verse in verses[:: max(1, len(verses) // 5000)]:
        yield from prose("general", re.sub(r"[#\[\]]", "", verse))


def r_books(folder: Path) -> Iterator[Text]:
    """Books kept as R character vectors, one string per printed line."""
    for path in files(folder, "rdata.rdb"):
        for chunk in _r_chunks(path.read_bytes()):
            lines = [chunk[m.end() : m.end() + struct.unpack(">i", m[1])[0]] for m in R_STRING.finditer(chunk)]
            yield from book("general", b"\n".join(lines).decode("utf-8", "ignore"))


def _r_chunks(stored: bytes) -> Iterator[bytes]:
    position = 0
    while position + 5 < len(stored):
        start = position + 4
        if stored[start : start + 1] in b"2Z":
            tail: Any = bz2.BZ2Decompressor() if stored[start : start + 1] == b"2" else lzma.LZMADecompressor()
            start += 1
        else:
            tail = zlib.decompressobj()
        try:
            yield tail.decompress(stored[start:])
        except (zlib.error, OSError, lzma.LZMAError):
            return
        position = len(stored) - len(tail.unused_data)


def chat_samples(folder: Path) -> Iterator[Text]:
    """The user turns of prompt collections, at most two hundred from one file."""
    for path in files(folder, ".jsonl"):
        if SKIPPED_EVALS.search(str(path)):
            continue
        kept = 0
        for line in read(path).split("\n"):
            for turn in re.findall(r"\"role\":\s*\"user\",\s*\"content\":\s*\"((?:[^\"\\]|\\.){12,600})\"", line)[:3]:
                text = normalise(turn.replace("\\n", " ").replace("\\", ""))
                if kept < 200 and is_prose(text, min_words=5):
                    kept += 1
                    yield Text("question" if "?" in text[-3:] else "dialogue", text)


def abstracts(folder: Path) -> Iterator[Text]:
    """Titles and abstract sentences of MEDLINE records."""
    for path in files(folder, ".xml.gz"):
        for match in ABSTRACT_XML.finditer(read(path)):
            text = inline(match[1] or match[2] or "").strip("[]")
            if len(text) % 3 == 0:
                yield from prose("science", text, min_words=5)
            else:
                for sentence in sentences(text):
                    yield from prose("science", sentence, min_words=6)


def review_snippets(folder: Path) -> Iterator[Text]:
    """Short opinions from a sentiment study's archive."""
    for path in files(folder, ".tar.gz"):
        with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as bundle:
            for member in sorted(bundle.getmembers(), key=lambda m: m.name):
                stream = bundle.extractfile(member) if member.name.endswith("GroundTruth.txt") else None
                for line in stream.read().decode("utf-8", "ignore").split("\n") if stream else ():
                    yield from prose("dialogue", line.split("\t")[-1], min_words=4)


READERS: dict[str, Reader] = {
    "debian-descriptions": debian_descriptions,
    "wordnet": wordnet,
    "gene-ontology": gene_ontology,
    "ontology-json": ontology_json,
    "obo": obo,
    "service-models": service_models,
    "sentences": literals("general"),
    "dialogue": literals("dialogue"),
    "locale": locale_strings,
    "fortunes": fortunes,
    "books": plain_books,
    "dictionary": dictionary,
    "king-james": king_james,
    "r-books": r_books,
    "chat": chat_samples,
    "abstracts": abstracts,
    "reviews": review_snippets,
}
