"""What the built-in model costs: time by length of text, many notes at once, and loading it in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter, process_time, thread_time

from benchmarks.report import interleaved, p50, p99, show_rows
from benchmarks.texts import Notes
from mycel.app import open_workspace
from mycel.contracts.embedder import Embedder
from mycel.providers.embeddings.onnx import OnnxEmbedder
from mycel.providers.embeddings.registry import EmbeddingOptions, folder_of, make_embedder
from mycel.settings import Settings

LENGTHS = (16, 64, 128, 256)
# What a note of some thirty words has.
NOTE_TOKENS = 44
# As a program meets it: nothing imported, nothing in memory yet.
_LOAD = """
import json, resource, sys, time
from pathlib import Path
from mycel.providers.embeddings.registry import EmbeddingOptions, make_embedder

def megabytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))

before, began = megabytes(), time.perf_counter()
import numpy, onnxruntime, tokenizers
imported = time.perf_counter()
imports = megabytes()
embedder = make_embedder(EmbeddingOptions(embedder=sys.argv[1]))
embedder.embed_query("who may deploy?")
loaded = time.perf_counter()
embedder.embed_documents(["word " * 250] * 4)
print(json.dumps([imported - began, loaded - imported, before, imports, megabytes()]))
"""


def run(folder: Path, *, quick: bool, model: Path | None = None) -> None:
    name = "builtin" if model is None else str(model)
    embedder = make_embedder(EmbeddingOptions(embedder=name))
    if embedder is None:
        raise SystemExit(f"--model {model} names no model")
    rounds = 10 if quick else 50
    show_rows(
        f"Embedding with {embedder.model}, one text at a time",
        ["tokens", "p50", "p99", "processor, p50"],
        [_row(embedder, tokens, rounds) for tokens in LENGTHS],
    )
    notes = Notes()
    texts = [_text(embedder, notes, NOTE_TOKENS) for _ in range(300 if quick else 2_000)]
    show_rows(
        f"Embedding {len(texts):,} notes of {NOTE_TOKENS} tokens",
        ["how", "notes in a second", "processor, each"],
        list(_bulk(folder, name, texts)),
    )
    show_rows("Embedding: loading", ["what", "seen"], _loading(name, rounds=3 if quick else 7))
    embedder.close()


def _row(embedder: Embedder, tokens: int, rounds: int) -> list[str]:
    text = _text(embedder, Notes(), tokens)
    used: list[float] = []

    def embed() -> None:
        began = thread_time()
        embedder.embed_documents([text])
        used.append(thread_time() - began)

    embed()
    (alone,) = interleaved(embed, rounds=rounds)
    return [str(tokens), *(f"{1000 * seconds:.1f} ms" for seconds in (p50(alone), p99(alone), p50(used)))]


def _bulk(folder: Path, name: str, texts: Sequence[str]) -> Iterator[list[str]]:
    files = folder_of(name)
    if files is None:
        raise SystemExit(f"{name} has no files here")
    for how, threads in (("the embedder, one thread", 1), ("the embedder, every core that is idle", None)):
        embedder = OnnxEmbedder(files, threads=threads)
        embedder.embed_query(texts[0])
        yield [how, *_rate(lambda embedder=embedder: _embed_all(embedder, texts), count=len(texts))]
    workspace = open_workspace(settings=Settings(data=folder / "bulk", embedder=name))
    memory = workspace.as_operator()
    for text in texts:
        memory.save(text)
    yield ["saved memories, by `run_pending()`", *_rate(workspace.run_pending, count=len(texts))]
    workspace.close()


def _embed_all(embedder: Embedder, texts: Sequence[str]) -> None:
    for first in range(0, len(texts), embedder.batch_size):
        embedder.embed_documents(texts[first : first + embedder.batch_size])


def _rate(work: Callable[[], object], *, count: int) -> list[str]:
    began, used = perf_counter(), process_time()
    work()
    return [f"{count / (perf_counter() - began):.0f}", f"{1000 * (process_time() - used) / count:.1f} ms"]


def _text(embedder: Embedder, notes: Notes, tokens: int) -> str:
    """Exactly so many tokens, the two special ones included."""
    text = notes.text()
    while len(embedder.token_ends(text)) < tokens - 2:
        text += " " + notes.text()
    return text[: embedder.token_ends(text)[tokens - 3]]


def _loading(name: str, *, rounds: int) -> list[list[str]]:
    runs = [
        json.loads(subprocess.run([sys.executable, "-c", _LOAD, name], check=True, capture_output=True).stdout)
        for _ in range(rounds)
    ]
    imports, load, before, imported, after = (p50([run[place] for run in runs]) for place in range(5))
    return [
        ["importing numpy, onnxruntime and tokenizers, p50", f"{1000 * imports:.0f} ms"],
        ["loading model and tokenizer and embedding one question, p50", f"{1000 * load:.0f} ms"],
        ["memory before, with the imports, with the model in use", f"{before:.0f}, {imported:.0f}, {after:.0f} MB"],
    ]
