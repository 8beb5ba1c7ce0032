"""A process that acts as members of the tests' team: calls in JSON lines on standard input, answers on its output."""

import json
import sys
from pathlib import Path
from typing import Any

from mycel.domain.memory import Memory
from mycel.domain.recall import Recall
from tests.squad import open_squad, wide_embedder

SYNONYMS = (["outage", "downtime"], ["car", "automobile"], ["payroll", "wages"])


def main(data: str) -> None:
    squad = open_squad(Path(data), embedder=wide_embedder(*SYNONYMS))
    with squad.workspace:
        _tell("ready")
        for line in sys.stdin:
            member, method, arguments, options = json.loads(line)
            target = squad.workspace if member is None else squad.workspace.as_member(member)
            _tell(_plain(getattr(target, method)(*arguments, **options)))


def _plain(answer: Any) -> Any:
    if isinstance(answer, Recall):
        return [hit.memory.id for hit in answer.hits]
    return answer.id if isinstance(answer, Memory) else None


def _tell(answer: Any) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
