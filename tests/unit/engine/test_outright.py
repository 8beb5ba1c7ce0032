"""What is said outright, and what only sounds so."""

from __future__ import annotations

import pytest

from mycel.engine.english.outright import said_outright


@pytest.mark.parametrize(
    ("text", "type", "category"),
    [
        ("Decision: we use Valkey for the session store.", "decision", "decision"),
        ("**Decision** - ULIDs for new tables", "decision", "decision"),
        ("Resolution of today's review: tenant ids become UUIDv7", "decision", "decision"),
        ("We decided to use PostgreSQL for billing.", "decision", "decision"),
        ("we decided in the standup to move to Vitest", "decision", "decision"),
        ("Lesson learned: a rolling restart needs ten minutes between the nodes.", "lesson", "best-practice"),
        ("Learned the hard way that the emulator ignores the proxy.", "lesson", "best-practice"),
        ("Remember: the sandbox is reset on Sundays.", "fact", "fact"),
        ("Confirmed: the launch date is March 3", "fact", "fact"),
        ("Confirmed with legal: trial data is deleted after 90 days.", "fact", "fact"),
        ("always run `make lint` before pushing please", "fact", "convention"),
        ("Rule: no force pushes to main", "fact", "convention"),
        ("From now on every endpoint gets an entry in openapi.yaml", "fact", "convention"),
        ("never restart the ledger during the nightly close", "fact", "convention"),
        ("no, not console.log: we have a logger in src/log.ts", "fact", "convention"),
        ("Please always use pytest, never unittest.", "fact", "convention"),
        ("no, not like this: always pass the tenant id", "fact", "convention"),
        ("Action item for swe-5: write the runbook", "task_hint", "fact"),
    ],
)
def test_a_mark_says_what_it_is_and_is_a_ground(text: str, type: str, category: str) -> None:
    found = said_outright(text)
    assert found is not None
    assert (*map(str, found.kind), found.grounds) == (type, category, True)


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("The fix was to use workload identity", "lesson"),
        ("Turned out the worker reads MAIL_FROM only at start", "lesson"),
        ("I prefer tabs over spaces", "profile"),
        ("I'll move the bucket to eu-central-1", "task_hint"),
        ("Please use snake_case for all columns", "fact"),
        ("We went with Terraform", "decision"),
        ("no, not the old one: switch off the legacy sync", "fact"),
        ("That's settled, readers go over tenant by tenant", "decision"),
    ],
)
def test_some_words_say_what_it_is_and_are_no_ground(text: str, type: str) -> None:
    found = said_outright(text)
    assert found is not None
    assert (found.kind[0], found.grounds) == (type, False)


@pytest.mark.parametrize(
    "text",
    [
        "Then the server decided to close the connection",
        "In the old company we decided to use Mongo",
        'The README says "Decision: use Kafka"',
        '"We decided to use Kafka" is what the sample says',
        "I have a TODO app on my phone",
        "At my last job we always squashed before merging",
        "If we decided to go with Kafka, we'd need three more nodes",
        "Suppose we decided to drop the free tier",
        "We decided nothing, and it is not decided yet",
        "Decision: should we use Kafka?",
        "They decided to use Mongo",
        "never mind the test",
        "the branch is called fix/turned-out-to-be-dns",
        "a policy of the cluster",
    ],
)
def test_what_is_quoted_supposed_asked_denied_or_told_of_others_is_not_said_outright(text: str) -> None:
    assert said_outright(text) is None
