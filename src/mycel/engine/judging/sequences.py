"""What comes before what: "X before Y", "after Y, X", "first X, then Y" and "X first"."""

from __future__ import annotations

from collections.abc import Sequence as Row

from mycel.engine.judging.clauses import Sequence

_ORDERING = frozenset(("before", "after", "then", "first"))


def read_sequence(words: Row[tuple[str, str]]) -> Sequence | None:
    """None when the words give no order; each comes with what it is compared by, empty where it has no weight."""
    places = {word: place for place, (word, _) in enumerate(words) if word in _ORDERING}
    for word in ("then", "first", "before", "after"):
        place = places.get(word)
        if place is not None:
            found = _split(words, word, place)
            if found is not None:
                return found
    return None


def _split(words: Row[tuple[str, str]], word: str, place: int) -> Sequence | None:
    left, right = _weights(words[:place]), _weights(words[place + 1 :])
    if word == "first":
        if not left:
            left, right = _first_half(words[place + 1 :])
    elif not left and word in {"before", "after"}:
        # Said first, it ends at the comma: "After the tests, deploy".
        right, left = _first_half(words[place + 1 :])
    if not left or not right:
        return None
    return Sequence(right, left) if word == "after" else Sequence(left, right)


def _first_half(words: Row[tuple[str, str]]) -> tuple[frozenset[str], frozenset[str]]:
    """Up to the comma, "and" or "then", and after it."""
    cut = next((place for place, (word, _) in enumerate(words) if word in {",", "and", "then"}), len(words))
    return _weights(words[:cut]), _weights(words[cut:])


def _weights(words: Row[tuple[str, str]]) -> frozenset[str]:
    return frozenset(weight for _, weight in words if weight and weight not in _ORDERING)
