"""An embedder that a program brings: checked when it is handed over, and completed with what it leaves out."""

from __future__ import annotations

import inspect
import logging
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mycel.contracts.embedder import Background
from mycel.errors import InvalidInput, Misconfigured, MycelError, Unavailable
from mycel.providers.embeddings.card import USUAL_BACKGROUND
from mycel.providers.embeddings.checks import unit_rows
from mycel.providers.embeddings.openai import MOST_DIMENSIONS, estimated_token_ends

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vectors

MAX_TOKENS = 256
BATCH_SIZE = 32
# So many questions are compared with all statements to measure the background; each may be a call of a far endpoint.
MEASURED_QUESTIONS = 8
LEAST_DEVIATION = 0.01
# Of fewer pairs the measure says less than the guess.
LEAST_MEASURED = 20
_FIELD = "embedder"
_log = logging.getLogger("mycel.embeddings")


class ProvidedEmbedder:
    """See `contracts.embedder.Embedder`. Needed are `model`, `dimensions` and `embed_documents`; all else is optional.

    The object stays its owner's: closing a workspace does not close it.
    """

    def __init__(self, given: object) -> None:
        if isinstance(given, type):
            raise InvalidInput(f"must be an object, not the class {given.__name__}: call it", field=_FIELD)
        model, dimensions = getattr(given, "model", None), getattr(given, "dimensions", None)
        if not isinstance(model, str) or not model.strip() or len(model) > 200 or not model.isprintable():
            raise InvalidInput(
                "must have `model`, a name for what makes its vectors (1 to 200 characters)", field=_FIELD
            )
        if isinstance(dimensions, bool) or not isinstance(dimensions, int) or not 1 <= dimensions <= MOST_DIMENSIONS:
            raise InvalidInput(
                f"must have `dimensions`, how many numbers a vector has, from 1 to {MOST_DIMENSIONS}", field=_FIELD
            )
        documents = _method(given, "embed_documents")
        if documents is None:
            raise InvalidInput("must have `embed_documents(texts)`, which returns a vector for each text", field=_FIELD)
        # Under the same name with another size, the vectors that are stored would be of no use.
        self.model = f"{model}/{dimensions}"
        self.dimensions = dimensions
        self.max_tokens = _count(given, "max_tokens", MAX_TOKENS)
        self.batch_size = _count(given, "batch_size", BATCH_SIZE)
        self._documents = documents
        self._query = _method(given, "embed_query")
        self._token_ends = _method(given, "token_ends")
        self._noted = ""
        self._background = _read_background(getattr(given, "background", None))

    @property
    def background(self) -> Background:
        """What the object says, or what is measured when first needed on texts that have nothing in common."""
        if self._background is None:
            try:
                self._background = self._measure_background()
            except MycelError:
                return USUAL_BACKGROUND
        return self._background

    def token_ends(self, text: str) -> Sequence[int]:
        if self._token_ends is None:
            return estimated_token_ends(text)
        return self._call(self._token_ends, text)

    def embed_query(self, text: str) -> Vectors:
        if self._query is None:
            return self.embed_documents([text])
        return self._checked(self._call(self._query, text), count=1)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._checked(self._call(self._documents, list(texts)), count=len(texts))

    def close(self) -> None:
        """Leave the object to its owner."""

    def _call(self, method: Callable[..., Any], argument: object) -> Any:
        """Tell what goes wrong by its kind and place: its text may quote what was to be embedded."""
        try:
            return method(argument)
        except MycelError:
            raise
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            problem = f"{type(error).__name__} in {Path(place.filename).name}, line {place.lineno}"
            raise Unavailable(self._note(f"the embedder {self.model} failed with {problem}")) from error

    def _note(self, problem: str) -> str:
        """Log it once: searches go on by words, and whoever wrote the embedder would not know why."""
        if problem != self._noted:
            self._noted = problem
            _log.warning("%s; searches go by words meanwhile", problem)
        return problem

    def _checked(self, vectors: object, *, count: int) -> Vectors:
        import numpy as np

        try:
            rows = np.asarray(vectors, np.float64)
        except (TypeError, ValueError):
            rows = np.empty(0)
        # One vector for one question is as good as a list of one.
        if rows.ndim == 1 and count == 1 and rows.size == self.dimensions:
            rows = rows.reshape(1, -1)
        if rows.shape != (count, self.dimensions):
            shape = " x ".join(map(str, rows.shape)) if rows.size else "no numbers"
            problem = f"the embedder {self.model} returned {shape} for {count} text{'' if count == 1 else 's'}"
            raise Misconfigured(self._note(f"{problem}: each needs a vector of {self.dimensions} numbers"))
        try:
            return unit_rows(rows, source=f"the embedder {self.model}")
        except Unavailable as error:
            # The same text would have no direction the next time either; others are not held up by it.
            raise Misconfigured(str(error)) from None

    def _measure_background(self) -> Background:
        import numpy as np

        from mycel.providers.embeddings.examine import QUESTIONS, STATEMENTS

        asked = [self._embed_known(self.embed_query, question) for question in QUESTIONS[:MEASURED_QUESTIONS]]
        starts = range(0, len(STATEMENTS), self.batch_size)
        said = [
            self._embed_known(self.embed_documents, STATEMENTS[start : start + self.batch_size]) for start in starts
        ]
        cosines = np.concatenate(asked) @ np.concatenate(said).T
        if cosines.size < LEAST_MEASURED:
            return USUAL_BACKGROUND
        return Background(
            mean=float(cosines.mean()),
            deviation=max(LEAST_DEVIATION, float(cosines.std())),
            spread=max(LEAST_DEVIATION, float(cosines.std(axis=1).mean())),
        )

    def _embed_known(self, embed: Callable[[Any], Vectors], texts: str | Sequence[str]) -> Vectors:
        """Embed what the embedder has vectors for: one of a few words has none for most texts."""
        import numpy as np

        try:
            return embed(texts)
        except Misconfigured:
            if isinstance(texts, str) or len(texts) < 2:
                return np.empty((0, self.dimensions), np.float32)
            return np.concatenate([self._embed_known(embed, [text]) for text in texts])


def _method(given: object, name: str) -> Callable[..., Any] | None:
    found = getattr(given, name, None)
    if found is None:
        return None
    if not callable(found) or inspect.iscoroutinefunction(found):
        raise InvalidInput(f"has `{name}`, which must be a plain method, not an async one", field=_FIELD)
    return found


def _count(given: object, name: str, usual: int) -> int:
    found = getattr(given, name, usual)
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise InvalidInput(f"has `{name}`, which must be a whole number above 0", field=_FIELD)
    return found


def _read_background(given: object) -> Background | None:
    if given is None or isinstance(given, Background):
        return given
    raise InvalidInput("has `background`, which must be a `mycel.contracts.embedder.Background`", field=_FIELD)
