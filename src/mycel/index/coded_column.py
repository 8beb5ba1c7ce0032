"""Columns of memories by number: texts as small codes, times as numbers, and what can be asked of them quickly."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

ScalarT = TypeVar("ScalarT", bound=np.generic)

Flags = NDArray[np.bool_]
# Unsigned bytes for as long as they suffice, then two of them, then four.
Codes = NDArray[Any]
Indices = NDArray[np.int64]

# The answer for every memory; True or False where it is the same for all that are present, as it mostly is.
Match = Flags | bool

# Comparing a column with one code costs 0.05-0.25 ms at a million rows, looking every code up in a table 1.5 ms.
FEW_CODES = 4
REMEMBERED_PREDICATES = 32

NEVER = int(np.iinfo(np.int64).max)
_NO_TEXT = 0
_CODE_TYPES = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.int32))


def either(first: Match, second: Match) -> Match:
    """Writes over `first`: at a million rows, room for one more answer costs as much as the answer."""
    if first is True or second is True:
        return True
    if first is False:
        return second
    return first if second is False else np.logical_or(first, second, out=first)


def both(first: Match, second: Match) -> Match:
    """Writes over `first`."""
    if first is False or second is False:
        return False
    if first is True:
        return second
    return first if second is True else np.logical_and(first, second, out=first)


def resized(array: NDArray[ScalarT], *, length: int) -> NDArray[ScalarT]:
    grown = np.zeros(length, array.dtype)
    kept = min(length, len(array))
    grown[:kept] = array[:kept]
    return grown


class CodedColumn:
    """One text or none per memory. Texts that no memory has any more are forgotten and their codes given again.

    A predicate is asked once per distinct text and its answers kept; they follow as texts come and go.
    """

    def __init__(self, length: int = 0) -> None:
        self.codes: Codes = np.zeros(length, np.uint8)
        self.texts: list[str | None] = [None]
        self._code_of: dict[str | None, int] = {None: _NO_TEXT}
        self._counts = np.zeros(16, np.int64)
        self._total = 0
        self._free: list[int] = []
        self._predicates: OrderedDict[Hashable, tuple[Callable[[str], bool], Flags]] = OrderedDict()

    @classmethod
    def restored(cls, codes: Codes, *, texts: Sequence[str | None], present: Flags) -> CodedColumn:
        column = cls()
        column.codes = codes
        column.texts = list(texts)
        column._code_of = {text: code for code, text in enumerate(texts) if text is not None} | {None: _NO_TEXT}
        column._free = [code for code, text in enumerate(texts) if text is None and code != _NO_TEXT]
        column._counts = np.bincount(codes[present], minlength=max(16, len(texts)))
        column._total = int(np.count_nonzero(present))
        return column

    def resize(self, length: int) -> None:
        self.codes = resized(self.codes, length=length)

    def put(self, number: int, text: str | None) -> None:
        """For a memory that has none yet."""
        code = self._coded(text)
        self.codes[number] = code
        self._counts[code] += 1
        self._total += 1

    def change(self, number: int, text: str | None) -> None:
        """For a memory that has one."""
        if self._code_of.get(text) != self.codes[number]:
            self.remove(number)
            self.put(number, text)

    def extend(self, numbers: Indices, texts: Sequence[str | None]) -> None:
        """As `put`, for many at once."""
        for text in set(texts):
            self._coded(text)
        codes = np.fromiter(map(self._code_of.__getitem__, texts), np.int64, len(texts))
        self.codes[numbers] = codes
        self._counts += np.bincount(codes, minlength=len(self._counts))
        self._total += len(texts)

    def remove(self, number: int) -> None:
        code = int(self.codes[number])
        self._counts[code] -= 1
        self._total -= 1
        self.codes[number] = _NO_TEXT
        if code != _NO_TEXT and not self._counts[code]:
            self._forget(code)

    @property
    def is_uniform(self) -> bool:
        """Whether all memories have the same text, or none."""
        return int(self._counts.max()) == self._total

    def equal_to(self, text: str | None) -> Match:
        """Memories with this text; as in SQL, nothing equals what is not there."""
        code = None if text is None else self._code_of.get(text)
        if code is None:
            return False
        return True if self._counts[code] == self._total else np.equal(self.codes, code)

    def one_of(self, texts: Sequence[str]) -> Match:
        match: Match = False
        for text in texts:
            match = either(match, self.equal_to(text))
        return match

    def where(self, name: Hashable, predicate: Callable[[str], bool]) -> Match:
        """Memories whose text answers the predicate; `name` tells one predicate from another."""
        answers = self._answers(name, predicate)
        chosen = np.flatnonzero(answers)
        having = int(self._counts[chosen].sum())
        if having in (0, self._total):
            return having > 0
        if len(chosen) > FEW_CODES:
            return answers.take(self.codes)
        match: Match = False
        for code in chosen.tolist():
            match = either(match, np.equal(self.codes, code))
        return match

    def _answers(self, name: Hashable, predicate: Callable[[str], bool]) -> Flags:
        if name in self._predicates:
            self._predicates.move_to_end(name)
            return self._predicates[name][1]
        answers = np.zeros(len(self._counts), np.bool_)
        answers[: len(self.texts)] = [text is not None and predicate(text) for text in self.texts]
        self._predicates[name] = (predicate, answers)
        if len(self._predicates) > REMEMBERED_PREDICATES:
            self._predicates.popitem(last=False)
        return answers

    def _coded(self, text: str | None) -> int:
        code = self._code_of.get(text)
        if code is not None or text is None:
            return code or _NO_TEXT
        code = self._free.pop() if self._free else self._another_code()
        self.texts[code] = text
        self._code_of[text] = code
        for predicate, answers in self._predicates.values():
            answers[code] = predicate(text)
        return code

    def _another_code(self) -> int:
        code = len(self.texts)
        self.texts.append(None)
        if code == len(self._counts):
            self._make_room(2 * code)
        if code > np.iinfo(self.codes.dtype).max:
            self.codes = self.codes.astype(next(kind for kind in _CODE_TYPES if code <= np.iinfo(kind).max))
        return code

    def _make_room(self, length: int) -> None:
        self._counts = resized(self._counts, length=length)
        for name, (predicate, answers) in self._predicates.items():
            self._predicates[name] = (predicate, resized(answers, length=length))

    def _forget(self, code: int) -> None:
        """A purged memory's path or tags must not outlive it here, nor in the index file."""
        del self._code_of[self.texts[code]]
        self.texts[code] = None
        self._free.append(code)


