"""What every way into a team's memory promises about writing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from mycel.errors import Conflict, InvalidInput, NotFound
from mycel.testing.clock import ManualClock
from tests.conformance.memory_api_cast import Cast, check_refused, outcome
from tests.template import ABSENT

DEEP: dict[str, Any] = {}
_level = DEEP
for _ in range(2000):
    _level["x"] = {}
    _level = _level["x"]

WRONG: list[tuple[str, object]] = [
    ("content", ""),
    ("content", "  \n"),
    ("content", "a\0b"),
    ("content", "\ud800"),
    ("content", "x" * (64 * 1024 + 1)),
    ("type", "rumour"),
    ("title", "two\nlines"),
    ("tags", ["x"] * 1 + ["\0"]),
    ("tags", [f"t{index}" for index in range(33)]),
    ("path", "relative"),
    ("path", "/a/../b"),
    ("path", "/a//b"),
    ("scope", "galaxy"),
    ("visibility", "public"),
    ("allowed_roles", ["agent"]),
    ("allowed_roles", ["boss"]),
    ("confidence", 1.1),
    ("confidence", float("nan")),
    ("confidence", True),
    ("confidence", 10**400),
    ("ttl", "soon"),
    ("ttl", 0),
    ("ttl", -5),
    ("expires_at", "2026-11-15T09:00:00"),
    ("expires_at", "tomorrow"),
    ("metadata", {"x": float("inf")}),
    ("metadata", {1: "a", "b": 2}),
    ("metadata", {"x": 2**64}),
    ("metadata", DEEP),
    ("metadata", {"x": "y" * 20_000}),
    ("needs_review", "yes"),
    ("source", {"colour": "red"}),
    ("source.type", {"type": "alien"}),
    ("status", "active"),
    ("colour", "red"),
    ("idempotency_key", ""),
    ("idempotency_key", "x" * 201),
    ("similar", "yes"),
    ("supersedes", "the last one"),
]


class ApiWriting:
    """Needs the fixtures `cast` and `clock`."""

    def test_a_saved_memory_is_active_and_durable_at_once(self, cast: Cast) -> None:
        memory = cast.author.save("The build needs Node 22.")
        assert (memory.status, memory.version, memory.agent_id, memory.team) == ("active", 1, "swe-1", "squad")
        assert (memory.type, memory.visibility, memory.confidence, memory.trust) == ("fact", "team", 1.0, "normal")
        assert (memory.source_kind, memory.made_by) == ("manual", "manual")
        assert cast.author.get(memory.id) == cast.teammate.get(memory.id) == memory
        assert [hit.memory.id for hit in cast.teammate.search("build Node").hits] == [memory.id]

    def test_a_save_names_what_stands_near_it(self, cast: Cast) -> None:
        old = cast.teammate.save("The staging database listens on port 5433.")
        cast.teammate.save("Invoices are sent on the first of the month.")
        hidden = cast.teammate.save("The staging database listens on port 5433!", visibility="private")
        assert cast.author.save("The staging database listens on port 5433.").similar == ()
        again = cast.author.save("On port 5433 the staging database listens.", similar=True)
        near = {one.id: one for one in again.similar}
        assert old.id in near
        assert hidden.id not in near
        assert (near[old.id].agent_id, near[old.id].excerpt) == ("swe-2", old.content)
        assert near[old.id].likeness >= 0.85
        other = cast.author.save("The staging database listens on port 6000.", similar=True)
        assert "5433" in {one.id: one for one in other.similar}[old.id].why
        assert cast.author.save("Lunch is at noon.", similar=True).similar == ()
        assert cast.author.get(again.id).similar == ()

    def test_a_save_replaces_what_it_supersedes(self, cast: Cast) -> None:
        old = cast.author.save("The queue is RabbitMQ.")
        new = cast.author.save("The queue is Kafka.", supersedes=old.id)
        assert cast.author.get(old.id).status == "superseded"
        (link,) = cast.author.links(new.id)
        assert (link.from_id, link.to_id, link.relation) == (new.id, old.id, "supersedes")
        with pytest.raises(InvalidInput, match="superseded") as wrong:
            cast.author.save("The queue is NATS.", supersedes=old.id)
        assert wrong.value.field == "supersedes"
        with pytest.raises(NotFound):
            cast.author.save("The queue is NATS.", supersedes=ABSENT)
        assert [hit.memory.id for hit in cast.author.search("queue NATS").hits if "NATS" in hit.memory.content] == []

    def test_what_somebody_else_wrote_gives_way_when_a_reviewer_agrees(self, cast: Cast) -> None:
        old = cast.teammate.save("Releases go out on Tuesday.")
        new = cast.author.save("Releases go out on Thursday.", supersedes=old.id, similar=True)
        assert [one.why for one in new.similar if one.id == old.id] == [
            "stands until a reviewer agrees that it is replaced"
        ]
        assert (cast.author.get(old.id).status, new.status) == ("active", "active")
        cast.lead.approve(new.id)
        assert cast.author.get(old.id).status == "superseded"

    def test_what_waits_replaces_nothing_until_it_is_approved(self, cast: Cast) -> None:
        old = cast.author.save("Backups run at two.")
        new = cast.author.save("Backups run at three.", supersedes=old.id, needs_review=True)
        assert cast.author.get(old.id).status == "active"
        cast.human.approve(new.id)
        assert cast.author.get(old.id).status == "superseded"

    def test_keeps_every_field_it_was_given(self, cast: Cast) -> None:
        memory = cast.author.save(
            "We use Postgres.\nIt scales.",
            type="decision",
            title="Database",
            summary="Postgres it is",
            tags="db, Infra,db",
            category="architecture",
            key="database",
            project="pricing",
            repo="pricing-api",
            path="/projects/pricing/adr/",
            scope="session",
            visibility="role",
            allowed_roles=["agent", "lead", "agent"],
            confidence=0.5,
            ttl="7d",
            observed_at="2026-11-01T10:00:00+01:00",
            metadata={"votes": [1, 2, {"deep": None}]},
            session_id="s-1",
            task_id="t-1",
            rationale="We know it.",
            alternatives=["SQLite", "MySQL"],
            source="https://example.org/adr/7",
        )
        assert memory.tags == ("db", "infra")
        assert memory.path == "/projects/pricing/adr"
        assert memory.allowed_roles == ("agent", "lead")
        assert memory.expires_at == memory.created_at + timedelta(days=7)
        assert memory.observed_at is not None
        assert memory.observed_at.isoformat() == "2026-11-01T09:00:00+00:00"
        assert memory.source_ref is not None
        assert memory.source_ref.uri == "https://example.org/adr/7"
        assert cast.author.get(memory.id) == memory
        assert (memory.scope, memory.alternatives) == ("session", ("SQLite", "MySQL"))

    @pytest.mark.parametrize(
        ("content", "fields", "title", "path", "scope"),
        [
            ("First one. Second.", {}, "First one.", "/notes", "global"),
            ("# Heading\nbody", {"type": "document"}, "Heading", "/docs", "global"),
            ("x " * 100, {"type": "context"}, ("x " * 38) + "x…", "/context", "global"),
            ("a", {"type": "decision"}, "a", "/decisions", "global"),
            ("a", {"type": "episode"}, "a", "/agents/swe-1", "global"),
            ("a", {"project": "p"}, "a", "/projects/p/facts", "project"),
            ("a", {"project": "p", "type": "thread-summary"}, "a", "/projects/p/thread_summaries", "project"),
            ("a", {"project": "p", "repo": "r"}, "a", "/projects/p/facts", "repo"),
            ("a", {"repo": "r"}, "a", "/notes", "repo"),
        ],
    )
    def test_derives_title_path_and_scope(
        self, cast: Cast, content: str, fields: dict[str, Any], title: str, path: str, scope: str
    ) -> None:
        memory = cast.author.save(content, **fields)
        assert (memory.title, memory.path, memory.scope) == (title, path, scope)
        assert len(memory.title) <= 80

    @pytest.mark.parametrize("path", ["/projects/pricing", "/projects/pricing/decisions", "/projects/pricing/a/b"])
    def test_a_path_below_projects_says_the_project(self, cast: Cast, path: str) -> None:
        memory = cast.author.save("A flat fee per seat.", type="decision", path=path)
        assert (memory.project_id, memory.scope, memory.path) == ("pricing", "project", path)
        assert memory.id not in [one.id for one in cast.teammate.list(project="billing")]
        for project, shown in (("pricing", True), ("billing", False)):
            text = cast.teammate.context_for(project=project).to_markdown()
            assert ("A flat fee per seat." in text) is shown
            hits = cast.teammate.search("fee seat", project=project).hits
            assert bool(hits) is shown

    def test_a_given_project_stands_whatever_the_path_says(self, cast: Cast) -> None:
        memory = cast.author.save("A flat fee.", path="/projects/pricing/decisions", project="billing")
        assert (memory.project_id, memory.path) == ("billing", "/projects/pricing/decisions")
        moved = cast.author.update(memory.id, path="/projects/web")
        assert (moved.project_id, moved.path) == ("billing", "/projects/web")
        for path in ("/projects", "/notes/projects/pricing", "/project/pricing", f"/projects/{'x' * 201}"):
            assert cast.author.save("A fee.", path=path).project_id is None

    def test_a_memory_that_is_moved_into_a_project_belongs_to_it(self, cast: Cast) -> None:
        memory = cast.author.save("A flat fee.")
        into = cast.author.update(memory.id, path="/projects/pricing/notes")
        assert (into.project_id, into.scope) == ("pricing", "project")
        over = cast.author.update(memory.id, path="/projects/billing/notes")
        assert (over.project_id, over.scope) == ("billing", "project")
        out = cast.author.update(memory.id, path="/notes")
        assert (out.project_id, out.scope) == ("billing", "project")

    def test_what_was_derived_is_derived_again_on_update(self, cast: Cast) -> None:
        memory = cast.author.save("One.")
        moved = cast.author.update(memory.id, content="Two.", project="p")
        assert (moved.title, moved.path, moved.scope) == ("Two.", "/projects/p/facts", "project")
        lesson = cast.author.update(memory.id, type="lesson", repo="r")
        assert (lesson.path, lesson.scope) == ("/projects/p/lessons", "repo")
        home = cast.author.update(memory.id, project=None, repo=None)
        assert (home.path, home.scope) == ("/notes", "global")

    def test_what_was_given_is_not_derived_again(self, cast: Cast) -> None:
        memory = cast.author.save("One.", title="Fixed", path="/kept", scope="agent")
        moved = cast.author.update(memory.id, content="Two.", project="p", type="lesson")
        assert (moved.title, moved.path, moved.scope) == ("Fixed", "/kept", "agent")

    def test_a_derived_path_can_be_asked_for(self, cast: Cast) -> None:
        memory = cast.author.save("a", project="C++ & friends (v2)")
        assert [found.id for found in cast.author.list(path=memory.path)] == [memory.id]

    @pytest.mark.parametrize("name", ["back\\slash", "a/b", "..", "."])
    def test_a_project_name_that_cannot_be_a_folder_is_refused(self, cast: Cast, name: str) -> None:
        with pytest.raises(InvalidInput) as refused:
            cast.author.save("a", project=name)
        assert refused.value.field == "project"

    @pytest.mark.parametrize(
        ("source", "kind", "made_by"),
        [
            ({"type": "human", "authorId": "admin-1"}, "manual", "manual"),
            ({"type": "agent", "author_id": "lead-1"}, "manual", "manual"),
            ({"type": "import", "threadId": "t", "messageId": "m"}, "import", "import"),
            ({"type": "auto", "thread_id": "t"}, "conversation", "extraction"),
        ],
    )
    def test_a_source_says_where_it_came_from_and_never_who_wrote_it(
        self, cast: Cast, source: dict[str, str], kind: str, made_by: str
    ) -> None:
        memory = cast.author.save("a", source=source)
        assert (memory.source_kind, memory.made_by, memory.agent_id) == (kind, made_by, "swe-1")
        thread = memory.source_ref.thread_id if memory.source_ref else None
        assert thread == source.get("threadId", source.get("thread_id"))

    @pytest.mark.parametrize(
        ("source", "claim"),
        [
            ({"type": "human", "authorId": "admin-1"}, {"type": "human", "author_id": "admin-1"}),
            ({"type": "agent"}, {"type": "agent"}),
            ({"type": "import", "author_id": "somebody"}, {"author_id": "somebody"}),
            ({"type": "auto", "threadId": "t"}, None),
            ("https://example.org", None),
        ],
    )
    def test_a_source_keeps_what_it_claims_of_its_author(self, cast: Cast, source: Any, claim: Any) -> None:
        memory = cast.author.save("a", source=source, metadata={"own": 1})
        assert memory.metadata == ({"own": 1} if claim is None else {"own": 1, "mycel_source": claim})
        # A change of something else leaves it, another source brings its own, and none takes it away.
        assert cast.author.update(memory.id, metadata={"own": 2}).metadata.get("mycel_source") == claim
        other = cast.author.update(memory.id, source={"type": "human"})
        assert other.metadata == {"own": 2, "mycel_source": {"type": "human"}}
        bare = cast.author.update(memory.id, source=None)
        assert (bare.source_ref, bare.metadata) == (None, {"own": 2})

    def test_a_claimed_author_gets_no_right(self, cast: Cast) -> None:
        memory = cast.author.save("a", visibility="private", source={"type": "human", "authorId": "swe-2"})
        assert cast.teammate.member_id == "swe-2"
        outcome(lambda: cast.teammate.get(memory.id), NotFound)
        outcome(lambda: cast.teammate.update(memory.id, content="b"), NotFound)
        outcome(lambda: cast.author.save("a", source={"author_id": "two\nlines"}), InvalidInput)

    def test_a_summary_that_nobody_wrote_is_one_of_its_thread(self, cast: Cast) -> None:
        source = {"type": "auto", "threadId": "t"}
        summary = cast.author.save("They chose PostgreSQL.", type="thread-summary", source=source)
        assert (summary.source_kind, summary.made_by) == ("conversation", "thread_summary")
        assert summary.expires_at is None
        later = cast.author.update(cast.author.save("a", type="thread-summary").id, source=source)
        assert (later.source_kind, later.made_by) == ("conversation", "thread_summary")

    def test_a_stored_source_must_exist(self, cast: Cast) -> None:
        with pytest.raises(NotFound):
            cast.author.save("a", source={"source_id": ABSENT})

    @pytest.mark.parametrize("retry", [{}, {"idempotency_key": "retry-1"}], ids=["once", "with a key"])
    def test_a_wrong_field_is_refused_by_its_name(self, cast: Cast, retry: dict[str, str]) -> None:
        def saving(field: str, value: object) -> Callable[[Any], object]:
            return lambda author: author.save(**{"content": "a", **retry, field.partition(".")[0]: value})

        check_refused(cast.author, [(field, saving(field, value)) for field, value in WRONG])
        assert cast.author.stats().memories == 0

    def test_a_role_audience_needs_roles(self, cast: Cast) -> None:
        with pytest.raises(InvalidInput):
            cast.author.save("a", visibility="role")
        with pytest.raises(InvalidInput):
            cast.author.save("a", ttl="7d", expires_at="2027-01-01T00:00:00Z")

    def test_other_names_of_the_same_thing_are_read(self, cast: Cast) -> None:
        author: Any = cast.author
        saved = author.save("The queue is RabbitMQ.", project_id="atlas", repo_id="atlas-api")
        assert (saved.project_id, saved.repo_id) == ("atlas", "atlas-api")
        given = {"content": "The queue has three nodes.", "project_id": "atlas", "source_kind": "run", "repo_id": None}
        for ingested in (author.ingest(given), author.ingest(memory_input=given), author.ingest(**given)):
            assert (ingested.project_id, ingested.source_kind, ingested.content) == ("atlas", "run", given["content"])
        assert [one.project_id for one in author.save_many([{"content": "x", "project_id": "atlas"}])] == ["atlas"]
        recall = author.search("queue nodes", filters={"project_id": "atlas", "scope": "repo"}, agent_id="swe-1")
        assert [hit.memory.id for hit in recall.hits] == [saved.id]
        assert author.explain(retrieval_id=recall.id).recall.query == "queue nodes"
        assert author.explain(saved.id).memory.id == saved.id
        stored = author.capture_conversation("user: We take RabbitMQ.", "project:atlas", "store")
        again = author.capture_session(source_ref=stored.source_id, project_id="atlas", scope="project")
        assert (again.source_id, again.scope) == (stored.source_id, "project")
        assert author.context_for("atlas", "atlas-api", "swe-1").project == "atlas"
        for call in (
            lambda: author.save("x", project="atlas", project_id="borealis"),
            lambda: author.ingest(given, project="borealis"),
            lambda: author.list(project="atlas", filters={"project_id": "borealis"}),
        ):
            with pytest.raises(InvalidInput, match="is also given as project, with another value"):
                call()
        for call in (lambda: author.search("x", projct="atlas"), lambda: author.search("x", filters={"projct": "a"})):
            with pytest.raises(InvalidInput, match=r"do you mean project\?\): it takes "):
                call()

    def test_several_are_saved_together_or_not_at_all(self, cast: Cast) -> None:
        saved = cast.author.save_many([{"content": "one", "tags": ["t"]}, {"content": "two", "type": "lesson"}])
        assert [memory.content for memory in saved] == ["one", "two"]
        assert [memory.content for memory in cast.author.list(order_by="created_at")] == ["one", "two"]
        with pytest.raises(InvalidInput) as refused:
            cast.author.save_many([{"content": "three"}, {"content": "four", "type": "rumour"}])
        assert "items[1]" in refused.value.field
        assert cast.author.stats().memories == 2
        assert [change.sequence for change in cast.author.changes()] == [1, 2]

    def test_several_with_one_key_count_as_one_after_the_other(self, cast: Cast) -> None:
        first, plain, second = cast.author.save_many(
            [{"content": "one", "key": "k"}, {"content": "between"}, {"content": "two", "key": "k"}]
        )
        assert (second.id, second.version, second.content) == (first.id, 2, "two")
        assert cast.author.stats().memories == 2
        assert plain.version == 1

    def test_a_stale_version_is_a_conflict(self, cast: Cast) -> None:
        memory = cast.author.save("a")
        assert cast.author.update(memory.id, content="b", expected_version=1).version == 2
        outcome(lambda: cast.author.update(memory.id, content="c", expected_version=1), Conflict)
        assert cast.author.get(memory.id).content == "b"
        for wrong in (0, -1, "2", 1.5, True):
            fields: dict[str, Any] = {"expected_version": wrong}
            outcome(lambda fields=fields: cast.author.update(memory.id, content="c", **fields), InvalidInput)

    def test_an_update_needs_something_to_change(self, cast: Cast) -> None:
        memory = cast.author.save("a")
        outcome(lambda: cast.author.update(memory.id), InvalidInput)
        outcome(lambda: cast.author.update(memory.id, expected_version=1, reason="none"), InvalidInput)

    def test_none_empties_what_may_be_empty(self, cast: Cast) -> None:
        memory = cast.author.save("a", summary="s", category="c", metadata={"x": 1}, expires_at="2027-01-01T00:00Z")
        bare = cast.author.update(memory.id, summary=None, category=None, metadata=None, expires_at=None)
        assert (bare.summary, bare.category, dict(bare.metadata), bare.expires_at) == (None, None, {}, None)
        lasting = cast.author.update(cast.author.save("b", ttl="1d").id, ttl=None)
        assert lasting.expires_at is None
        for name in ("content", "type", "title", "path", "visibility", "confidence", "tags", "status"):
            fields: dict[str, Any] = {name: None}
            outcome(lambda fields=fields: cast.author.update(memory.id, **fields), InvalidInput)

    def test_deleting_hides_and_restoring_brings_back(self, cast: Cast) -> None:
        memory = cast.author.save("a heron", tags=["t"])
        cast.author.delete(memory.id)
        for read in (cast.author.get, cast.author.history, cast.author.links, cast.author.usage, cast.author.delete):
            outcome(lambda read=read: read(memory.id), NotFound)
        assert not cast.author.list()
        assert not cast.author.search("heron").hits
        assert [found.id for found in cast.author.list(deleted=True)] == [memory.id]
        restored = cast.author.restore(memory.id)
        assert (restored.version, restored.deleted_at, restored.content) == (3, None, "a heron")
        assert cast.author.restore(memory.id) == restored
        assert cast.author.search("heron").hits

    def test_purging_leaves_a_receipt_for_its_purger_and_for_admins(self, cast: Cast) -> None:
        memory = cast.author.save("a heron")
        cast.author.delete(memory.id)
        receipt = cast.author.purge(memory.id)
        assert cast.author.receipt(memory.id) == cast.admin.receipt(memory.id) == receipt
        outcome(lambda: cast.teammate.receipt(memory.id), NotFound)
        for gone in (cast.author.purge, cast.author.restore, cast.author.get):
            outcome(lambda gone=gone: gone(memory.id), NotFound)
        assert not cast.author.list(deleted=True)

    def test_a_retried_save_stores_once_and_answers_the_same(self, cast: Cast, clock: ManualClock) -> None:
        first = cast.author.save("a", tags=["t"], idempotency_key="k-1")
        clock.move(timedelta(days=6))
        assert cast.author.save("a", tags=["t"], idempotency_key="k-1") == first
        cast.author.update(first.id, content="b")
        assert cast.author.save("a", tags=["t"], idempotency_key="k-1") == first
        assert cast.teammate.save("a", tags=["t"], idempotency_key="k-1").id != first.id
        outcome(lambda: cast.author.save("other", tags=["t"], idempotency_key="k-1"), Conflict)
        outcome(lambda: cast.author.save("a", idempotency_key="k-1"), Conflict)
        clock.move(timedelta(days=2))
        assert cast.author.save("other", idempotency_key="k-1").id != first.id

    def test_a_retried_update_changes_once(self, cast: Cast) -> None:
        memory = cast.author.save("a")
        fields: dict[str, Any] = {"content": "b", "expected_version": 1, "idempotency_key": "k-1"}
        changed = cast.author.update(memory.id, **fields)
        assert cast.author.update(memory.id, **fields) == changed
        assert cast.author.get(memory.id).version == 2

    def test_a_promoted_memory_shows_the_team_no_earlier_thoughts(self, cast: Cast) -> None:
        memory = cast.author.save("half a thought", visibility="private")
        shared = cast.author.update(memory.id, visibility="team", content="a thought", reason="useful to all")
        [version] = cast.teammate.history(memory.id)
        assert (version.memory, version.reason) == (shared, "useful to all")
        assert len(cast.author.history(memory.id)) == 2

    @pytest.mark.parametrize("bad", ["", "x", "019a000", None, 7])
    def test_what_is_not_an_id_is_refused(self, cast: Cast, bad: Any) -> None:
        reads: list[Callable[[Any], object]] = [cast.author.get, cast.author.delete, cast.author.purge]
        reads += [cast.author.history, cast.author.links, cast.author.usage, cast.author.receipt, cast.author.restore]
        for read in reads:
            outcome(lambda read=read: read(bad), InvalidInput)
