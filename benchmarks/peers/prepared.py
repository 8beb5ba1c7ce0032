"""What every peer is given: texts, questions and vectors, written once as files that need nothing to be read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from benchmarks import finding_quality
from benchmarks.given_vectors import GivenVectors
from benchmarks.peers.inside.driver import Item, key
from benchmarks.texts import Notes
from mycel.contracts.embedder import Embedder

PART = 10_000
EVERYWHERE = "/"
# Questions are about the first texts, so that their answers are there at every size.
ASKED_ABOUT = 1_000


@dataclass(frozen=True, slots=True)
class Question:
    """`gold` are the ids that answer it."""

    text: str
    scope: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Prepared:
    """`texts` is their number; `embedder` makes the vector of a text that is not among those written."""

    name: str
    folder: Path
    texts: int
    questions: Sequence[Question]
    embedder: Embedder


def speed(folder: Path, *, count: int, questions: int) -> Prepared:
    """Made-up notes with vectors that lie as those of real models do; each question is some words of one note."""
    notes, random = Notes(), Random(5)
    embedder = GivenVectors(notes)
    ranks = {word: rank for rank, word in enumerate(notes.words)}
    items = [Item(str(place), notes.text(), EVERYWHERE, EVERYWHERE) for place in range(count)]
    asked: dict[str, Question] = {}
    while len(asked) < questions:
        item = random.choice(items[:ASKED_ABOUT])
        question = Question(_some_words(item.text, ranks, random), EVERYWHERE, frozenset({item.id}))
        asked[question.text] = question
    return _written("speed", folder, items, list(asked.values()), embedder)


def locomo(folder: Path, bench_data: Path, embedder: Embedder) -> Prepared:
    """One memory per dialog turn; the questions of categories 1 to 4, each inside its own conversation."""
    task = finding_quality.locomo(bench_data)
    items = [Item(id, text, scope, path) for id, (path, scope, text) in task.texts.items()]
    questions = [
        Question(question.text, question.folder, question.gold)
        for question in task.questions
        if question.category != finding_quality.ADVERSARIAL
    ]
    return _written("locomo", folder, items, questions, embedder)


def first(folder: Path) -> Prepared:
    """One memory and the question it answers."""
    item = Item("0", "The staging deploy needs a warm cache.", EVERYWHERE, EVERYWHERE)
    question = Question("what does the staging deploy need", EVERYWHERE, frozenset({item.id}))
    return _written("first", folder, [item], [question], GivenVectors(Notes()))


def _some_words(text: str, ranks: dict[str, int], random: Random) -> str:
    """Three to eight, the rarest among them."""
    words = list(dict.fromkeys(text.lower().strip(".").split()))
    rarest = max(words, key=ranks.__getitem__)
    asked = [rarest, *random.sample([word for word in words if word != rarest], random.randint(2, 7))]
    random.shuffle(asked)
    return " ".join(asked)


def _written(
    name: str, parent: Path, items: Sequence[Item], questions: Sequence[Question], embedder: Embedder
) -> Prepared:
    folder = parent / name
    folder.mkdir(parents=True)
    with (folder / "texts.jsonl").open("w") as lines:
        for item in items:
            lines.write(json.dumps([item.id, item.text, item.scope, item.folder]) + "\n")
    with (folder / "keys.bin").open("wb") as keys, (folder / "vectors.f32").open("wb") as vectors:
        for text, row in _vectors([item.text for item in items], questions, embedder):
            keys.write(key(text))
            vectors.write(row.astype(np.float32).tobytes())
    (folder / "card.json").write_text(json.dumps(_card(embedder)))
    return Prepared(name, folder, len(items), questions, embedder)


def _vectors(
    texts: Sequence[str], questions: Sequence[Question], embedder: Embedder
) -> Iterator[tuple[str, np.ndarray]]:
    for part in (texts[place : place + PART] for place in range(0, len(texts), PART)):
        yield from zip(part, embedder.embed_documents(part), strict=True)
    for question in questions:
        yield question.text, embedder.embed_query(question.text)[0]


def _card(embedder: Embedder) -> dict[str, object]:
    background = embedder.background
    return {
        "model": embedder.model,
        "dimensions": embedder.dimensions,
        "max_tokens": embedder.max_tokens,
        "background": [background.mean, background.deviation, background.spread],
    }
