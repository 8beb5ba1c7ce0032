"""How common each word is, remembered: asking FTS5 costs as much as the word is common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

CACHED_TERMS = 20_000
# Word weights move with the logarithm of the counts, so a tenth more memories changes no ranking.
STALE_SHARE = 0.1
STALE_ROWS = 200


class WordFrequencies:
    """A store that grows by a tenth is counted anew."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._documents = 0

    def look_up(
        self, terms: Iterable[str], *, documents: int, count: Callable[[list[str]], Mapping[str, int]]
    ) -> Mapping[str, int]:
        grown = documents - self._documents
        if grown > STALE_ROWS + STALE_SHARE * self._documents or grown < 0 or len(self._counts) > CACHED_TERMS:
            self._counts, self._documents = {}, documents
        wanted = list(terms)
        known = self._counts
        # A word not seen before may have come with the very last save, so absence is never remembered.
        missing = [term for term in wanted if not known.get(term)]
        if missing:
            known.update(count(missing))
        return {term: known.get(term, 0) for term in wanted}
