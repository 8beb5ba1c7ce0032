"""How the cosines of one question are spread over everything that it could find."""

from __future__ import annotations

import numpy as np

from mycel.domain.recall import Pool
from mycel.retrieval.coded_column import Flags
from mycel.retrieval.vector_index import VectorIndex
from mycel.retrieval.vectors import Vectors

# A hundred already order as well as all of them do; more make relevance steadier.
SAMPLE = 256


def survey(index: VectorIndex, query: Vectors, *, allowed: Flags) -> Pool:
    # Every so many of those that may be found: which places they have among all others must not decide.
    numbers = np.flatnonzero(allowed)
    size = len(numbers)
    numbers = numbers[:: -(-size // SAMPLE) or 1]
    cosines = index.similarities(query, numbers)
    cosines = cosines[~np.isnan(cosines)]
    if not len(cosines):
        return Pool(size)
    return Pool(size, len(cosines), float(cosines.mean()), float(cosines.std()))
