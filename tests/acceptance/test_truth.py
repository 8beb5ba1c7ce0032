"""What a team learns by itself is right, said by whom, and worth reading: trouble that users had, in their words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.domain.link import Relation
from mycel.domain.marks import SAID_BY
from mycel.domain.memory import Category, Memory, MemoryType, Status
from mycel.domain.report import ActionKind
from mycel.embedded.team_memory import TeamMemory
from mycel.providers.embeddings.registry import EmbeddingOptions, make_embedder
from tests.squad import Squad, open_squad

pytestmark = [pytest.mark.usefixtures("with_judge"), pytest.mark.each_database(slow=True)]


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    """With the models that users get, and a policy that lets stand what was said outright."""
    squad = open_squad(tmp_path, embedder=make_embedder(EmbeddingOptions()))
    with squad.workspace:
        squad.lead.set_policy(promote="grounded")
        yield squad


def capture(squad: Squad, *lines: str, by: TeamMemory | None = None) -> list[Memory]:
    (by or squad.author).capture_conversation("\n".join(lines))
    squad.workspace.run_pending()
    squad.admin.consolidate()
    return [memory for memory in squad.admin.list(status="any") if memory.made_by == "extraction"]


def told(squad: Squad, task: str | None = None) -> str:
    return squad.teammate.context_for(task=task, token_budget=2000).to_markdown()


def test_nonsense_is_in_nobodys_context(squad: Squad) -> None:
    drawn = capture(
        squad,
        "person-1: Then the server decided to close the connection.",
        'person-1: The README of the library says: "We decided to use Kafka for all events."',
        "person-1: In the old company we decided to use Mongo.",
        "person-1: I have a TODO app on my phone.",
        "person-1: The proxy then decided to retry the request.",
        "person-1: The guide of that tool says: 'Rule: always rebase.'",
        "person-1: At my former employer the rule was to deploy on Fridays.",
        "swe-1: Interesting.",
    )
    assert [memory.content for memory in drawn if memory.status is Status.ACTIVE] == []
    assert not any(memory.type is MemoryType.TASK_HINT for memory in drawn)
    text = told(squad)
    assert not any(word in text for word in ("close the connection", "Kafka", "Mongo", "TODO", "retry", "rebase"))


@pytest.mark.parametrize(
    "lines",
    [
        ("person-1: The bot of the shop answered:", "person-1: Always run the backup as root."),
        ("person-1: We decided to use Pulsar for the events.", "swe-1: ok", "person-1: Scratch that, it is open."),
        ("person-1: Imagine that a bank buys us.", "person-1: From now on every change needs a signature."),
        ("person-1: Oh great, so from now on we just ship without tests, wonderful.",),
        ("person-1: The top answer over there is: from now on use `--force` for everything.",),
        ("person-1: Always print the value in this debug run please, we remove it afterwards.",),
    ],
)
def test_what_the_words_around_it_make_nonsense_of_is_in_nobodys_context(squad: Squad, lines: tuple[str, ...]) -> None:
    drawn = capture(squad, "swe-1: Sure, I am looking at it.", *lines, "swe-1: I see.")
    assert [memory.content for memory in drawn if memory.status is Status.ACTIVE] == []


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("The fix was to use workload identity in the deploy job.", MemoryType.LESSON),
        ("The solution was to run it in an `autocommit_block`, since the index cannot be built in a transaction.",
         MemoryType.LESSON),
        ("It works again since we pinned the driver to 3.1.", MemoryType.LESSON),
        ("always run `make lint` before pushing please", Category.CONVENTION),
        ("Rule: no force pushes to main", Category.CONVENTION),
        ("please never commit the generated client", Category.CONVENTION),
        ("I prefer tabs over spaces", Category.PREFERENCE),
        ("I'd rather read a short summary first", Category.PREFERENCE),
        ("we decided in the standup to move to Vitest", MemoryType.DECISION),
        ("we agreed with legal to keep the logs for 30 days", MemoryType.DECISION),
        ("Confirmed: the launch date is March 3", MemoryType.FACT),
    ],
)  # fmt: skip
def test_what_people_say_is_not_missed(squad: Squad, line: str, kind: object) -> None:
    drawn = capture(squad, "person-1: The nightly deploy failed again.", f"person-1: {line}", "swe-1: ok")
    assert kind in {one for memory in drawn for one in (memory.type, memory.category)}


def test_a_promise_and_a_wish_are_of_whoever_spoke(squad: Squad) -> None:
    drawn = capture(
        squad,
        "ops-1: I'll move the bucket by Friday",
        "swe-1: great",
        "ops-1: I prefer short commit messages",
        "swe-1: noted",
    )
    by_type = {memory.type: memory for memory in drawn}
    assert by_type[MemoryType.TASK_HINT].content.startswith("ops-1 will move the bucket by 20")
    assert by_type[MemoryType.PROFILE].content == "ops-1 prefers short commit messages"
    assert {memory.metadata[SAID_BY] for memory in drawn} == {"ops-1"}
    assert not any("swe-1" in memory.content for memory in drawn)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("swe-1 prefers short answers.", "swe-1 likes answers to be brief."),
        ("The gateway times out after 2 seconds.", "The timeout of the gateway is 2000 ms."),
        ("Do not edit the lock file, the bot owns it.", "The lock file belongs to the bot: don't edit it."),
    ],
)
def test_the_same_in_other_words_is_brought_together_and_no_contradiction(
    squad: Squad, first: str, second: str
) -> None:
    squad.author.save(first)
    squad.pass_time(minutes=1)
    squad.teammate.save(second)
    squad.workspace.run_pending()
    report = squad.admin.consolidate()
    assert {action.kind for action in report.actions} <= {ActionKind.MERGE, ActionKind.SUGGEST}
    assert len(report.actions) == 1


@pytest.mark.parametrize(
    ("stands", "later"),
    [
        (
            "The public API is rate limited to 100 requests per minute per key.",
            "The public API no longer listens on port 8080, it moved to 8443.",
        ),
        ("Staging has two nodes of 16 GB.", "Staging no longer uses the old registry, it pulls from ghcr."),
        ("Backups of the ledger are kept for 90 days.", "Backups of the ledger moved from Frankfurt to Dublin."),
    ],
)
@pytest.mark.parametrize("is_same_author", [True, False])
def test_what_changed_in_another_attribute_replaces_nothing(
    squad: Squad, stands: str, later: str, is_same_author: bool
) -> None:
    first = squad.author.save(stands)
    squad.pass_time(minutes=1)
    second = (squad.author if is_same_author else squad.teammate).save(later)
    squad.workspace.run_pending()
    report = squad.admin.consolidate()
    assert not any(action.kind in {ActionKind.SUPERSEDE, ActionKind.SUGGEST} for action in report.actions)
    assert [squad.admin.get(one.id).status for one in (first, second)] == [Status.ACTIVE, Status.ACTIVE]
    assert not any(link.relation is Relation.SUPERSEDES for link in squad.admin.links(first.id))


def test_a_summary_is_titled_by_what_was_asked_and_keeps_speakers_and_what_failed(squad: Squad) -> None:
    squad.author.capture_session(
        [
            {"role": "user", "content": "The nightly import of orders dies with a timeout, can you find out why?"},
            {"role": "assistant", "content": "I tried to raise the timeout, but that did not help: the query hangs."},
            {"role": "assistant", "content": "The root cause is that the index on `orders.day` was dropped."},
            {"role": "user", "name": "person-1", "content": "We decided to create the index again."},
            {"role": "user", "name": "person-1", "content": "I'll tell the data team tomorrow."},
        ],
        session_id="c1",
        repo="shop",
    )
    squad.workspace.run_pending()
    (summary,) = squad.author.list(type="episode")
    assert "nightly import of orders" in summary.title
    assert "c1" not in summary.title
    asked, failed, decided = (summary.content.index(part) for part in ("Asked:", "Failed:", "Decided:"))
    assert asked < min(failed, decided)
    assert "raise the timeout" in summary.content
    assert "create the index again. (person-1)" in summary.content
    assert "person-1 will tell the data team" in squad.teammate.context_for(repo="shop").to_markdown()
