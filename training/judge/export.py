"""Writes the judge as ONNX with whole numbers, and compares it with torch.

    python -m training.judge.export OUT/judge.pt FOLDER [--fold K]

The table of words is not in the file: the built-in embedder has it, and FOLDER/card.json says where. The temperatures
in the card are those of the examples that were left out of the lesson.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from training.encoder import weights_of
from training.export import Graph, encoded
from training.judge.batches import MOST_PLACES, MOST_TOKENS, coded, joined, load_tokenizer, padded
from training.judge.labels import HEADS, KINDS, RELATIONS, TYPES, WIDTH
from training.judge.material import all_examples
from training.judge.measure import temperatures
from training.judge.model import Judge, kept_judge
from training.judge.teach import BUILTIN, left_out, said_of

FILE = "judge.onnx"
COMPARED = 200


def build(judge: Judge) -> onnx.ModelProto:
    graph, weights = Graph(), weights_of(judge.encoder)
    positions = "embeddings.position_embeddings.weight"
    weights[positions] = weights[positions][:MOST_PLACES]
    heads, bias = (part.detach().numpy() for part in (judge.heads.weight, judge.heads.bias))
    places = graph.add("Gather", graph.constant("places table", judge.place.detach().numpy()), "places")
    first = encoded(graph, weights, graph.add("Add", "words", places), whole_numbers=True)
    product = graph.add("MatMul", first, graph.constant("heads", heads.T))
    said = graph.add("Add", product, graph.constant("heads bias", bias))
    return graph.model(said, name="said", width=WIDTH, of_tokens=("places", "attention_mask"), of_words=("words",))


def card(found: dict[str, float]) -> dict[str, Any]:
    """Where the words are in the embedder's file, and what each output means."""
    path = BUILTIN / "model.onnx"
    held = path.read_bytes()
    constants = {entry.name: numpy_helper.to_array(entry) for entry in onnx.load_from_string(held).graph.initializer}
    table, scales = constants["words"], constants["words scale"]
    return {
        "name": "mycel-judge-1",
        "max_tokens": MOST_TOKENS,
        "embedder_sha256": hashlib.sha256(held).hexdigest(),
        "words": {"count": len(table), "at": held.index(table.tobytes()), "scales_at": held.index(scales.tobytes())},
        "heads": HEADS,
        "relations": RELATIONS,
        "types": TYPES,
        "kinds": KINDS,
        "temperatures": found,
    }


def compare(judge: Judge, path: Path) -> dict[str, float]:
    """How far the odds of the file are from those of torch."""
    import onnxruntime

    judge.eval()
    session = onnxruntime.InferenceSession(path)
    table = judge.encoder.word.detach().numpy()
    examples = all_examples()
    chosen = coded(examples[:: max(1, len(examples) // COMPARED)], load_tokenizer(BUILTIN / "tokenizer.json"))
    apart: list[float] = []
    for row in chosen:
        ids, places, mask = padded([joined(row.first, row.second)])
        with torch.inference_mode():
            wanted = judge(ids, places, mask).numpy()[0]
        given = {"words": table[ids.numpy()], "places": places.numpy(), "attention_mask": mask.numpy().astype(np.int64)}
        said = np.asarray(session.run(None, given)[0])[0]
        apart.append(float(np.abs(1 / (1 + np.exp(-said)) - 1 / (1 + np.exp(-wanted))).max()))
    return {"mean": float(np.mean(apart)), "95 %": float(np.quantile(apart, 0.95)), "most": max(apart)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("judge", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fold", type=int, default=0)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    judge = kept_judge(asked.judge)
    onnx.save(build(judge), str(asked.folder / FILE))
    judge.encoder.rounded = True
    rows = left_out(asked.fold)
    found = temperatures([row.example for row in rows], said_of(judge, rows))
    (asked.folder / "card.json").write_text(json.dumps(card(found), indent=2) + "\n")
    print(json.dumps({"apart from torch": compare(judge, asked.folder / FILE)}))


if __name__ == "__main__":
    main()
