"""Capturing: material is stored at once, worked on later, and never twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.domain.memory import MadeBy, MemoryType, Status
from mycel.domain.source import EventState, Step
from mycel.errors import AccessDenied, Conflict, InvalidInput, LimitExceeded, NotFound
from mycel.testing.store_racing import together
from tests.squad import Squad, open_squad

pytestmark = pytest.mark.each_database(slow=True)


DECISION = "We decided to use PostgreSQL instead of MySQL for the billing service because of better JSON support."
TALK = [
    {"role": "user", "content": "Which database should the billing service use?"},
    {"role": "assistant", "content": DECISION},
]


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


def test_a_closed_session_becomes_a_summary_and_candidates_with_evidence(squad: Squad) -> None:
    event = squad.author.capture_session(TALK, project="billing", session_id="s-1")
    assert event.state is EventState.PENDING
    assert list(squad.author.list(status="any")) == []
    squad.workspace.run_pending()

    done = squad.author.sources.event(event.id)
    assert (done.state, done.tries) == (EventState.DONE, 0)
    (summary,) = squad.author.list(type="episode")
    assert summary.made_by is MadeBy.SESSION_SUMMARY
    assert summary.expires_at is not None
    (candidate,) = squad.author.list(status="inbox")
    assert (candidate.type, candidate.project_id, candidate.session_id) == (MemoryType.DECISION, "billing", "s-1")
    assert candidate.rationale is not None
    source = squad.author.sources.get(str(event.source_id))
    assert candidate.evidence_ref is not None
    assert source.text[candidate.evidence_ref.start : candidate.evidence_ref.end] in DECISION


def test_the_same_material_twice_is_one_source_and_one_event(squad: Squad) -> None:
    first = squad.author.capture_conversation(TALK, project="billing")
    again = squad.author.capture_conversation(TALK, project="billing")
    assert again.id == first.id
    squad.workspace.run_pending()
    assert squad.author.capture_conversation(TALK, project="billing").state is EventState.DONE
    squad.workspace.run_pending()
    assert len(squad.author.sources.list()) == 1
    assert len(squad.author.list(status="inbox")) == 1
    elsewhere = squad.author.capture_conversation(TALK, project="other")
    assert elsewhere.source_id != first.source_id


def test_a_session_that_reports_again_grows_one_source_and_waits_until_it_is_quiet(squad: Squad) -> None:
    more = [*TALK, {"role": "assistant", "content": "TODO: write the migration guide for the billing database."}]
    first = squad.author.capture_session(TALK, session_id="s-1", closed=False)
    squad.workspace.run_pending()
    assert list(squad.author.list(status="any")) == []
    squad.pass_time(minutes=4)
    second = squad.author.capture_session(more, session_id="s-1", closed=False)
    assert (second.id, second.source_id) == (first.id, first.source_id)
    squad.pass_time(minutes=4)
    squad.workspace.run_pending()
    assert list(squad.author.list(status="any")) == []
    squad.pass_time(minutes=2)
    squad.workspace.run_pending()
    assert {memory.type.value for memory in squad.author.list(status="inbox")} == {"decision", "task_hint"}


def test_a_last_report_in_which_nothing_was_said_closes_the_session(squad: Squad) -> None:
    bookkeeping = '{"type":"summary","summary":"","leafUuid":"x"}\n{"type":"last-prompt","sessionId":"s-1"}\n'
    with pytest.raises(InvalidInput, match="nothing to keep"):
        squad.author.capture_session(bookkeeping, session_id="s-1")
    event = squad.author.capture_session(TALK, session_id="s-1", closed=False)
    with pytest.raises(InvalidInput, match="nothing to keep"):
        squad.author.capture_session(bookkeeping, session_id="s-1", closed=False)
    squad.workspace.run_pending()
    assert squad.author.sources.event(event.id).state is EventState.PENDING
    assert squad.author.capture_session(bookkeeping, session_id="s-1").id == event.id
    squad.workspace.run_pending()
    assert squad.author.sources.event(event.id).state is EventState.DONE
    # Said once more, it changes nothing.
    assert squad.author.capture_session(bookkeeping, session_id="s-1").id == event.id


def test_a_report_with_a_key_is_new_even_if_it_says_the_same_and_counts_once(squad: Squad) -> None:
    go_on = [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": "Done."}]
    first = squad.author.capture_session(TALK, session_id="s-1", closed=False, idempotency_key="turn-1")
    for turn in ("turn-2", "turn-3", "turn-3"):
        squad.author.capture_session(go_on, session_id="s-1", closed=False, idempotency_key=turn)
    # Without a key only the text can tell.
    again = squad.author.capture_session(go_on, session_id="s-1", closed=False)
    assert again.source_id == first.source_id
    assert squad.author.sources.get(str(first.source_id)).text.count("user: Go on.") == 2
    with pytest.raises(Conflict):
        squad.author.capture_session(go_on, session_id="s-2", idempotency_key="turn-3")


def test_what_a_session_adds_after_extraction_is_extracted_alone(squad: Squad) -> None:
    more = [*TALK, {"role": "assistant", "content": "TODO: write the migration guide for the billing database."}]
    squad.author.capture_session(TALK, session_id="s-1")
    squad.workspace.run_pending()
    event = squad.author.capture_session(more, session_id="s-1")
    squad.workspace.run_pending()
    assert len(squad.author.sources.list()) == 1
    assert sorted(memory.type.value for memory in squad.author.list(status="inbox")) == ["decision", "task_hint"]
    (summary,) = squad.author.list(type="episode")
    assert summary.version == 2
    assert squad.author.capture_session(more, session_id="s-1").id == event.id


def test_a_report_does_not_bring_back_what_was_purged_from_the_session(squad: Squad) -> None:
    squad.author.capture_session(TALK, session_id="s-1")
    squad.workspace.run_pending()
    for memory in squad.author.list(status="any"):
        squad.author.purge(memory.id)
    more = [*TALK, {"role": "user", "content": "Thank you, that is all."}]
    event = squad.author.capture_session(more, session_id="s-1")
    squad.workspace.run_pending()
    assert "PostgreSQL" not in squad.author.sources.get(str(event.source_id)).text
    assert all("PostgreSQL" not in memory.content for memory in squad.author.list(status="any"))


def everything_said(squad: Squad) -> str:
    """All that any read of the author's or the lead's shows."""
    said: list[str] = []
    for reader in (squad.author, squad.lead):
        listed = [*reader.list(status="any"), *reader.list(deleted=True)]
        said += [text for memory in listed for text in (memory.title, memory.content, str(memory.summary))]
        said += [
            version.memory.content for memory in reader.list(status="any") for version in reader.history(memory.id)
        ]
        said += [source.text for one in reader.sources.list() for source in [reader.sources.get(one.id)]]
        said += [str(item) for item in reader.inbox()]
        said += [str(hit) for hit in reader.search("PostgreSQL billing JSON support", min_relevance=0).hits]
    return "\n".join(said)


def purge_decision(squad: Squad) -> None:
    (candidate,) = squad.author.list(status="inbox", type="decision")
    squad.author.purge(candidate.id)


def test_a_partial_report_does_not_bring_back_what_was_purged_from_the_session(squad: Squad) -> None:
    first = squad.author.capture_session(TALK, session_id="s-1")
    squad.workspace.run_pending()
    purge_decision(squad)
    last = squad.author.capture_session([TALK[1]], session_id="s-1")
    assert last.id == first.id
    follow_up = {"role": "user", "content": "TODO: write the migration guide for the billing database."}
    spaced = {"role": "assistant", "content": f"As said:\n\n  {DECISION.replace(' ', '  ').upper()} Anything else?"}
    squad.author.capture_session([spaced, follow_up], session_id="s-1")
    squad.author.capture_conversation([TALK[1], follow_up], session_id="s-1")
    squad.workspace.run_pending()
    assert [memory.type.value for memory in squad.author.list(status="inbox", session_id="s-1")].count("decision") == 0
    assert "PostgreSQL".lower() not in everything_said(squad).lower()
    assert "migration guide" in everything_said(squad)
    other = squad.author.capture_session(TALK, session_id="s-2")
    assert "PostgreSQL" in squad.author.sources.get(str(other.source_id)).text


def test_a_summary_loses_the_sentence_that_was_purged(squad: Squad) -> None:
    more = [*TALK, {"role": "user", "content": "TODO: write the migration guide for the billing database."}]
    squad.author.capture_session(TALK, session_id="s-1")
    squad.workspace.run_pending()
    squad.author.capture_session(more, session_id="s-1")
    squad.workspace.run_pending()
    (summary,) = squad.author.list(type="episode")
    assert "PostgreSQL" in summary.content
    purge_decision(squad)
    (clean,) = squad.author.list(type="episode")
    assert (clean.id, clean.version) == (summary.id, summary.version + 1)
    assert "[purged]" in clean.content
    assert "migration guide" in clean.content
    assert "PostgreSQL" not in everything_said(squad)
    squad.author.capture_session(
        [*more, {"role": "user", "content": "Also rename the invoice table."}], session_id="s-1"
    )
    squad.workspace.run_pending()
    (renewed,) = squad.author.list(type="episode")
    assert "invoice table" in renewed.content
    assert "PostgreSQL" not in everything_said(squad)


def test_the_metadata_of_a_summary_loses_what_was_purged(squad: Squad) -> None:
    squad.author.capture_session(TALK, session_id="s-1")
    squad.workspace.run_pending()
    (summary,) = squad.author.list(type="episode")
    (said,) = [line for line in summary.content.splitlines() if "PostgreSQL" in line]
    squad.author.update(summary.id, metadata={"talk": {"heard": [said, "It rained."]}})
    purge_decision(squad)
    (clean,) = squad.author.list(type="episode")
    assert clean.metadata["talk"] == {"heard": ["- [purged]", "It rained."]}
    assert not any("PostgreSQL" in str(version.memory.metadata) for version in squad.author.history(summary.id))


def test_a_deleted_or_edited_summary_loses_it_too(squad: Squad) -> None:
    squad.author.capture_session(TALK, session_id="s-1")
    squad.workspace.run_pending()
    (summary,) = squad.author.list(type="episode")
    squad.author.update(summary.id, content=f"{summary.content}\nThe migration guide is mine to write.")
    squad.author.delete(summary.id)
    purge_decision(squad)
    restored = squad.author.restore(summary.id)
    assert "migration guide" in restored.content
    assert "PostgreSQL" not in everything_said(squad)
    assert squad.author.search("PostgreSQL", min_relevance=0.01).hits == ()


def test_a_stored_conversation_stays_raw_until_it_is_captured(squad: Squad) -> None:
    stored = squad.author.capture_conversation(TALK, capture_mode="store")
    assert (stored.state, stored.outcome) == (EventState.DONE, "stored")
    squad.workspace.run_pending()
    assert list(squad.author.list(status="any")) == []
    captured = squad.author.capture_conversation(source_id=str(stored.source_id))
    assert captured.id != stored.id
    squad.workspace.run_pending()
    assert len(squad.author.list(status="inbox")) == 1


def test_a_merged_thread_gets_a_summary_that_stays(squad: Squad) -> None:
    squad.author.summarize_thread(TALK, thread_id="t-9", title="Billing database")
    squad.workspace.run_pending()
    (summary,) = squad.author.list(type="thread_summary")
    assert summary.title == "Thread: Billing database"
    assert summary.expires_at is None
    assert summary.source_ref is not None
    assert summary.source_ref.thread_id == "t-9"


def test_a_finished_task_is_an_episode_at_once_and_a_failed_one_says_what_went_wrong(squad: Squad) -> None:
    squad.author.complete_task(task_id="T-1", output="The build is green.", project="billing")
    squad.author.fail_task(task_id="T-1", what_went_wrong="The cache key ignores the lock file.", project="billing")
    failed, done = squad.author.list(type="episode")
    assert (done.task_id, done.metadata["outcome"], done.content) == ("T-1", "completed", "The build is green.")
    assert failed.metadata["outcome"] == "failed"
    assert "The cache key ignores the lock file." in failed.content
    assert done.expires_at is not None
    assert (done.expires_at - done.created_at).days == 7
    bundle = squad.author.context_for(task="T-1", project="billing").to_markdown()
    assert "ignores the lock file" in bundle


def test_a_task_told_twice_is_one_episode(squad: Squad) -> None:
    first = squad.author.complete_task(task_id="T-1", output="The build is green.")
    assert squad.author.complete_task(task_id="T-1", output="The build is green.").id == first.id
    assert len(squad.author.list(type="episode")) == 1


def test_the_same_words_about_another_agent_are_another_run(squad: Squad) -> None:
    runs = [squad.lead.after_task(task_id="T-1", output="Done.", agent_id=agent) for agent in ("swe-1", "swe-2")]
    assert [run.episode.agent_id for run in runs] == ["swe-1", "swe-2"]
    assert len(squad.lead.episodes.list(task_id="T-1")) == 2


def test_a_key_that_was_used_for_another_task_is_refused(squad: Squad) -> None:
    squad.author.after_task(task_id="T-1", output="Done.", idempotency_key="k")
    with pytest.raises(Conflict):
        squad.author.after_task(task_id="T-2", output="Done.", idempotency_key="k")


def test_a_run_after_the_clock_was_set_back_is_another_run(squad: Squad) -> None:
    squad.author.after_task(task_id="nightly", output="ok")
    squad.pass_time(days=-3)
    squad.author.after_task(task_id="nightly", output="ok")
    assert len(squad.author.episodes.list(task_id="nightly")) == 2


def test_a_purged_episode_takes_the_report_of_its_task_along(squad: Squad) -> None:
    report = {
        "task_id": "T-1",
        "approach": "Ask the zebra.",
        "output": "The giraffe answered.",
        "lessons": ["Ask first"],
    }
    record = squad.author.after_task(report)
    (lesson,) = record.lessons
    squad.author.purge(record.episode.id)
    text = squad.author.sources.get(record.event.source_id or "").text
    assert "zebra" not in text
    assert "giraffe" not in text
    assert lesson.evidence_ref is not None
    assert text[lesson.evidence_ref.start : lesson.evidence_ref.end] == "Ask first"
    squad.author.purge(lesson.id)
    assert "Ask" not in squad.author.sources.get(record.event.source_id or "").text


def test_an_output_too_long_for_a_memory_is_kept_whole_in_its_source(squad: Squad) -> None:
    event = squad.author.complete_task(task_id="T-1", output="line of output\n" * 10_000)
    (episode,) = squad.author.list(type="episode")
    assert len(episode.content.encode()) <= 64 * 1024
    assert episode.content.endswith("(The rest of the output is in the source.)")
    assert len(squad.author.sources.get(str(event.source_id)).text) == 150_000


def test_files_are_indexed_at_once_and_renewed_when_they_change(squad: Squad) -> None:
    text = "# Setup\n\n" + "Install the tools. " * 400 + "\n\n# Release\n\n" + "Tag the commit. " * 400
    event = squad.author.index_file("/workspace/shared/memory/guide.md", text)
    assert (event.state, event.outcome) == (EventState.DONE, "2 documents")
    release, setup = squad.teammate.list(type="document")
    assert (setup.title, release.title) == ("guide.md \u203a Setup", "guide.md \u203a Release")
    assert [link.relation.value for link in squad.author.links(release.id)] == ["related_to"]
    assert squad.author.index_file("/workspace/shared/memory/guide.md", text).id == event.id
    squad.teammate.index_file("/workspace/shared/memory/guide.md", "# Setup\n\nUse the container.")
    (only,) = squad.author.list(type="document")
    assert (only.id, only.version) == (setup.id, 2)
    assert squad.author.get(release.id).status is Status.ARCHIVED


def test_files_of_the_personal_folder_are_private(squad: Squad) -> None:
    squad.author.index_file("/workspace/personal/memory/own.md", "The header needs the Bearer prefix.")
    squad.author.index_file("/workspace/personal/memory-shared/not.md", "Beside, not below.")
    assert [memory.title for memory in squad.teammate.list(type="document")] == ["not.md"]
    assert len(squad.author.list(type="document")) == 2


def test_a_large_document_is_split_beside(squad: Squad) -> None:
    text = "".join(f"# Chapter {number}\n\n{'Words of the chapter. ' * 300}\n\n" for number in range(50))
    event = squad.author.index_file("handbook.md", text)
    assert (event.state, event.steps) == (EventState.PENDING, (Step.INDEX,))
    squad.workspace.run_pending()
    assert squad.author.sources.event(event.id).outcome == "50 documents"


def test_a_private_capture_yields_private_candidates(squad: Squad) -> None:
    event = squad.author.capture_session(TALK, visibility="private")
    squad.workspace.run_pending()
    assert len(squad.author.list(status="inbox")) == 1
    assert list(squad.teammate.list(status="any")) == []
    for look in (squad.teammate.sources.event, squad.teammate.sources.retry):
        with pytest.raises(NotFound):
            look(event.id)
    with pytest.raises(NotFound):
        squad.admin.sources.get(str(event.source_id))


def test_secrets_never_reach_the_source(squad: Squad) -> None:
    key = "AKIA" + "Q3EGJ7XNZ5TYHPLM"
    event = squad.author.capture_session([{"role": "user", "content": f"use {key} for the bucket"}])
    source = squad.author.sources.get(str(event.source_id))
    assert key not in source.text
    assert [source.text[turn.start : turn.end] for turn in source.turns] == [
        "use [secret:aws_access_key] for the bucket"
    ]


def test_what_the_session_was_told_by_mycel_is_not_stored_again(squad: Squad) -> None:
    squad.teammate.save("The billing service uses PostgreSQL because of its JSON support.", project="billing")
    assert squad.author.search("billing database PostgreSQL").hits
    squad.pass_time(minutes=1)
    said = "I learned that the billing service uses PostgreSQL because of its JSON support."
    event = squad.author.capture_session([{"role": "assistant", "content": said}], project="billing")
    squad.workspace.run_pending()
    assert list(squad.author.list(status="inbox")) == []
    assert squad.author.sources.event(event.id).state is EventState.DONE


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("messages", lambda memory: memory.capture_session([])),
        ("messages", lambda memory: memory.capture_session("  ")),
        ("messages", lambda memory: memory.capture_session(7)),
        ("messages[0].content", lambda memory: memory.capture_session([{"role": "user", "content": 7}])),
        ("messages", lambda memory: memory.capture_conversation()),
        ("capture_mode", lambda memory: memory.capture_conversation("x", capture_mode="listen")),
        ("source_id", lambda memory: memory.capture_conversation(source_id="x")),
        ("visibility", lambda memory: memory.capture_session("x", visibility="world")),
        ("colour", lambda memory: memory.capture_session("x", colour="red")),
        ("task_id", lambda memory: memory.complete_task(task_id="", output="x")),
        ("output", lambda memory: memory.complete_task(task_id="T", output="")),
        ("what_went_wrong", lambda memory: memory.fail_task(task_id="T", what_went_wrong=" ")),
        ("path", lambda memory: memory.index_file("", "x")),
        ("content", lambda memory: memory.index_file("a.md", "x\0")),
    ],
)
def test_bad_input_names_the_field(squad: Squad, field: str, call) -> None:
    with pytest.raises(InvalidInput) as caught:
        call(squad.author)
    assert caught.value.field == field


def test_more_than_32_megabytes_are_refused(squad: Squad) -> None:
    with pytest.raises((LimitExceeded, InvalidInput)):
        squad.author.capture_session("x" * (32 * 1024 * 1024 + 1))


def test_a_session_keeps_the_readers_of_its_first_report(squad: Squad) -> None:
    squad.author.capture_session("first", session_id="s", visibility="private", closed=False)
    squad.author.capture_session("first\n\nsecond", session_id="s", closed=False)
    with pytest.raises(InvalidInput, match="visibility"):
        squad.author.capture_session("first\n\nsecond\n\nthird", session_id="s", visibility="team")
    assert list(squad.teammate.sources.list()) == []


def test_only_leads_and_admins_inject_and_only_into_their_team(squad: Squad) -> None:
    lesson = squad.lead.inject_learning("swe-1", "Run the linter before you push.", "best-practice")
    assert (lesson.made_by, lesson.type, lesson.visibility.value) == (MadeBy.INJECT_LEARNING, MemoryType.LESSON, "team")
    own = squad.lead.inject_learning("swe-1", "Your commits lack tests.", "mistake-pattern", private=True)
    assert squad.author.get(own.id).agent_id == "swe-1"
    for other in (squad.lead, squad.teammate, squad.admin):
        with pytest.raises(NotFound):
            other.get(own.id)
    with pytest.raises(AccessDenied):
        squad.author.inject_learning("swe-2", "x", "preference")
    with pytest.raises(NotFound):
        squad.lead.inject_learning("child-lead", "x", "preference")


def test_a_file_that_returns_to_an_earlier_content_is_renewed(squad: Squad) -> None:
    for text in ("one", "two", "one"):
        squad.author.index_file("a.md", text)
    assert [(memory.content, memory.version) for memory in squad.author.list(type="document")] == [("one", 3)]


def test_a_file_that_expired_comes_back_when_it_is_saved_again(squad: Squad) -> None:
    squad.author.index_file("a.md", "text")
    squad.pass_time(days=31)
    assert list(squad.author.list(type="document")) == []
    squad.author.index_file("a.md", "text")
    assert len(squad.author.list(type="document")) == 1
    squad.pass_time(days=31)
    squad.workspace.maintain()
    squad.author.index_file("a.md", "text")
    assert len(squad.author.list(type="document")) == 1


def test_a_file_can_be_extracted_after_it_was_indexed(squad: Squad) -> None:
    squad.author.index_file("a.md", DECISION)
    event = squad.author.index_file("a.md", DECISION, extract=True)
    assert event.steps == (Step.EXTRACT,)
    squad.workspace.run_pending()
    assert len(squad.author.list(status="inbox")) == 1
    assert squad.author.index_file("a.md", DECISION, extract=True).id == event.id


def test_a_low_trust_writer_takes_nothing_away_from_a_shared_file(squad: Squad) -> None:
    squad.author.index_file("/workspace/shared/memory/a.md", "The good text.")
    squad.workspace.update_member("swe-2", trust="low")
    squad.workspace.as_member("swe-2").index_file("/workspace/shared/memory/a.md", "The bad text.")
    assert [memory.content for memory in squad.author.list(type="document")] == ["The good text."]
    assert [item.memory.content for item in squad.person.inbox()] == ["The bad text."]


def test_a_thread_that_went_on_has_one_summary(squad: Squad) -> None:
    more = [*TALK, {"role": "user", "content": "TODO: write the migration guide for the billing database."}]
    squad.author.summarize_thread(TALK, thread_id="t-9")
    squad.workspace.run_pending()
    squad.author.summarize_thread(more, thread_id="t-9")
    squad.workspace.run_pending()
    assert len(squad.author.list(type="thread_summary")) == 1
    assert sorted(memory.type.value for memory in squad.author.list(status="inbox")) == ["decision", "task_hint"]


def test_a_reference_to_a_source_gives_no_power_over_it(squad: Squad) -> None:
    event = squad.lead.capture_conversation(TALK)
    own = squad.author.save("x", source={"source_id": event.source_id}, visibility="private")
    assert "PostgreSQL" in squad.lead.sources.get(str(event.source_id)).text
    squad.author.purge(own.id)
    assert "PostgreSQL" in squad.lead.sources.get(str(event.source_id)).text
    squad.workspace.run_pending()
    assert len(squad.lead.list(status="inbox")) == 1


def test_files_of_the_same_name_in_two_projects_are_two(squad: Squad) -> None:
    for project in ("a", "b"):
        squad.author.index_file("README.md", "The same words.", project=project)
    assert {memory.project_id for memory in squad.author.list(type="document")} == {"a", "b"}


def test_nobody_takes_over_a_file_outside_the_shared_folder(squad: Squad) -> None:
    squad.lead.index_file("notes.md", "The lead's text.")
    squad.author.index_file("notes.md", "Another text.")
    assert {memory.content for memory in squad.teammate.list(type="document")} == {"The lead's text.", "Another text."}


def test_what_its_author_made_private_stays_private_when_the_file_changes(squad: Squad) -> None:
    squad.author.index_file("/workspace/shared/memory/a.md", "First.")
    (part,) = squad.author.list(type="document")
    squad.author.update(part.id, visibility="private")
    squad.author.index_file("/workspace/shared/memory/a.md", "Second.")
    assert [memory.content for memory in squad.teammate.list(type="document")] == ["Second."]
    assert squad.author.get(part.id).content == "First."


def test_a_summary_that_somebody_made_their_own_is_left_alone(squad: Squad) -> None:
    squad.author.capture_session(TALK, session_id="s-1")
    squad.workspace.run_pending()
    (summary,) = squad.author.list(type="episode")
    squad.author.update(summary.id, visibility="private", tags=["mine"])
    squad.author.capture_session([*TALK, {"role": "user", "content": "One more thing."}], session_id="s-1")
    squad.workspace.run_pending()
    assert list(squad.teammate.list(type="episode")) == []
    assert squad.author.get(summary.id).tags == ("mine",)


def test_what_is_purged_during_an_extraction_does_not_come_back(squad: Squad, monkeypatch: pytest.MonkeyPatch) -> None:
    from mycel.engine import extract_and_summarize

    squad.author.capture_session(TALK, session_id="s-1")
    squad.workspace.run_pending()
    found = extract_and_summarize.extract_and_summarize

    def purge_first(*given: object, **named: object) -> object:
        drawn = found(*given, **named)  # type: ignore[arg-type]
        monkeypatch.undo()
        for memory in squad.author.list(status="any"):
            squad.author.purge(memory.id)
        return drawn

    monkeypatch.setattr(extract_and_summarize, "extract_and_summarize", purge_first)
    more = [*TALK, {"role": "user", "content": "TODO: write the migration guide for the billing database."}]
    squad.author.capture_session(more, session_id="s-1")
    squad.workspace.run_pending()
    squad.pass_time(minutes=5)
    squad.workspace.run_pending()
    assert all("PostgreSQL" not in memory.content for memory in squad.author.list(status="any"))


def test_a_task_of_a_session_is_not_the_session(squad: Squad) -> None:
    squad.author.complete_task(task_id="T-1", output="Done.", session_id="s-1")
    squad.author.capture_session(TALK, session_id="s-1")
    squad.workspace.run_pending()
    assert {memory.made_by.value for memory in squad.author.list(type="episode")} == {
        "task_completion",
        "session_summary",
    }


def test_a_thread_that_was_captured_before_still_gets_its_summary(squad: Squad) -> None:
    squad.author.capture_conversation(TALK, thread_id="t-9")
    squad.workspace.run_pending()
    squad.author.summarize_thread(TALK, thread_id="t-9")
    squad.workspace.run_pending()
    assert len(squad.author.list(type="thread_summary")) == 1


def test_the_file_saved_last_wins_over_a_larger_one_that_waits(squad: Squad) -> None:
    squad.author.index_file("a.md", "# Long\n\n" + "Words of the chapter. " * 20_000)
    squad.author.index_file("a.md", "Short.")
    squad.workspace.run_pending()
    assert [memory.content for memory in squad.author.list(type="document")] == ["Short."]


def test_a_path_is_read_as_a_file_system_would(squad: Squad) -> None:
    squad.author.index_file("/workspace/personal/memory/sub/../diary.md", "Dear diary.")
    assert list(squad.teammate.list(type="document")) == []


def test_the_same_task_another_night_is_another_episode(squad: Squad) -> None:
    for _ in range(3):
        squad.author.complete_task(task_id="nightly-backup", output="ok")
        squad.pass_time(days=1)
    assert len(squad.author.list(type="episode", status="any")) == 3


def test_a_session_for_several_roles_reports_again(squad: Squad) -> None:
    roles = ["member", "lead"]
    squad.author.capture_session("one", session_id="s", visibility="role", allowed_roles=roles, closed=False)
    squad.author.capture_session("one\n\ntwo", session_id="s", visibility="role", allowed_roles=roles)


def test_a_clock_set_back_does_not_stop_the_queue(squad: Squad) -> None:
    squad.author.save("x")
    squad.pass_time(days=-3)
    event = squad.author.capture_session(TALK)
    squad.workspace.run_pending()
    assert squad.author.sources.event(event.id).state is EventState.DONE


def test_a_candidate_knows_when_it_was_said(squad: Squad) -> None:
    squad.author.capture_conversation([{"role": "user", "content": DECISION, "timestamp": "2024-05-01T10:00:00Z"}])
    squad.workspace.run_pending()
    (candidate,) = squad.author.list(status="inbox")
    assert candidate.observed_at is not None
    assert candidate.observed_at.year == 2024


def test_what_was_captured_at_low_trust_is_drawn_at_low_trust(squad: Squad) -> None:
    squad.workspace.update_member("swe-1", trust="low")
    squad.workspace.as_member("swe-1").capture_conversation(TALK)
    squad.workspace.update_member("swe-1", trust="high")
    squad.workspace.run_pending()
    (item,) = squad.person.inbox()
    assert (item.memory.trust.value, "low trust" in item.reason) == ("low", True)


def test_two_first_reports_at_once_make_one_source(squad: Squad) -> None:
    reports = [[*TALK, {"role": "user", "content": f"Part {number}."}] for number in range(6)]
    outcomes = together(
        [lambda report=report: squad.author.capture_session(report, session_id="s-1") for report in reports]
    )
    assert len({outcome.result().source_id for outcome in outcomes}) == 1
    (entry,) = squad.author.sources.list()
    source = squad.author.sources.get(entry.id)
    assert all(f"Part {number}." in source.text for number in range(6))
