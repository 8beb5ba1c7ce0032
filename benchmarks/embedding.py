"""What the built-in model costs: time by length of text, alone and in batches; loading it, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.report import interleaved, p50, p99, show_rows
from benchmarks.texts import Notes
from mycel.contracts.embedder import Embedder
from mycel.providers.embeddings.registry import EmbeddingOptions, make_embedder

LENGTHS = (16, 64, 128, 256)
BATCH = 32
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
    rows = [_row(embedder, tokens, rounds) for tokens in LENGTHS]
    show_rows(
        f"Embedding with {embedder.model}, one core",
        ["tokens", "alone, p50", "alone, p99", f"in batches of {BATCH}, each", "texts in a second"],
        rows,
    )
    show_rows("Embedding: loading", ["what", "seen"], _loading(name, rounds=3 if quick else 7))
    embedder.close()


def _row(embedder: Embedder, tokens: int, rounds: int) -> list[str]:
    notes = Notes()
    texts = [_text(embedder, notes, tokens) for _ in range(BATCH)]
    embedder.embed_documents(texts[:4])
    (alone,) = interleaved(lambda: embedder.embed_documents(texts[:1]), rounds=rounds)
    (together,) = interleaved(lambda: embedder.embed_documents(texts), rounds=max(3, rounds // 10))
    each = p50(together) / BATCH
    return [
        str(tokens),
        f"{1000 * p50(alone):.1f} ms",
        f"{1000 * p99(alone):.1f} ms",
        f"{1000 * each:.1f} ms",
        f"{1 / each:.0f}",
    ]


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
