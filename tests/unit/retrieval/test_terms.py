"""What is kept of a memory's words: the numbers of its terms, however the words stand together."""

from __future__ import annotations

import struct

from hypothesis import example, given
from hypothesis import strategies as st

from mycel.domain.memory_field import Index
from mycel.retrieval.bm25 import COLUMN_WEIGHTS
from mycel.retrieval.terms import HEAD, MOST_COUNTED, PER_ONE, column_tokens, packed_values, term_number

TEXT = st.text(alphabet=st.sampled_from("abAB01 .,-_/'\n\t\u3000東京é\u0301")) | st.text()


@given(title=TEXT, content=TEXT, tags=st.lists(TEXT, max_size=3))
@example(title="a", content="word " * 1000, tags=[])
@example(title="getUserById", content="well-known (getUserById) C++ 東京都 don't", tags=["a b"])
def test_each_term_is_kept_once_with_its_weight_in_the_order_of_the_columns(
    title: str, content: str, tags: list[str]
) -> None:
    values = {"title": title, "content": content, "tags": tuple(tags)}
    weights: dict[str, int] = {}
    columns = column_tokens(values)
    for tokens, weight in zip(columns, COLUMN_WEIGHTS, strict=True):
        for token in tokens:
            weights[token] = weights.get(token, 0) + int(weight * PER_ONE)
    numbers = struct.pack(f"<{len(weights)}Q", *map(term_number, weights))
    kept = bytes(min(weight, MOST_COUNTED) for weight in weights.values())
    assert packed_values(values) == HEAD.pack(sum(map(len, columns))) + numbers + kept
    assert len(columns) == len(Index)
