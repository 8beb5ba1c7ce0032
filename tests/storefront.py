# ruff: noqa: E501 - its texts are as people and agents write them
"""Fills a workspace with a team that has worked for a while, to look at the pages with something on them.

python -m tests.storefront DATA && mycel --data DATA serve
"""

from __future__ import annotations

import sys
from pathlib import Path

from mycel.app import open_workspace
from mycel.contracts.clock import Clock

LESSONS = [
    (
        "Run `make check` before every push. CI runs the same target and takes eleven minutes; a format error costs all of them.",
        ["ci", "workflow"],
    ),
    (
        "The order service retries a charge three times. Pass the order id as idempotency key, or customers pay twice.",
        ["payments", "retry"],
    ),
    (
        "Do not mock the clock in `tests/billing`: the invoices use the database's own time. Freeze it with `SET app.now`.",
        ["tests", "billing"],
    ),
    (
        "Postgres refuses `CREATE INDEX CONCURRENTLY` inside a migration's transaction. Mark the step `atomic = False`.",
        ["postgres", "migrations"],
    ),
    (
        "When the search page is slow, look at `pg_stat_statements` first: twice it was a missing `LIMIT`, never the cache.",
        ["performance"],
    ),
    (
        "Playwright loses the first click after a navigation on the checkout page. Wait for `[data-ready]` instead of the load event.",
        ["tests", "frontend"],
    ),
]
DECISIONS = [
    (
        "We release on Tuesdays and Thursdays before noon. A release on a Friday needs the lead's consent.",
        "Support is thin at the weekend.",
        ["Every day", "Once a week"],
    ),
    (
        "Prices are integers in the smallest unit of their currency, everywhere, the API included.",
        "Three rounding bugs in one quarter.",
        ["Decimal strings"],
    ),
    (
        "The storefront reads through the catalogue API and never from its database.",
        "Two teams changed the schema without the other knowing.",
        ["A read replica", "Shared views"],
    ),
]
VALUES = [
    ("test-command", "make test", "convention"),
    ("test-database-port", "5433, so that a local server on 5432 is left alone", "fact"),
    ("python", "3.12 in services, 3.11 in the agents' images", "fact"),
    (
        "auth-flow",
        "The gateway checks the session; services trust the signed `x-member` header and nothing else",
        "architecture",
    ),
    ("imports", "Absolute imports only; `from __future__ import annotations` first", "convention"),
]
TALK = [
    {"role": "user", "content": "The nightly export failed again. What happened?"},
    {
        "role": "assistant",
        "content": "It ran out of disk: the temporary folder of the exporter is on the small root volume. We decided to write exports to /data/tmp from now on. Lesson: check the free space of the volume that a job writes to, not of the machine.",
    },
    {"role": "user", "content": "Good. Always tell me before you restart the exporter."},
]
RUNBOOK = """## When the queue stands still

1. Look at the age of the oldest event, not at its length: `mycel events list --state pending`.
2. If one event fails again and again, read its error before you retry it.
3. Restart a worker **only** when its lease has run out.

| sign | cause | first step |
|---|---|---|
| age grows, no failures | workers are gone | `systemctl status worker@*` |
| failures with `429` | the provider limits us | wait; the breaker opens again |
| failures with `422` | a bad event | `mycel events show ID` |

> A queue that is long but moves is healthy.

```sh
mycel events retry EVENT
```
"""


def fill(data: Path, *, clock: Clock | None = None) -> None:
    with open_workspace(data, clock=clock) as workspace:
        workspace.add_team("storefront")
        for id, role, kind in (
            ("swe-1", "agent", "agent"),
            ("swe-2", "agent", "agent"),
            ("reviewer-1", "agent", "agent"),
            ("planner", "orchestrator", "agent"),
            ("maintainer", "member", "human"),
            ("eng-director", "lead", "human"),
        ):
            workspace.add_member(id, team="storefront", role=role, kind=kind)
        swe, other = workspace.as_member("swe-1"), workspace.as_member("swe-2")
        lead, person = workspace.as_member("eng-director"), workspace.as_member("maintainer")
        lessons = [
            (swe if number % 2 else other).save(text, type="lesson", tags=tags, project="shop")
            for number, (text, tags) in enumerate(LESSONS)
        ]
        decisions = [
            lead.save(text, type="decision", rationale=why, alternatives=others, project="shop", tags=["process"])
            for text, why, others in DECISIONS
        ]
        for key, value, category in VALUES:
            swe.knowledge.upsert(key=key, value=value, project="shop", category=category, confidence=0.9)
        person.save(RUNBOOK, type="document", title="Runbook: the queue", path="/docs/runbooks", tags=["operations"])
        person.upsert_profile_fact("review", "Prefers small pull requests with the reason in the first line")
        swe.update(lessons[1].id, content=LESSONS[1][0].replace("three times", "five times, a second apart"))
        lead.update(
            lessons[1].id, content=f"{LESSONS[1][0]}\n\nThe key must be new for a refund.", reason="asked by support"
        )
        other.link(lessons[0].id, decisions[0].id, "supports")
        swe.link(lessons[1].id, decisions[1].id, "related_to")
        other.link(lessons[2].id, lessons[3].id, "related_to")
        other.save("Releases happen on Mondays.", type="fact", project="shop", needs_review=True)
        other.save(
            "The checkout page may load fonts from a foreign host.", type="fact", project="shop", needs_review=True
        )
        swe.capture_session(TALK, session_id="s-1042", project="shop", title="Nightly export failed")
        swe.complete_task(
            task_id="shop-311",
            output="Moved exports to /data/tmp; the job passes.",
            approach="changed the folder by setting",
            project="shop",
        )
        other.fail_task(
            task_id="shop-318",
            what_went_wrong="The index build locked the table for nine minutes.",
            approach="plain CREATE INDEX",
            project="shop",
        )
        swe.save("An old note that nobody needs any more.", tags=["old"])
        gone = swe.save("A note that was deleted by mistake.")
        swe.delete(gone.id)
        workspace.run_pending()
        for memory, question in (
            (swe, "how do we release"),
            (other, "idempotency key for charges"),
            (lead, "slow search"),
        ):
            memory.search(question)


if __name__ == "__main__":
    fill(Path(sys.argv[1]))
