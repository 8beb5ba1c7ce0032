"""The page of the five documents is complete: every requirement has a verdict, a reason and a test that is there."""

import ast
from collections import Counter
from pathlib import Path

from tests.documents_page import VERDICTS, list_unproved, read_requirements

TESTS = Path(__file__).resolve().parents[1]


def test_requirements_are_numbered_without_gaps() -> None:
    numbers = [row.number for row in read_requirements()]
    count = Counter(number[0] for number in numbers)
    assert numbers == [f"{letter}{number}" for letter in count for number in range(1, count[letter] + 1)]


def test_every_verdict_is_one_of_three_and_has_a_reason_unless_as_written() -> None:
    for row in read_requirements():
        assert row.kind in VERDICTS, row
        assert (row.kind == "as written") == (row.verdict == row.kind), row


def test_every_named_test_is_there() -> None:
    for row in read_requirements():
        path, _, name = row.test.partition("::")
        nodes = ast.walk(ast.parse((TESTS / path).read_text("utf-8")))
        assert name in {node.name for node in nodes if isinstance(node, ast.FunctionDef)}, row


def test_a_requirement_whose_test_has_not_passed_is_named() -> None:
    rows = read_requirements()
    passed = {f"tests/{row.test}" for row in rows[1:]}
    assert list_unproved(passed) == [f"{row.number}: {row.test}" for row in rows if f"tests/{row.test}" not in passed]
