"""The numbers of terms as a team keeps them, so that the lists of two teams share nothing in the index."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mycel.domain.ids import TeamName
from mycel.domain.packed_terms import PackedTerms
from mycel.retrieval.terms import HEAD, NUMBER_BYTES, term_number


class TeamTerms(NamedTuple):
    """Of one memory: its length in tokens, the numbers of its terms, how often each stands there, and those numbers as
    bytes. In the order of the table's columns."""

    tokens: int
    terms: list[int]
    counts: bytes
    numbers: bytes


def unpacked(words: PackedTerms, team: TeamName) -> TeamTerms:
    size = (len(words) - HEAD.size) // (NUMBER_BYTES + 1)
    end = HEAD.size + NUMBER_BYTES * size
    (tokens,) = HEAD.unpack_from(words)
    numbers = _mixed(np.frombuffer(words[HEAD.size : end], "<u8"), team)
    return TeamTerms(tokens, numbers.tolist(), words[end:], numbers.astype(">i8").tobytes())


def packed(terms: TeamTerms, team: TeamName) -> PackedTerms:
    """What `unpacked` was made of."""
    numbers = np.bitwise_xor(np.array(terms.terms, np.int64).view(np.uint64), _salt(team))
    return PackedTerms(HEAD.pack(terms.tokens) + numbers.astype("<u8").tobytes() + terms.counts)


def numbers_of(terms: Iterable[str], team: TeamName) -> list[int]:
    return _mixed(np.array([term_number(term) for term in terms], np.uint64), team).tolist()


def _mixed(numbers: NDArray[np.uint64], team: TeamName) -> NDArray[np.int64]:
    """Signed, as the database counts."""
    return np.bitwise_xor(numbers, _salt(team)).view(np.int64)


@lru_cache(maxsize=4096)
def _salt(team: TeamName) -> np.uint64:
    return np.uint64(int.from_bytes(blake2b(team.encode(), digest_size=NUMBER_BYTES).digest(), "little"))
