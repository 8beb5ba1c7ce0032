"""The nine words that announce something worth keeping: said outright they give a candidate, and otherwise none."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from mycel.contracts.judge import Judge
from mycel.domain.memory import MemoryType
from mycel.domain.source import Candidate, Transcript
from mycel.engine.extraction.extract import extract
from mycel.engine.transcripts.reading import read_transcript
from mycel.providers.judge.shipped import builtin_judge

SAID_AT = datetime(2026, 11, 18, 9, tzinfo=UTC)
# Each word with the type of what it announces.
TYPES: Mapping[str, tuple[MemoryType, ...]] = {
    **dict.fromkeys(("decided", "chose", "agreed"), (MemoryType.DECISION,)),
    # Who confirms mostly says how things are.
    "confirmed": (MemoryType.DECISION, MemoryType.FACT),
    **dict.fromkeys(("TODO", "action item", "need to do"), (MemoryType.TASK_HINT,)),
    **dict.fromkeys(("reference", "see also"), (MemoryType.REFERENCE,)),
}
OUTRIGHT: Mapping[str, tuple[str, ...]] = {
    "decided": (
        "We decided to adopt Option A for the pricing.",
        "I decided to keep the nightly backup on the second disk.",
        "Decided: the beta closes on the first of March.",
        "The team has decided to drop support for Internet Explorer.",
        "After discussion, we decided to store all prices in cents.",
    ),
    "chose": (
        "I chose the blue theme for the dashboard.",
        "We chose Postgres over MySQL for the billing service.",
        "After the benchmark we chose the smaller model for search.",
        "The team chose GitHub Actions over Jenkins for the builds.",
        "For the logo we chose the version without the border.",
    ),
    "confirmed": (
        "We confirmed that the budget is 40k.",
        "I confirmed that the license covers ten seats.",
        "Confirmed: the launch moves to the ninth of May.",
        "The vendor confirmed that the API limit is 100 calls a minute.",
        "Legal has confirmed that we may keep the logs for 90 days.",
    ),
    "agreed": (
        "Agreed, we ship on Tuesday.",
        "We agreed to review every pull request within a day.",
        "Agreed: the staging database is wiped each Sunday.",
        "We all agreed that the API stays on version 2 until June.",
        "In the meeting we agreed on a code freeze from the tenth of December.",
    ),
    "TODO": (
        "TODO: rotate the signing keys before the release.",
        "TODO rotate the signing keys before the release.",
        "todo - write the migration for the orders table.",
        "TODO(swe-1): remove the feature flag of the old checkout.",
        "Todo for tomorrow: update the onboarding page.",
    ),
    "action item": (
        "Action item: order the new certificates by Friday.",
        "Action item for swe-2: rename the bucket of the invoices.",
        "AI-1, action item: move the cron job to the new host.",
        "The action item is to measure the latency of the login page.",
        "One action item: ask the vendor for a bigger quota.",
    ),
    "need to do": (
        "need to do: update the DNS records of the shop.",
        "Need to do: back up the wiki before the move.",
        "We need to do a load test before the launch.",
        "I need to do the upgrade of the runners this week.",
        "What we need to do: clean up the unused feature flags.",
    ),
    "reference": (
        "Reference: https://docs.example.com/pricing/tiers",
        "Reference: the pricing tiers are described in docs/pricing.md.",
        "For reference, the error codes are listed in docs/errors.md.",
        "For reference: https://wiki.example.com/runbooks/queue",
        "The reference for the webhook payloads is docs/webhooks.md.",
    ),
    "see also": (
        "See also: docs/runbooks/failover.md",
        "See also docs/architecture/queue.md for the retry rules.",
        "see also https://docs.example.com/limits for the rate limits.",
        "See also the runbook in docs/runbooks/dns.md.",
        "For the retries, see also docs/queue/backoff.md.",
    ),
}
# Supposed, quoted, reported of others, denied, or taken back in the next line.
NOT_MEANT: Mapping[str, tuple[str, ...]] = {
    "decided": (
        "If we decided to adopt Option B, the price would double.",
        'The blog post says: "we decided to drop Kubernetes".',
        "At my last company we decided to write everything in Go.",
        "We have not decided on the hosting yet.",
        "We decided to move the office plants.\nScratch that, we have not decided it.",
    ),
    "chose": (
        "Suppose we chose Oracle, who would pay for it?",
        'The README says "I chose the red theme for the dashboard".',
        "In my old team we chose MongoDB for everything.",
        "I have not chosen a theme for the dashboard.",
        "I chose the green theme for the dashboard.\nForget what I said, that was a joke.",
    ),
    "confirmed": (
        "If they confirmed that the budget is 90k, we could hire.",
        'The ticket says "we confirmed that the outage is over".',
        "At my previous company legal confirmed that we may sell the data.",
        "Nobody has confirmed that the budget is 90k.",
        "We confirmed that the budget is 90k.\nScratch that, wrong chat.",
    ),
    "agreed": (
        "If we agreed on Friday, would the client accept it?",
        '"Agreed, we ship on Monday" is what the old mail says.',
        "In my last team we agreed to have no tests at all.",
        "We have not agreed on a date for the release.",
        "Agreed, we ship on Sunday.\nJust kidding, forget that.",
    ),
    "TODO": (
        "I have a TODO app on my phone.",
        'The linter rejects lines such as "TODO: fix this later".',
        "There is no TODO left in this file.",
        "Should we leave a TODO here?",
        "TODO: delete the production database.\nJust kidding, forget that.",
    ),
    "action item": (
        "What is an action item in this tool?",
        'The template begins with "Action item: describe it here".',
        "There was no action item from the meeting.",
        "Suppose there was an action item for each of us.",
        "Action item: paint the server room pink.\nThat was a joke.",
    ),
    "need to do": (
        "Do we need to do anything about the old host?",
        'The form shows "need to do: fill this in".',
        "We do not need to do a load test.",
        "If it fails again we would need to do a full restore.",
        "Need to do: sell the servers.\nJust kidding, never mind that.",
    ),
    "reference": (
        "The function returns a reference to the list.",
        "Do you have a reference for that?",
        'The template has a line "Reference: your link here".',
        "There is no reference for this figure.",
        "Reference: https://example.com/wrong\nScratch that, wrong link.",
    ),
    "see also": (
        "Can you see also the second screen?",
        "I see also that the light is on.",
        'The man page ends with "SEE ALSO: printf(3)".',
        "If you see also red lights, would you call me?",
        "See also docs/old.md for the limits.\nScratch that, it is the wrong page.",
    ),
}


@pytest.fixture(scope="module", params=["rules", "judge"])
def judge(request: pytest.FixtureRequest) -> Judge | None:
    if request.param == "rules":
        return None
    found = builtin_judge()
    assert found is not None
    return found


def talk(said: str) -> Transcript:
    lines = [("ops-1", one) for one in said.split("\n")]
    lines.append(("swe-1", "ok, thanks"))
    return read_transcript(
        [{"role": "user", "content": one, "timestamp": SAID_AT.isoformat(), "name": who} for who, one in lines]
    )


def drawn(judge: Judge | None, said: str) -> list[Candidate]:
    return extract(talk(said), judge=judge)


@pytest.mark.parametrize(("word", "said"), [(word, one) for word, said in OUTRIGHT.items() for one in said])
def test_a_word_said_outright_gives_a_candidate_of_its_type(judge: Judge | None, word: str, said: str) -> None:
    assert word.lower() in said.lower()
    (found,) = drawn(judge, said)
    assert found.type in TYPES[word]


@pytest.mark.parametrize(("word", "said"), [(word, one) for word, said in NOT_MEANT.items() for one in said])
def test_a_word_that_is_not_meant_gives_none(judge: Judge | None, word: str, said: str) -> None:
    found = [one for one in drawn(judge, said) if one.taken_back_by is None]
    assert [one.content for one in found if one.type in TYPES[word]] == []
