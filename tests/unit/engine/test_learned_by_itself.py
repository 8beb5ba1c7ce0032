"""What is drawn from talk and made of two statements by the judge that users get: nothing foolish stands by itself."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from mycel.contracts.embedder import Embedder
from mycel.contracts.judge import Judge
from mycel.domain.marks import EXPLICIT
from mycel.domain.memory import Category, MemoryType
from mycel.domain.session_summary import Part, points_of
from mycel.domain.source import Candidate, Transcript
from mycel.engine.extraction.extract import extract
from mycel.engine.judging.judgement import CONTRADICTS, LIKELY_SAME, Judgement, Statement
from mycel.engine.judging.pair import judge as judge_pair
from mycel.engine.judging.pair import with_same_values
from mycel.engine.summary import summarize
from mycel.engine.transcripts.reading import read_transcript
from mycel.providers.embeddings.shipped import builtin_embedder
from mycel.providers.judge.shipped import builtin_judge

# A Wednesday.
SAID_AT = datetime(2026, 11, 18, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def judge() -> Judge:
    found = builtin_judge()
    assert found is not None
    return found


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return builtin_embedder()


def talk(*lines: tuple[str, str]) -> Transcript:
    """Each line by a role or by a person of that name."""
    roles = {"user", "assistant", "tool"}
    return read_transcript(
        [
            {"role": "user" if who not in roles else who, "content": said, "timestamp": SAID_AT.isoformat()}
            | ({} if who in roles else {"name": who})
            for who, said in lines
        ]
    )


def drawn(judge: Judge, line: str, *, who: str = "ops-1") -> list[Candidate]:
    return extract(talk((who, line), ("swe-1", "ok"), (who, "thanks")), judge=judge)


def stands_by_itself(found: Candidate) -> bool:
    return found.grounds == EXPLICIT and found.type is not MemoryType.PROFILE


@pytest.mark.parametrize(
    "line",
    [
        "Then the server decided to close the connection",
        "The scheduler decided to move the job to node 3 last night",
        'The README says: "We decided to use Kafka for all events"',
        "> Decision: all services are written in Go",
        "In the old company we decided to use Mongo",
        "At my last job the rule was: no deploys on Friday",
        "I have a TODO app on my phone",
        "My favourite album is called Lesson Learned",
        "If we decided to drop Redis we would lose the sessions",
        "Suppose the rule is: always squash, what then?",
        "Did we decide to use Postgres 17?",
        "We have not decided to move to Vitest",
        "The payments team over there decided to use Mongo",
        "From now on I only drink decaf, haha",
        "I decided to repaint my kitchen on Saturday",
        "If we moved to Kafka all events would be kept from now on",
        "Nobody reads the old channel",
    ],
)
def test_what_only_sounds_like_it_never_stands_by_itself(judge: Judge, line: str) -> None:
    assert not any(map(stands_by_itself, drawn(judge, line)))


@pytest.mark.parametrize("who", ["user", "ops-1"])
@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("always run `make lint` before pushing please", Category.CONVENTION),
        ("never push to main without a pull request", Category.CONVENTION),
        ("please use `uv` instead of pip in this repo", Category.CONVENTION),
        ("Rule: no force pushes to main", Category.CONVENTION),
        ("From now on every migration needs a second reviewer", Category.CONVENTION),
        ("All alerts go to the channel search-oncall from now on", Category.CONVENTION),
        ("Nobody runs backfills on production by hand", Category.CONVENTION),
        ("I prefer tabs over spaces", Category.PREFERENCE),
        ("I'd rather have short commit messages", Category.PREFERENCE),
        ("we decided in the standup to move to Vitest", MemoryType.DECISION),
        ("we agreed on Tuesday to drop Python 3.9", MemoryType.DECISION),
        ("Confirmed: the launch date is March 3", MemoryType.FACT),
    ],
)
def test_what_a_person_tells_the_team_is_kept(judge: Judge, line: str, kind: MemoryType | Category, who: str) -> None:
    (found,) = drawn(judge, line, who=who)
    # A standing order is a convention, and a decision is one as well.
    fitting = {found.type, found.category} | ({Category.CONVENTION} if found.type is MemoryType.DECISION else set())
    assert kind in fitting


@pytest.mark.parametrize(
    "line",
    [
        "The fix was to use workload identity in the deploy job.",
        "The solution was to create the index in an `autocommit_block`, since it cannot run in a transaction.",
        "It turned out that the proxy cut the upload after 60 seconds.",
        "The tests hung because the fixture never closed its pool; closing it fixed them.",
        "I tried to raise the memory limit of the pod, but that did not help: the leak is in the driver.",
    ],
)
def test_what_solved_it_or_did_not_is_a_lesson(judge: Judge, line: str) -> None:
    found = extract(talk(("user", "The nightly deploy fails, please look."), ("assistant", line)), judge=judge)
    assert [one.type for one in found if line[-25:] in one.content] == [MemoryType.LESSON]


def test_a_remedy_is_not_joined_with_the_trouble_of_something_else(judge: Judge) -> None:
    found = extract(
        talk(
            ("user", "In my last job the coffee machine was broken for a month."),
            ("assistant", "The fix was to use workload identity in the deploy job."),
        ),
        judge=judge,
    )
    assert "coffee" not in " ".join(one.content for one in found)


@pytest.mark.parametrize(
    ("line", "content"),
    [
        ("I'll move the bucket by Friday", "ops-1 will move the bucket by 2026-11-20"),
        ("I will send the report to legal tomorrow.", "ops-1 will send the report to legal on 2026-11-19."),
        ("I prefer short commit messages", "ops-1 prefers short commit messages"),
    ],
)
def test_a_promise_and_a_wish_name_who_spoke_and_the_day(judge: Judge, line: str, content: str) -> None:
    (found,) = drawn(judge, line)
    assert (found.content, found.said_by) == (content, "ops-1")


@pytest.mark.parametrize(
    "line", ["I can take away write access for humans, if you want", "We could warm the cluster up at 6 if you like"]
)
def test_what_somebody_offers_is_no_memory(judge: Judge, line: str) -> None:
    assert drawn(judge, line) == []


@pytest.mark.parametrize(
    "line",
    [
        "I heard the payments team is dropping their own gateway and going with a vendor.",
        "Somebody said in the kitchen that the office moves to the harbour in March.",
        "Rumour has it that the vendor stops the free plan in January.",
        "Maybe we should also sell the old sensors to a museum.",
        "Perhaps we could rewrite the importer in another language over the summer.",
        "Two, one queue that owns the printer and the services only send requests.",
        "Option b: rebuild the index from the log each night.",
        "Three ways to mend it: drop the cache, warm it at start, or keep it on disk.",
        "Can do, end of next week.",
        "Works for me, Tuesday the eighth of December.",
        "Doesn't have to be everybody's habit, just mine.",
        "Tuesday the eighth of December.",
    ],
)
def test_hearsay_ideas_choices_and_a_mere_yes_are_no_memory(judge: Judge, line: str) -> None:
    assert drawn(judge, line) == []


def test_what_somebody_thinks_is_no_promise(judge: Judge) -> None:
    line = "I think you should call people before an update, and I'll send the list of numbers by Friday."
    told = " ".join(one.content for one in drawn(judge, line))
    assert "will think" not in told


def test_a_pronoun_that_nobody_can_resolve_is_no_memory(judge: Judge) -> None:
    assert drawn(judge, "it passed until last week") == []


def judged(judge: Judge, embedder: Embedder, first: str, second: str) -> Judgement:
    one, other = (np.asarray(vector) for vector in embedder.embed_documents([first, second]))
    cosine = float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
    (odds,) = judge.compare([(first, with_same_values(first, second))])
    return judge_pair(Statement(first), Statement(second), cosine=cosine, odds=odds)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("swe-1 prefers short answers.", "swe-1 likes answers to be brief."),
        ("The gateway times out after 2 seconds.", "The timeout of the gateway is 2000 ms."),
        ("Do not edit the lock file, the bot owns it.", "The lock file belongs to the bot: don't edit it."),
        ("Backups run at 2 am.", "The backups start at 02:00."),
        ("Never deploy on a Friday.", "No deployments on Fridays."),
    ],
)
def test_what_says_the_same_in_other_words_is_at_least_suggested(
    judge: Judge, embedder: Embedder, first: str, second: str
) -> None:
    found = judged(judge, embedder, first, second)
    assert found.likeness >= LIKELY_SAME
    assert found.contradiction < CONTRADICTS


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "The public API is rate limited to 100 requests per minute per key.",
            "The public API no longer listens on port 8080, it moved to 8443.",
        ),
        ("The importer runs every hour.", "The importer was renamed from loader to importer."),
        ("swe-3 owns the billing service.", "The billing service moved from Heroku to Fly."),
        ("Staging has two nodes.", "Production was raised from two nodes to four."),
        ("The cache is cleared at night.", "The cache no longer holds prices, they moved to the catalogue."),
    ],
)
def test_what_changed_in_something_else_replaces_nothing(
    judge: Judge, embedder: Embedder, first: str, second: str
) -> None:
    assert not judged(judge, embedder, first, second).supersedes


SESSION = talk(
    ("user", "The nightly import of orders dies with a timeout, can you find out why?"),
    ("assistant", "I tried to raise the timeout of the job, but that did not help: the query itself hangs."),
    ("assistant", "The root cause is that the index on `orders.day` was dropped by the last migration."),
    ("swe-4", "We decided to create the index again in a migration of its own."),
    ("swe-4", "I'll tell the data team tomorrow."),
)


def test_a_summary_tells_who_decided_what_failed_and_what_is_open(judge: Judge) -> None:
    text = summarize(SESSION, judge=judge)
    lines = text.splitlines()
    assert lines[0] == "Asked:"
    assert "nightly import of orders" in lines[1]
    failed = lines.index("Failed:")
    assert "raise the timeout" in lines[failed + 1]
    assert any("swe-4" in line and "create the index again" in line for line in lines)
    assert "Open:" in lines


def points(judge: Judge, part: Part, *lines: tuple[str, str]) -> list[str]:
    return points_of(summarize(talk(*lines), judge=judge), part)


def test_a_thread_begins_with_what_its_first_speaker_wanted(judge: Judge) -> None:
    found = points(
        judge,
        Part.ASKED,
        ("customer-3", "Since the update our webhook gets every event twice."),
        ("support-1", "Do both deliveries carry the same event id?"),
        ("customer-3", "Yes, the same id, ten seconds apart."),
    )
    assert found == ["Since the update our webhook gets every event twice."]


@pytest.mark.parametrize(
    "line",
    [
        'The third pilot says, quote, "we decided to go back to the old search until facets work".',
        "At my last company we decided to retrain the model every week.",
        "What if we decided to launch without facets?",
    ],
)
def test_a_summary_does_not_take_for_decided_what_others_said_or_somebody_supposed(judge: Judge, line: str) -> None:
    lines = (
        ("pm-1", "The relaunch of the search is next, where do we stand?"),
        ("pm-1", line),
        ("eng-director", "We decided to freeze the ranking model until after the launch."),
    )
    assert points(judge, Part.DECIDED, *lines) == [
        "We decided to freeze the ranking model until after the launch. (eng-director)"
    ]


def test_what_is_left_open_is_told_with_its_name_and_its_day(judge: Judge) -> None:
    lines = (("pm-1", "Who changes the retention of the query logs?"), ("ops-1", "I'll set it to 30 days by Friday."))
    assert points(judge, Part.OPEN, *lines) == [
        "ops-1 will set it to 30 days by 2026-11-20. (asked: Who changes the retention of the query logs?)"
    ]


def test_what_an_agent_names_as_open_is_open_and_what_it_tried_in_vain_has_failed(judge: Judge) -> None:
    lines = (
        ("user", "The nightly export dies with a memory error, can you look?"),
        ("assistant", "I tried to cast every chunk with `safe=False`, but that turned the decimals into floats."),
        ("assistant", "Open: the upload script for finance still has no test."),
    )
    assert points(judge, Part.OPEN, *lines) == ["The upload script for finance still has no test."]
    assert any("cast every chunk" in point for point in points(judge, Part.FAILED, *lines))


def test_a_decision_that_answers_a_question_is_kept_with_the_question(judge: Judge) -> None:
    found = extract(
        talk(("art-1", "Are the portraits 256 or 512 pixels wide?"), ("producer-1", "We decided on 512 for now.")),
        judge=judge,
    )
    assert [one.content for one in found if one.said_by == "producer-1"] == [
        "We decided on 512 for now. (asked: Are the portraits 256 or 512 pixels wide?)"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "All alerts go to the channel search-oncall from now on, nothing to the old one.",
        "Nobody runs backfills on production by hand.",
        "For the team: we agreed with product that every change of a limit needs a changelog entry.",
    ],
)
def test_a_rule_that_a_person_gives_outright_may_stand_by_itself(judge: Judge, line: str) -> None:
    assert any(map(stands_by_itself, drawn(judge, line)))


def test_a_fact_that_answers_a_question_is_kept_with_the_question(judge: Judge) -> None:
    (found,) = extract(
        talk(
            ("cust-1", "Will the allow list survive the next update?"),
            ("eng-3", "Yes, it's stored with the tenant, not in the release."),
            ("cust-1", "Good."),
        ),
        judge=judge,
    )
    assert found.content == (
        "It's stored with the tenant, not in the release. (asked: Will the allow list survive the next update?)"
    )


def test_what_a_promise_answers_names_who_said_it_and_the_days(judge: Judge) -> None:
    (found,) = extract(
        talk(
            ("dev-1", "I'm away from December 7 to December 11."),
            ("dev-2", "Works for me. I take that week and you take the one over Christmas."),
        ),
        judge=judge,
    )
    assert found.content.startswith("dev-2 will take that week")
    assert "(in answer to: dev-1 is away from 2026-12-07 to 2026-12-11.)" in found.content


@pytest.mark.parametrize(
    "line",
    [
        "Three things today: the search migration, the on-call swap, and whatever broke on Friday.",
        "Either you move the pilot users to the newer registration, or we add the second audience to the list.",
        "and can you make the commit message in english please, the last ones were half german",
    ],
)
def test_an_agenda_a_choice_and_a_request_to_the_other_are_no_memory(judge: Judge, line: str) -> None:
    assert drawn(judge, line) == []


def test_a_rule_that_holds_even_if_something_is_the_case_is_said_outright(judge: Judge) -> None:
    line = "From now on whoever is on call posts the first update within 15 minutes, even if we know nothing yet."
    (found,) = drawn(judge, line)
    assert stands_by_itself(found)


def test_what_is_settled_by_that_is_kept_with_its_question_and_does_not_stand_by_itself(judge: Judge) -> None:
    found = extract(
        talk(
            ("dev-1", "Do we switch the readers over per tenant or all at once?"),
            ("dev-2", "Ok then that's settled, readers go over tenant by tenant, smallest first."),
        ),
        judge=judge,
    )
    assert [one.content for one in found] == [
        "Readers go over tenant by tenant, smallest first. "
        "(asked: Do we switch the readers over per tenant or all at once?)"
    ]
    assert not any(map(stands_by_itself, found))


def test_a_promise_whose_it_was_named_in_the_question_is_kept_with_the_question(judge: Judge) -> None:
    found = extract(
        talk(
            ("dev-1", "Then I delete the PDF job, or does somebody still need it?"),
            ("dev-2", "Give it until the end of the month, then drop it."),
        ),
        judge=judge,
    )
    assert all("PDF job" in one.content for one in found)
