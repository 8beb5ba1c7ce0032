import numpy as np
import pytest

from mycel.contracts.search_store import Candidates, WordStatistics
from mycel.domain.recall import Pool
from mycel.retrieval.candidate_rows import CandidateRows
from mycel.retrieval.fusion import weights_of
from mycel.retrieval.lexical import parse_question


def covered(text: str, *held: str) -> float:
    question = parse_question(text)
    weights = weights_of(question, frequencies={}, documents=1)
    _, coverage, _ = weights.said_by(bytes(term in held for term in question.terms))
    return coverage


def test_coverage_is_the_share_of_the_questions_words() -> None:
    question = "why does the deploy fail on staging"
    assert covered(question, "deploy", "fail", "on", "stage") == 1
    assert covered(question, "deploy", "fail") == pytest.approx(0.5)
    assert covered(question, "other") == 0
    assert covered("", "server") == 0


def test_coverage_counts_the_parts_of_an_identifier_for_less_than_the_whole() -> None:
    parts = set(parse_question("getUserById").terms) - {"getuserbyid"}
    assert covered("getUserById", "getuserbyid", *parts) == 1
    assert 0 < covered("getUserById", "user") < 0.5
    assert covered("getUserById", *parts) == pytest.approx(0.5)


def brought(scores: dict[int, float]) -> Candidates:
    """By the one word of a question, under these numbers."""
    count = len(scores)
    return Candidates(
        numbers=np.array(list(scores), np.int64),
        bm25=np.array(list(scores.values())),
        cosines=np.full(count, np.nan),
        held=np.ones((count, 1), np.bool_),
        far=np.zeros(count, np.bool_),
        neighbours=[()] * count,
        statistics=WordStatistics({"heron": count}, count, 1.0),
        pool=Pool(count),
        quoted=None,
    )


def test_what_comes_after_some_were_left_out_keeps_its_own_figures() -> None:
    rows = CandidateRows(weights_of(parse_question("heron"), frequencies={"heron": 3}, documents=3))
    rows.add(0, brought({11: 1.0, 12: 9.0}))
    rows.keep([(0, 11)])
    assert rows.add(0, brought({11: 1.0, 13: 4.0})) == [(0, 11), (0, 13)]
    assert rows.best(rows.bm25, most=5) == [(0, 13), (0, 11)]
    assert rows.best(rows.bm25, most=5, among=rows.rows_of({(0, 12), (0, 13)})) == [(0, 13)]
    assert [one.evidence.bm25 for one in rows.candidates([(0, 11), (0, 13)])] == [1.0, 4.0]
