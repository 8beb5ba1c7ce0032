"""What is drawn from talk, what is not, and how well that does on labelled transcripts."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from mycel.domain.memory import MemoryType
from mycel.domain.source import Candidate, Transcript, Turn
from mycel.engine.extraction.extract import extract

ROOT = Path(__file__).resolve().parents[3]


def talk(*turns: tuple[str, str]) -> Transcript:
    """What each speaker says; of `assistant`, `tool` and `system` the name is the role."""
    text = ""
    places: list[Turn] = []
    for name, words in turns:
        text += f"{name}: "
        is_role = name in {"user", "assistant", "tool", "system"}
        places.append(Turn(name if is_role else "user", len(text), len(text) + len(words), None if is_role else name))
        text += words + "\n\n"
    return Transcript(text, tuple(places))


def said(*texts: str, role: str = "user") -> list[Candidate]:
    return extract(talk(*((role, text) for text in texts)))


def only(*texts: str, role: str = "user") -> Candidate:
    [candidate] = said(*texts, role=role)
    return candidate


def test_finds_a_decision_with_its_reason_and_what_was_decided_against() -> None:
    text = "ok so we decided to use PostgreSQL instead of MySQL for the billing service because of better JSON support."
    found = only(text)
    assert found.type is MemoryType.DECISION
    assert found.category == "decision"
    assert found.title == "Use PostgreSQL instead of MySQL for the billing service"
    assert found.content == text.removeprefix("ok so ").replace("we", "We", 1)
    assert found.rationale == "Better JSON support"
    assert found.alternatives == ("MySQL",)
    assert found.confidence >= 0.9


def test_is_less_sure_of_a_proposal_taken_up_than_of_a_decision_told() -> None:
    assert only("Let's go with Redis for the job queue.").confidence == 0.8
    assert (
        only("The importer writes to a staging table, and a nightly swap makes it live in the database.").confidence
        <= 0.7
    )


@pytest.mark.parametrize(
    ("text", "kind", "title"),
    [
        ("The team agreed that all services expose /healthz.", MemoryType.DECISION, "All services expose /healthz"),
        ("**Decision:** use ULIDs for new tables.", MemoryType.DECISION, "Use ULIDs for new tables"),
        ("We chose Terraform over Pulumi since everybody knows it.", MemoryType.DECISION, "Terraform over Pulumi"),
        ("We decided not to shard the database.", MemoryType.DECISION, "Do not shard the database"),
        (
            "TODO: rotate the signing keys before the release.",
            MemoryType.TASK_HINT,
            "Rotate the signing keys before the release",
        ),
        (
            "Action item: update the runbook for the Kafka cluster.",
            MemoryType.TASK_HINT,
            "Update the runbook for the Kafka cluster",
        ),
        (
            "We need to do the index migration before the launch.",
            MemoryType.TASK_HINT,
            "The index migration before the launch",
        ),
        (
            "See also docs/adr/0012-tenancy.md for the reasoning.",
            MemoryType.REFERENCE,
            "See also docs/adr/0012-tenancy.md for the reasoning",
        ),
        (
            "The runbook is at https://wiki.acme.example/failover",
            MemoryType.REFERENCE,
            "The runbook is at https://wiki.acme.example/failover",
        ),
        (
            "Lesson learned: never run two migrations in one release.",
            MemoryType.LESSON,
            "Never run two migrations in one release",
        ),
        ("I prefer short answers with code samples.", MemoryType.PROFILE, "I prefer short answers with code samples"),
        ("We always pin Docker images by digest.", MemoryType.FACT, "We always pin Docker images by digest"),
    ],
)
def test_titles_say_it_without_the_cue(text: str, kind: MemoryType, title: str) -> None:
    found = only(text)
    assert (found.type, found.title) == (kind, title)


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("The root cause was a missing index on `orders.customer_id`.", "mistake-pattern"),
        ("We tried connection pooling with pgbouncer but it broke prepared statements.", "mistake-pattern"),
        ("Next time we should test the rollback on staging first.", "best-practice"),
        ("All timestamps in the API must be UTC.", "convention"),
        ("The staging cluster lives in eu-west-1 and is rebuilt every night at 02:00 UTC.", "codebase-knowledge"),
        ("Please always use pytest, never unittest.", "preference"),
        ("FYI the sandbox database is reset every Sunday.", "fact"),
    ],
)
def test_names_the_category(text: str, category: str) -> None:
    assert only(text).category == category


def test_evidence_is_the_exact_place_of_the_sentence() -> None:
    text = "Morning. We agreed to drop IE11 from the build. See you."
    transcript = talk(("swe-1", text))
    [found] = extract(transcript)
    assert transcript.text[found.start : found.end] == "We agreed to drop IE11 from the build."


def test_joins_the_sentence_that_gives_the_reason() -> None:
    found = only("We decided to cache the tiles in Redis. Otherwise the database falls over at noon.")
    assert found.content.endswith("falls over at noon.")


def test_joins_the_sentence_before_that_it_speaks_of() -> None:
    found = only("The invoice of last month again. It turned out that the ledger database rounds once.")
    assert found.content.startswith("The invoice of last month")


def test_work_is_given_to_people_by_name() -> None:
    found = extract(
        talk(
            ("ops-2", "The certificate of the gateway runs out soon."),
            ("eng-director", "Then ops-2 renews the certificate before Friday."),
        )
    )
    assert [(one.type, one.title) for one in found] == [
        (MemoryType.TASK_HINT, "Then ops-2 renews the certificate before Friday")
    ]


def test_people_take_work_on_and_assistants_offer_it() -> None:
    text = "I'll rewrite the cleanup job in batches tomorrow."
    assert only(text).type is MemoryType.TASK_HINT
    assert said(text, role="assistant") == []


def test_headings_say_what_their_items_are() -> None:
    found = said(
        "## Decisions\n\n- Postgres for the ledger\n- one region only for the API\n\n"
        "## Action items\n- [ ] size the cluster\n- [x] order the disks for the cluster\n"
    )
    assert [one.type for one in found] == [MemoryType.DECISION, MemoryType.DECISION, MemoryType.TASK_HINT]
    assert found[0].content == "Postgres for the ledger"


@pytest.mark.parametrize(
    "text",
    [
        "Should we use Kafka for the events?",
        "What if we decided to use Kafka instead?",
        "If we decided to use Kafka we would need a registry.",
        "We could use Redis for the cache.",
        "I think we should shard the database.",
        "We haven't decided on the database yet.",
        "The API format is not agreed yet.",
        "Maybe we always pin the Docker images.",
    ],
)
def test_what_is_open_yields_nothing(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "I'll now run the tests of the parser.",
        "I can add a test for the parser if you like.",
        "Let me check the logs of the server.",
        "All 214 tests pass.",
        "I've added the index and pushed the branch to GitHub.",
        "Running the migration on staging now.",
        "The API is currently down in two zones.",
        "We have 5% errors on the checkout API since 10:12",
    ],
)
def test_offers_and_progress_yield_nothing(text: str) -> None:
    assert said(text, role="assistant") == []


@pytest.mark.parametrize(
    "text",
    [
        "We decided to have lunch at the thai place because the other one is closed.",
        "I prefer oat milk in my coffee.",
        "TODO: buy milk and bread.",
        "Lesson learned: never cook fish in the office microwave.",
        "We agreed on the movie for Friday instead of the concert.",
        "My dog always wakes me at five, next time I get a cat.",
        "See also the sequel, it is even better.",
        "I need to do my taxes this weekend.",
        "The root cause is the coffee.",
    ],
)
def test_small_talk_yields_nothing(text: str) -> None:
    assert said("morning!", text, "haha") == []


@pytest.mark.parametrize("role", ["tool", "system"])
def test_tools_and_the_system_yield_nothing(role: str) -> None:
    assert said("We decided to use PostgreSQL for the billing API.", role=role) == []


@pytest.mark.parametrize(
    "text",
    [
        "```\nWe decided to use PostgreSQL for the billing API.\n```",
        "~~~\nTODO: rotate the signing keys of the API\n",
        "> We decided to use PostgreSQL for the billing API.",
        "<stored-notes>\nWe decided to use PostgreSQL for the billing API.\n</stored-notes>",
        "<stored-notes>\nTODO: rotate the signing keys of the API",
        "2026-01-02 10:11:12 WARN we decided to use the fallback API of the database",
    ],
)
def test_code_quotes_logs_and_given_notes_yield_nothing(text: str) -> None:
    assert said(text) == []


def test_what_stands_around_given_notes_is_read() -> None:
    text = "<stored-notes>\n- the API is slow\n</stored-notes>\nWe decided to use PostgreSQL for the billing API."
    assert only(text).title == "Use PostgreSQL for the billing API"


def test_what_is_said_again_is_one_candidate() -> None:
    text = "We decided to use PostgreSQL for the billing API."
    assert len(said(text, "ok", text)) == 1


@pytest.fixture(scope="module")
def benchmark() -> Iterator[ModuleType]:
    """The one that measures the same with figures; it is no part of the package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        yield importlib.import_module("benchmarks.extraction")


@pytest.mark.parametrize("split", ["dev", "held_out"])
def test_small_talk_of_the_labelled_transcripts_yields_nothing(split: str, benchmark: ModuleType) -> None:
    talks = [one for one in benchmark.read_split(split) if one.kind == benchmark.SMALL_TALK]
    assert talks
    assert [one.name for one in talks if benchmark.score(one).given] == []


# The aim is a precision of 0.8 and a recall of 0.6. Talk that nobody looked at while the rules were written says
# most things without a cue; what is worth keeping is found there too, but not always of which type it is.
@pytest.mark.parametrize(
    ("split", "judged", "precision", "recall"),
    [
        ("dev", "fits", 0.88, 0.85),
        ("dev", "covers", 0.9, 0.9),
        ("held_out", "fits", 0.62, 0.56),
        ("held_out", "covers", 0.78, 0.73),
    ],
)
def test_finds_most_of_what_is_labelled_and_little_else(
    split: str, judged: str, precision: float, recall: float, benchmark: ModuleType
) -> None:
    found = benchmark.total(benchmark.read_split(split), judged=getattr(benchmark.Label, judged))
    assert found.precision >= precision
    assert found.recall >= recall
