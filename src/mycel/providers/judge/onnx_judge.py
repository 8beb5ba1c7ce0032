"""The judge as an ONNX model: tokens of two texts in, what it makes of them out."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mycel.contracts.judge import PairOdds, Sentence, SentenceOdds
from mycel.errors import Misconfigured, Unavailable
from mycel.providers.embeddings.onnx import MODEL_FILE, TOKENIZER_FILE
from mycel.providers.embeddings.onnx_graph import open_session
from mycel.providers.embeddings.shipped import FOLDER as EMBEDDER
from mycel.providers.embeddings.tokens import WordPiece, load_tokenizer

WIDTH = 384
BEGIN, SEPARATOR = 101, 102
Numbers = NDArray[np.float32]
# How much of what was said before is read along.
BEFORE_CHARS = 160
# Pairs that are compared at the same time, each by one core; the engine's child is nice to whoever waits for an answer.
AT_ONCE = min(2, os.cpu_count() or 1)
# Some 300 bytes each.
MOST_REMEMBERED = 20_000
# Most neighbours have nothing to do with each other: the other way round would say so too.
CLEARLY_APART = 0.98


class _Known(NamedTuple):
    """The odds of a pair: whole, or of the one order alone because that was enough for whoever asked."""

    odds: PairOdds
    is_whole: bool


class OnnxJudge:
    """The words' table is the embedder's: the card says where in its file it lies."""

    def __init__(self, path: Path, *, card: Mapping[str, Any]) -> None:
        self._path = path
        self._card = card
        self._most = int(card["max_tokens"])
        self._words = _Words(EMBEDDER / MODEL_FILE, **card["words"])
        self._tokenizer = _read_tokenizer(EMBEDDER / TOKENIZER_FILE, max_tokens=self._most)
        self._session = open_session(path)
        # By the digest of both texts: whoever asks what a run would do asks again, and then has it done.
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._remembering = threading.Lock()
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="mycel-judge")

    def compare(
        self, pairs: Sequence[tuple[str, str]], *, is_enough: Callable[[int, PairOdds], bool] | None = None
    ) -> Sequence[PairOdds]:
        """Compare both ways round where the one is not enough: only what replaces what depends on the order."""

        def odds(number: int) -> PairOdds:
            return self._odds(pairs[number], lambda forward: is_enough is not None and is_enough(number, forward))

        if len(pairs) < AT_ONCE:
            return [odds(number) for number in range(len(pairs))]
        return list(self._threads.map(odds, range(len(pairs))))

    def _odds(self, pair: tuple[str, str], is_enough: Callable[[PairOdds], bool]) -> PairOdds:
        """Return what is remembered of a pair, or compare it, as far as is needed, and remember that."""
        digest = blake2b("\0".join(pair).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._remembering:
            known = self._known.get(digest)
            if known is not None:
                self._known.move_to_end(digest)
                if known.is_whole or is_enough(known.odds):
                    return known.odds
        earlier, later = map(self._tokens, pair)
        if known is None:
            known = self._one_way(earlier, later)
        if not (known.is_whole or is_enough(known.odds)):
            known = self._both_ways(known.odds, earlier, later)
        with self._remembering:
            self._known[digest] = known
            while len(self._known) > MOST_REMEMBERED:
                self._known.popitem(last=False)
        return known.odds

    def weigh(self, sentences: Sequence[Sentence]) -> Sequence[SentenceOdds]:
        return [self._weighed(sentence) for sentence in sentences]

    def _one_way(self, earlier: list[int], later: list[int]) -> _Known:
        forward = self._shares(self._run(earlier, later), "relation")
        is_apart = forward[PairOdds._fields.index("related") :].sum() >= CLEARLY_APART
        return _Known(PairOdds(*forward.tolist()), is_whole=bool(is_apart))

    def _both_ways(self, forward: PairOdds, earlier: list[int], later: list[int]) -> _Known:
        backward = self._shares(self._run(later, earlier), "relation")
        mean = (np.asarray(forward, dtype=np.float32) + backward) / 2
        odds = PairOdds(*mean.tolist())._replace(supersedes=forward.supersedes)
        total = sum(odds)
        return _Known(PairOdds(*(share / total for share in odds)), is_whole=True)

    def _weighed(self, sentence: Sentence) -> SentenceOdds:
        before = self._tokens(sentence.before[-BEFORE_CHARS:])
        said = self._run(before, self._tokens(f"{_speaker(sentence.role)}: {sentence.text}"))
        types, kinds = (self._shares(said, head).tolist() for head in ("type", "kind"))
        return SentenceOdds(
            self._chance(said, "keep"),
            self._chance(said, "active"),
            dict(zip(self._card["types"], types, strict=True)),
            dict(zip(self._card["kinds"], kinds, strict=True)),
        )

    def _tokens(self, text: str) -> list[int]:
        return self._tokenizer.encode_bare(text, most=self._most)

    def _run(self, first: list[int], second: list[int]) -> Numbers:
        """One by one: with others beside it, a quantised model would round a text by them."""
        ones, others = set(first), set(second)
        ids = [BEGIN, *first, SEPARATOR, *second, SEPARATOR]
        # 0 and 1 in the first text, 2 and 3 in the second; odd where the other has the same token.
        places = [0, *(int(token in others) for token in first), 0, *(2 + (token in ones) for token in second), 2]
        given = {
            "words": self._words.rows(ids)[None],
            "places": np.asarray([places], dtype=np.int64),
            "attention_mask": np.ones((1, len(ids)), dtype=np.int64),
        }
        try:
            return np.asarray(self._session.run(["said"], given)[0], dtype=np.float32)[0]
        except Exception as error:  # onnxruntime's errors have no common ancestor but this one
            raise Unavailable(f"{self._path} could not be run ({type(error).__name__})") from error

    def _head(self, said: Numbers, head: str) -> Numbers:
        heads: Mapping[str, int] = self._card["heads"]
        start = 0
        for name, width in heads.items():
            if name == head:
                return said[start : start + width] / np.float32(self._card["temperatures"][head])
            start += width
        raise Misconfigured(f"the card of {self._path} names no head {head}")

    def _shares(self, said: Numbers, head: str) -> Numbers:
        part = self._head(said, head)
        grown = np.exp(part - part.max())
        return grown / grown.sum()

    def _chance(self, said: Numbers, head: str) -> float:
        return float(1 / (1 + np.exp(-self._head(said, head)[0])))


class _Words:
    """Rows of the embedder's table of words, read from its file as they are asked for."""

    def __init__(self, path: Path, *, count: int, at: int, scales_at: int) -> None:
        try:
            self._table = np.memmap(path, dtype=np.int8, mode="r", offset=at, shape=(count, WIDTH))
            self._scales = np.memmap(path, dtype=np.float32, mode="r", offset=scales_at, shape=(count, 1))
        except (OSError, ValueError) as error:
            raise Misconfigured(f"{path} does not hold the words that the judge was taught with ({error})") from error

    def rows(self, ids: Sequence[int]) -> Numbers:
        return self._table[ids].astype(np.float32) * self._scales[ids]


def _speaker(role: str) -> str:
    return "agent" if role == "assistant" else role


def _read_tokenizer(path: Path, *, max_tokens: int) -> WordPiece:
    found = load_tokenizer(path, max_tokens=max_tokens)
    if not isinstance(found, WordPiece):
        raise Misconfigured(f"{path} is not the tokenizer that the judge was taught with")
    return found
