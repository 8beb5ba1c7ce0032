"""What somebody gets who has set nothing: memories are found by meaning, from the first search on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mycel

MEMORIES = (
    "Releases go out every second Tuesday.",
    "The elevator on the third floor is out of order.",
    "Invoices above 500 are signed off by the head of finance.",
    "Page loads crawl before 9 am because the nightly cache is empty.",
    "Locked out? Reset your credentials on the account page.",
)


@pytest.mark.usefixtures("real_defaults")
@pytest.mark.parametrize(
    ("question", "wanted"),
    [("the lift is broken", MEMORIES[1]), ("how do I get a new password", MEMORIES[4])],
)
def test_a_memory_is_found_by_a_question_that_shares_no_word_with_it(
    tmp_path: Path, question: str, wanted: str
) -> None:
    with mycel.open(tmp_path) as workspace:
        memory = workspace.as_operator()
        for text in MEMORIES:
            memory.save(text)
        recall = memory.search(question)
        assert recall.degraded == ()
        best = recall.hits[0]
        assert best.memory.content == wanted
        assert best.breakdown["words"] == 0
        assert workspace.embedding_progress("executive").pending == 0


SEARCHING = """
import sys
import mycel

with mycel.open("memory") as workspace:
    workspace.as_operator().save("The elevator is out of order.")
    assert workspace.as_operator().search("the lift is broken").degraded == ()
assert "onnxruntime" in sys.modules
"""


def test_the_model_that_finds_by_meaning_reports_to_nobody(tmp_path: Path) -> None:
    """onnxruntime keeps an id of the machine and a queue of reports in the user's folders unless it is told not to."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    command = [sys.executable, "-c", SEARCHING]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=60)
    assert [path.name for path in tmp_path.iterdir()] == ["memory"]
