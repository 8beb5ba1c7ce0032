"""Work that always ends: pieces of which none keeps the others from being done, and batches that get fewer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable

from mycel.errors import Unavailable


class Attempts:
    """Several pieces of work. Each is tried, whatever became of the others; the first failure is told at the end."""

    def __init__(self) -> None:
        self._failure: Exception | None = None

    def run(self, work: Callable[[], int]) -> int:
        """How much was done; nothing, when it failed."""
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - raised in the end
            self._failure = self._failure or error
            return 0

    def end(self) -> None:
        if self._failure is not None:
            raise self._failure


def in_batches(next_batch: Callable[[], Collection[Hashable]]) -> int:
    """Does one batch after the other until one is empty, each telling what was in it; returns how many that were.

    What comes back right after it was done is not done by doing it again: `Unavailable`.
    """
    done, before = 0, frozenset[Hashable]()
    while batch := frozenset(next_batch()):
        if batch & before:
            raise Unavailable("what was done keeps coming back: something else undoes it, or the store is damaged")
        done += len(batch)
        before = batch
    return done
