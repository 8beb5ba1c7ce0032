"""What every way into a team's memory promises about artifacts. Contents are given: a service may have no files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from mycel.domain.artifact import FileState
from mycel.domain.memory import MemoryType
from mycel.errors import AccessDenied, Conflict, InvalidInput, NotFound
from mycel.testing.clock import ManualClock
from tests.conformance.memory_api_access import member_of
from tests.conformance.memory_api_cast import MEMBERS, Cast, check_refused, outcome
from tests.template import ABSENT

FILE: dict[str, Any] = {"path": "src/price.py", "content": "def price(): ...\n", "task_id": "T-1"}

WRONG: list[tuple[str, Callable[[Any], object]]] = [
    ("path", lambda api: api.register(path="../a")),
    ("path", lambda api: api.register(path="/etc/passwd")),
    ("path", lambda api: api.register(path="a\\b")),
    ("path", lambda api: api.register(path="a\0b")),
    ("path", lambda api: api.register(path="")),
    ("type", lambda api: api.register(path="a", type="film")),
    ("description", lambda api: api.register(path="a", description=" ")),
    ("description", lambda api: api.register(path="a", description="x" * 70_000)),
    ("content", lambda api: api.register(path="a", content=7)),
    ("content", lambda api: api.register(path="a", content="\ud800")),
    ("keep_content", lambda api: api.register(path="absent/for/sure", keep_content=True)),
    ("keep_content", lambda api: api.register(path="a", content=b"\xff\xfe", keep_content=True)),
    ("keep_content", lambda api: api.register(path="a", content=b"a\0b", keep_content=True)),
    ("keep_content", lambda api: api.register(path="a", content="x" * 65_600, keep_content=True)),
    ("keep_content", lambda api: api.register(path="a", keep_content="yes")),
    ("size_bytes", lambda api: api.register(path="a", size_bytes=-1)),
    ("size_bytes", lambda api: api.register(path="a", content="abc", size_bytes=4)),
    ("checksum", lambda api: api.register(path="a", checksum="abc")),
    ("checksum", lambda api: api.register(path="a", content="abc", checksum="0" * 64)),
    ("allowed_roles", lambda api: api.register(path="a", visibility="role")),
    ("project", lambda api: api.register(path="a", project="a/b")),
    ("agent_id", lambda api: api.register(path="a", agent_id="a b\n")),
    ("id", lambda api: api.get("x")),
    ("type", lambda api: api.list(type="film")),
    ("path", lambda api: api.list(path="../")),
    ("path", lambda api: api.list(path="/")),
    ("text", lambda api: api.list(text=" ")),
    ("cursor", lambda api: api.list(cursor="x")),
    ("cursor", lambda api: api.list(text="x", cursor="1.1")),
    ("limit", lambda api: api.list(limit=0)),
    ("since", lambda api: api.list(since="yesterday")),
]


class ApiArtifacts:
    """Needs the fixtures `cast` and `clock`."""

    def test_an_artifact_says_what_was_produced_for_which_task(self, cast: Cast) -> None:
        made = cast.author.artifacts.register(**FILE, type="test", description="Prices.", project="shop", tags="a,b")
        found = cast.teammate.artifacts.get(made.id)
        assert found == made
        assert (found.task_id, found.agent_id, found.type.value) == ("T-1", "swe-1", "test")
        assert (found.path, found.description, found.project_id) == ("src/price.py", "Prices.", "shop")
        assert (found.size_bytes, found.content) == (17, None)
        assert found.checksum == hashlib.sha256(FILE["content"].encode()).hexdigest()
        assert (found.memory.type, found.memory.tags) == (MemoryType.ARTIFACT, ("a", "b"))

    def test_nothing_but_a_path_is_needed(self, cast: Cast) -> None:
        made = cast.author.artifacts.register(path="absent/for/sure.txt")
        plain = (made.task_id, made.description, made.size_bytes, made.checksum, made.content, made.type.value)
        assert plain == (None, None, None, None, None, "file")
        assert cast.author.artifacts.verify(made.id).state is FileState.UNKNOWN

    def test_a_file_that_only_its_producer_can_read_has_the_size_and_checksum_it_was_given(self, cast: Cast) -> None:
        checksum = hashlib.sha256(b"abc").hexdigest()
        made = cast.author.artifacts.register(path="far/away.txt", size_bytes=3, checksum=checksum.upper())
        assert (made.size_bytes, made.checksum) == (3, checksum)
        assert cast.teammate.artifacts.get(made.id) == made
        assert cast.author.artifacts.register(path="far/away.txt", size_bytes=3, checksum=checksum) == made
        other = cast.author.artifacts.register(path="far/away.txt", size_bytes=3, checksum="0" * 64)
        assert other.id != made.id
        agreed = cast.author.artifacts.register(path="near.txt", content="abc", size_bytes=3, checksum=checksum)
        assert (agreed.size_bytes, agreed.checksum) == (3, checksum)

    @pytest.mark.parametrize("content", ["def price(): ...\n", "", "zwei\r\nZeilen\tä 🜨", "\n\n"])
    @pytest.mark.parametrize("description", ["What it is", None])
    def test_a_kept_text_is_found_and_comes_back_as_it_was(
        self, cast: Cast, content: str, description: str | None
    ) -> None:
        made = cast.author.artifacts.register(path="a.py", content=content, description=description, keep_content=True)
        found = cast.author.artifacts.get(made.id)
        assert (found.content, found.description) == (content, description)

    def test_artifacts_are_found_by_path_description_and_kept_text(self, cast: Cast) -> None:
        made = cast.author.artifacts.register(
            path="src/walrus.py", content="a porcupine", description="the heron", keep_content=True
        )
        cast.author.save("a heron that is no artifact")
        cast.author.artifacts.register(path="other.py", content="unrelated")
        for word in ("walrus", "porcupine", "heron"):
            assert [one.id for one in cast.author.artifacts.list(text=word)] == [made.id]
            assert made.id in [hit.memory.id for hit in cast.author.search(word).hits]
        assert list(cast.author.artifacts.list(text="heron", path="docs/")) == []
        assert [one.id for one in cast.author.artifacts.list(text="heron", path="src/")] == [made.id]

    def test_the_same_registered_again_is_the_one_that_is_there(self, cast: Cast) -> None:
        first = cast.author.artifacts.register(**FILE, description="Prices.")
        assert cast.author.artifacts.register(**FILE, description="Prices.") == first
        others: list[dict[str, Any]] = [
            {**FILE, "description": "Other."},
            {**FILE, "description": "Prices.", "content": "changed"},
            {**FILE, "description": "Prices.", "task_id": "T-2"},
            {**FILE, "description": "Prices.", "type": "patch"},
            {**FILE, "description": "Prices.", "visibility": "private"},
            {**FILE, "description": "Prices.", "path": "src/other.py"},
        ]
        ids = {cast.author.artifacts.register(**one).id for one in others}
        ids.add(cast.teammate.artifacts.register(**FILE, description="Prices.").id)
        assert len(ids | {first.id}) == len(others) + 2
        cast.author.artifacts.delete(first.id)
        assert cast.author.artifacts.register(**FILE, description="Prices.").id != first.id

    def test_a_retry_with_its_key_is_done_once(self, cast: Cast) -> None:
        first = cast.author.artifacts.register(**FILE, idempotency_key="k")
        assert cast.author.artifacts.register(**FILE, idempotency_key="k") == first
        outcome(lambda: cast.author.artifacts.register(path="b", idempotency_key="k"), Conflict)
        cast.author.purge(first.id)
        outcome(lambda: cast.author.artifacts.register(**FILE, idempotency_key="k"), NotFound)

    @pytest.mark.parametrize(
        ("who", "expected"),
        [("teammate", AccessDenied), ("human", AccessDenied), ("orchestrator", None), ("lead", None), ("admin", None)],
    )
    def test_who_may_name_another_as_its_producer(self, cast: Cast, who: str, expected: type[Exception] | None) -> None:
        member = member_of(cast, who)
        outcome(lambda: member.artifacts.register(path="a", agent_id="swe-1"), expected)
        outcome(lambda: member.artifacts.register(path="a", agent_id="swe-9"), expected or NotFound)
        outcome(lambda: member.artifacts.register(path="a", agent_id=MEMBERS[who][0]), None)
        if expected is None:
            (named,) = cast.author.artifacts.list(agent_id="swe-1")
            assert (named.agent_id, named.memory.agent_id) == ("swe-1", MEMBERS[who][0])

    @pytest.mark.parametrize("fields", [{"visibility": "private"}, {"visibility": "role", "allowed_roles": ["lead"]}])
    def test_a_hidden_artifact_is_absent(self, cast: Cast, fields: dict[str, Any]) -> None:
        made = cast.author.artifacts.register(**FILE, **fields)
        for member in (cast.teammate, cast.human, cast.outsider):
            for call in (member.artifacts.get, member.artifacts.verify, member.artifacts.delete):
                with pytest.raises(NotFound) as caught:
                    call(made.id)
                assert str(caught.value) == f"no artifact {made.id}"
            assert list(member.artifacts.list()) == list(member.artifacts.list(text="price")) == []
            assert member.artifacts.register(**FILE, visibility="private").id != made.id
        assert cast.author.artifacts.get(made.id) == made

    def test_what_is_no_artifact_is_not_found_as_one(self, cast: Cast) -> None:
        plain = cast.author.save("a note", type="artifact")
        for id in (plain.id, ABSENT):
            for call in (cast.author.artifacts.get, cast.author.artifacts.verify, cast.author.artifacts.delete):
                outcome(lambda call=call, id=id: call(id), NotFound)
        assert cast.author.get(plain.id) == plain

    @pytest.mark.parametrize(
        ("who", "expected"), [("author", None), ("lead", None), ("admin", None), ("teammate", AccessDenied)]
    )
    def test_who_may_delete_one(self, cast: Cast, who: str, expected: type[Exception] | None) -> None:
        made = cast.author.artifacts.register(**FILE)
        outcome(lambda: member_of(cast, who).artifacts.delete(made.id), expected)
        outcome(lambda: cast.author.artifacts.get(made.id), None if expected else NotFound)
        if expected is None:
            # Who deleted it decides, or a curator.
            restorer = cast.author if who == "author" else cast.lead
            restorer.restore(made.id)
            assert cast.author.artifacts.get(made.id).checksum == made.checksum

    def test_lists_come_newest_first_in_pages_and_by_filters(self, cast: Cast, clock: ManualClock) -> None:
        made: list[str] = []
        for number in range(5):
            clock.move(timedelta(minutes=1))
            kind = "test" if number % 2 else "file"
            one = cast.author.artifacts.register(path=f"src/{number}.py", type=kind, task_id=f"T-{number % 2}")
            made.append(one.id)
        seen: list[str] = []
        page = cast.teammate.artifacts.list(limit=2)
        while True:
            seen += [one.id for one in page]
            if page.next_cursor is None:
                break
            page = cast.teammate.artifacts.list(limit=2, cursor=page.next_cursor)
        assert seen == made[::-1]
        assert [one.id for one in cast.author.artifacts.list(type="test")] == [made[3], made[1]]
        assert [one.id for one in cast.author.artifacts.list(task_id="T-0", path="src/2.py")] == [made[2]]
        assert [one.id for one in cast.author.artifacts.list(since=clock.now())] == [made[4]]
        assert [one.id for one in cast.author.artifacts.list(until=clock.now(), limit=1)] == [made[3]]
        assert list(cast.author.artifacts.list(path="src/2")) == []
        assert list(cast.outsider.artifacts.list()) == []
        assert len(cast.child_lead.artifacts.list(team="squad")) == 5

    def test_a_project_asks_for_that_project_alone(self, cast: Cast) -> None:
        mine = cast.author.artifacts.register(path="heron.py", project="a")
        cast.author.artifacts.register(path="heron.py", project="b")
        cast.author.artifacts.register(path="heron.py")
        assert [one.id for one in cast.author.artifacts.list(project="a")] == [mine.id]
        assert [one.id for one in cast.author.artifacts.list(project="a", text="heron")] == [mine.id]

    @pytest.mark.parametrize("field", ["content", "type", "key"])
    def test_what_its_detail_rests_on_is_not_edited(self, cast: Cast, field: str) -> None:
        made = cast.author.artifacts.register(**FILE)
        waiting = cast.newcomer.artifacts.register(path="b")
        value: Any = {field: "note"}
        for call in (
            lambda: cast.author.update(made.id, **value),
            lambda: cast.human.approve(waiting.id, edits=value),
        ):
            with pytest.raises(InvalidInput) as caught:
                call()
            assert caught.value.field == field
        assert cast.author.update(made.id, title="Prices", tags=["x"]).title == "Prices"
        assert cast.author.artifacts.get(made.id).path == "src/price.py"
        assert cast.human.approve(waiting.id, edits={"title": "B"}).title == "B"

    def test_what_a_newcomer_registers_waits_for_a_person(self, cast: Cast) -> None:
        waiting = cast.newcomer.artifacts.register(**FILE)
        assert list(cast.author.artifacts.list()) == []
        assert cast.newcomer.artifacts.register(**FILE) == waiting
        cast.human.approve(waiting.id)
        assert [one.id for one in cast.author.artifacts.list()] == [waiting.id]

    def test_a_wrong_artifact_names_its_field(self, cast: Cast) -> None:
        check_refused(cast.admin.artifacts, WRONG)
