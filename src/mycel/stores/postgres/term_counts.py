"""In how many memories of what a reader sees a term stood when somebody last counted."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

from mycel.access.scope import ReadScope

# Of so many readers it is remembered what they see, and so many of the terms they asked for.
REMEMBERED_READERS = 256
REMEMBERED_TERMS = 2_000
# Rarer terms are found and counted by every search anew.
LEAST_REMEMBERED = 100
# A count may be off by this share. No change of the log adds or takes more than one memory.
TOLERANCE = 0.01
# Rarest first, terms find memories for as long as so many hold them together; the others only score what was found.
FINDING_ROWS = 2_000

_Counted = dict[str, tuple[int, int]]


class TermCounts:
    """Counts by reader. They say which terms are worth looking up, and of the common ones how much they tell."""

    def __init__(self) -> None:
        self._readers: OrderedDict[ReadScope, _Counted] = OrderedDict()

    def hints(self, scope: ReadScope, terms: Iterable[str]) -> dict[str, int]:
        """However old they are."""
        counted = self._readers.get(scope, {})
        return {term: counted[term][0] for term in terms if term in counted}

    def fresh(self, scope: ReadScope, terms: Iterable[str], *, sequence: int) -> dict[str, int]:
        """Those that are near enough at this place of the log."""
        counted = self._readers.get(scope, {})
        known = {term: counted[term] for term in terms if term in counted}
        return {term: count for term, (count, at) in known.items() if abs(sequence - at) <= TOLERANCE * count}

    def remember(self, scope: ReadScope, counts: Mapping[str, int], *, sequence: int) -> None:
        common = {term: (count, sequence) for term, count in counts.items() if count >= LEAST_REMEMBERED}
        if not common:
            return
        counted = self._readers.get(scope, {})
        # A new dictionary: other threads may be reading the old one.
        self._readers[scope] = common if len(counted) > REMEMBERED_TERMS else counted | common
        if len(self._readers) > REMEMBERED_READERS:
            self._readers.popitem(last=False)


def finders_among(
    terms: Sequence[str], phrases: Iterable[Sequence[str]], counts: Mapping[str, int], *, rows: int
) -> list[str]:
    """The rarest terms, up to so many rows together; those that nobody has counted are taken for rare.

    At least one is among them, and one of each phrase: what is quoted must be found whatever it is made of.
    """
    ordered = sorted(terms, key=lambda term: counts.get(term, 0))
    found: list[str] = []
    total = 0
    for term in ordered:
        total += counts.get(term, 0)
        if found and total > rows:
            break
        found.append(term)
    rarest = (min(phrase, key=lambda term: counts.get(term, 0)) for phrase in phrases)
    return list(dict.fromkeys((*found, *rarest)))
