"""How well vectors alone find, on benchmark sets made into token numbers beforehand: never trained on, only looked at.

    python -m training.measure BENCH_DATA TOKENIZER OUT

writes one `.npz` for each set. The shares are those of `benchmarks`: recall and nDCG at 10.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.texts import Item
from training.tokens import MOST, Tokens, tokenise

TOP = 10

Embed = Callable[[Tokens], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Task:
    """`owners` says which text a passage is of, `folders` where a text lies and where a question asks."""

    name: str
    passages: Tokens
    owners: NDArray[np.int64]
    folders: NDArray[np.int64]
    questions: Tokens
    asked_in: NDArray[np.int64]
    # Two columns: question, text that answers it.
    answers: NDArray[np.int64]

    def save(self, folder: Path) -> None:
        np.savez_compressed(
            folder / f"{self.name}.npz",
            flat=self.passages.flat, ends=self.passages.ends, owners=self.owners, folders=self.folders,
            question_flat=self.questions.flat, question_ends=self.questions.ends, asked_in=self.asked_in,
            answers=self.answers,
        )  # fmt: skip

    @staticmethod
    def load(path: Path) -> Task:
        with np.load(path) as kept:
            return Task(
                path.stem, Tokens(kept["flat"], kept["ends"]), kept["owners"], kept["folders"],
                Tokens(kept["question_flat"], kept["question_ends"]), kept["asked_in"], kept["answers"],
            )  # fmt: skip


def measure(task: Task, embed: Embed) -> tuple[float, float]:
    """Recall and nDCG at 10 in percent."""
    return score(task, embed(task.passages), embed(task.questions))


def score(task: Task, passages: NDArray[np.float32], questions: NDArray[np.float32]) -> tuple[float, float]:
    recalls: list[float] = []
    gains: list[float] = []
    discounts = 1 / np.log2(np.arange(2, TOP + 2))
    for number in range(len(questions)):
        wanted = set(task.answers[task.answers[:, 0] == number, 1].tolist())
        best = np.full(len(task.folders), -2.0, dtype=np.float32)
        np.maximum.at(best, task.owners, passages @ questions[number])
        best[task.folders != task.asked_in[number]] = -2.0
        found = [place in wanted for place in np.argsort(-best, kind="stable")[:TOP].tolist()]
        recalls.append(sum(found) / len(wanted))
        gains.append(float(discounts[: len(found)] @ np.asarray(found, dtype=float) / discounts[: len(wanted)].sum()))
    return 100 * float(np.mean(recalls)), 100 * float(np.mean(gains))


def main() -> None:
    from tokenizers import Tokenizer

    from benchmarks import words

    bench_data, tokenizer_file, out = map(Path, sys.argv[1:4])
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    out.mkdir(parents=True, exist_ok=True)
    for made in (words.locomo(bench_data), words.scifact(bench_data), words.cosqa(bench_data)):
        keys = list(made.texts)
        folders = {name: number for number, name in enumerate(sorted({folder for folder, _ in made.texts.values()}))}
        passages, owners = _passages([made.texts[key][1] for key in keys], tokenizer)
        places = {key: place for place, key in enumerate(keys)}
        questions = [Item(text, question=True) for text, _, _ in made.questions]
        answers = [(n, places[key]) for n, (_, _, wanted) in enumerate(made.questions) for key in sorted(wanted)]
        Task(
            name=made.name.lower().split()[0],
            passages=passages,
            owners=owners,
            folders=np.asarray([folders[made.texts[key][0]] for key in keys]),
            questions=tokenise(questions, tokenizer),
            asked_in=np.asarray([folders[_folder(folder, folders)] for _, folder, _ in made.questions]),
            answers=np.asarray(answers),
        ).save(out)


def _folder(asked: str, folders: dict[str, int]) -> str:
    return asked if asked in folders else next(iter(folders))


def _passages(texts: list[str], tokenizer: object) -> tuple[Tokens, NDArray[np.int64]]:
    """Texts longer than a passage in pieces of its size."""
    from tokenizers import Tokenizer

    assert isinstance(tokenizer, Tokenizer)
    tokenizer.no_truncation()
    inner = MOST - 2
    rows: list[NDArray[np.uint16]] = []
    owners: list[int] = []
    for place, text in enumerate(texts):
        first, *ids, last = tokenizer.encode(text).ids
        for start in range(0, max(1, len(ids)), inner):
            rows.append(np.asarray([first, *ids[start : start + inner], last], dtype=np.uint16))
            owners.append(place)
    return Tokens(np.concatenate(rows), np.cumsum([len(row) for row in rows])), np.asarray(owners)


if __name__ == "__main__":
    main()
