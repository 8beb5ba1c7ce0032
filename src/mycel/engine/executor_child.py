"""The child process that does the heavy steps: a line of JSON in, a line of JSON out, until its input ends."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from typing import IO, Any

from mycel.contracts.judge import Judge
from mycel.engine.executor import InlineExecutor, MakeJudge, no_judge
from mycel.engine.executor_process import (
    candidate_values,
    judgement_values,
    pair_from,
    transcript_from,
)

# Whoever waits for an answer of the service comes first.
NICENESS = 10


def main(judge: MakeJudge = no_judge) -> None:
    """Interrupts are for the parent; when that ends, so does the input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    loading = threading.Lock()

    def loaded() -> Judge | None:
        with loading:
            return judge()

    # While the first work is still on its way.
    threading.Thread(target=loaded, name="mycel-judge", daemon=True).start()
    serve(sys.stdin, sys.stdout, judge=loaded)


def serve(asked: IO[str], answers: IO[str], *, judge: MakeJudge = no_judge) -> None:
    executor = InlineExecutor(judge)
    for line in asked:
        request = json.loads(line)
        try:
            answer: Mapping[str, Any] = {"result": _WORK[request["work"]](executor, request)}
        except Exception as error:  # noqa: BLE001 - told to the parent; its text may quote a memory
            answer = {"error": type(error).__name__}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _extract(executor: InlineExecutor, request: Mapping[str, Any]) -> Any:
    found = executor.extract(transcript_from(request["transcript"]), start=request["start"])
    return [candidate_values(candidate) for candidate in found]


def _summarize(executor: InlineExecutor, request: Mapping[str, Any]) -> Any:
    return executor.summarize(transcript_from(request["transcript"]))


def _compare(executor: InlineExecutor, request: Mapping[str, Any]) -> Any:
    found = executor.compare([pair_from(pair) for pair in request["pairs"]])
    return [[judgement_values(compared.judgement), compared.is_open] for compared in found]


def _weigh(executor: InlineExecutor, request: Mapping[str, Any]) -> Any:
    found = executor.weigh([pair_from(pair) for pair in request["pairs"]])
    return [judgement_values(judgement) for judgement in found]


_WORK: Mapping[str, Callable[[InlineExecutor, Mapping[str, Any]], Any]] = {
    "extract": _extract,
    "summarize": _summarize,
    "compare": _compare,
    "weigh": _weigh,
}

if __name__ == "__main__":
    main()
