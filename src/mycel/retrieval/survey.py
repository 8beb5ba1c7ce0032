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
    size = int(np.count_nonzero(allowed))
    if size <= 16 * SAMPLE:
        numbers = np.flatnonzero(allowed)
        numbers = numbers[:: -(-len(numbers) // SAMPLE) or 1]
    else:
        # Looking at every n-th alone is enough where most are allowed, and spares a walk through all of them.
        step = max(1, len(allowed) // (2 * SAMPLE))
        numbers = np.arange(0, len(allowed), step)[allowed[::step]]
    cosines = index.similarities(query, numbers)
    cosines = cosines[~np.isnan(cosines)]
    if not len(cosines):
        return Pool(size)
    return Pool(size, len(cosines), float(cosines.mean()), float(cosines.std()))
