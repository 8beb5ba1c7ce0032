import numpy as np
import pytest

from mycel.retrieval.candidate_rows import coverage
from mycel.retrieval.lexical import parse_question


def covered(text: str, *held: str) -> float:
    question = parse_question(text)
    [share] = coverage(question, np.array([[term in held for term in question.terms]], np.bool_))
    return float(share)


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