class TimeColumn:
    """Microseconds per memory, with bounds of all there ever were: often they answer for every row."""

    def __init__(self, length: int = 0) -> None:
        self.moments = np.zeros(length, np.int64)
        self._earliest = NEVER
        self._latest = -NEVER

    @classmethod
    def restored(cls, moments: Indices, *, present: Flags) -> TimeColumn:
        column = cls()
        column.moments = moments
        column._widen(moments[present])
        return column

    def resize(self, length: int) -> None:
        self.moments = resized(self.moments, length=length)

    def put(self, number: int, moment: int) -> None:
        self.moments[number] = moment
        self._earliest = min(self._earliest, moment)
        self._latest = max(self._latest, moment)

    def remove(self, number: int) -> None:
        """Nothing looks at it any more, but it would still be kept in a file."""
        self.moments[number] = 0

    def extend(self, numbers: Indices, moments: Sequence[int]) -> None:
        self.moments[numbers] = moments
        self._widen(self.moments[numbers])

    def after(self, moment: int) -> Match:
        if moment < self._earliest:
            return True
        return False if moment >= self._latest else np.greater(self.moments, moment)

    def before(self, moment: int) -> Match:
        if moment > self._latest:
            return True
        return False if moment <= self._earliest else np.less(self.moments, moment)

    def first_after(self, moment: int) -> int:
        if moment < self._earliest:
            return self._earliest
        return int(self.moments[self.moments > moment].min(initial=NEVER))

    def _widen(self, moments: Indices) -> None:
        self._earliest = int(moments.min(initial=self._earliest))
        self._latest = int(moments.max(initial=self._latest))
