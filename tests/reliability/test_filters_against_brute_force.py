"""Random filters, callers and questions against an answer worked out in plain Python from the records: no difference.

`min_relevance=0` asks for all that the filters leave, so that nothing may be missing, whatever the arms found.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mycel.domain.fields import MAX_PAGE
from mycel.domain.memory import Memory
from mycel.domain.recall import Hit
from mycel.retrieval.relevance import STRONG
from mycel.testing.embedder import WordEmbedder
from tests.squad import CHILD, MEMBERS, TEAM, Squad, ids, open_squad

WORDS = [
    first + second for first in ("ba", "do", "fi", "gu", "ke", "lo", "mi") for second in ("ran", "sel", "tok", "vim")
]
TYPES = ("fact", "lesson", "decision", "note", "episode")
PROJECTS = (None, None, "alpha", "beta", "gamma")
PATHS = ("/a", "/a/b", "/a/b/c", "/ab", "/d", "/d/e")
TAGS = ("red", "green", "blue", "redder")
ROLES = ("agent", "lead", "member")
WRITERS = ("swe-1", "swe-2", "person-1", "lead-1", "admin-1")
READERS = (*WRITERS, "child-lead", "stranger")
BATCH = 500


@dataclass
class World:
    squad: Squad
    memories: dict[str, Memory] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    linked: set[tuple[str, str]] = field(default_factory=set)

    def put(self, *memories: Memory) -> None:
        self.memories |= {memory.id: memory for memory in memories}


def make(data: Path, *, count: int, embedder: WordEmbedder | None, seed: int) -> World:
    world, draw = World(open_squad(data, embedder=embedder)), Random(seed)
    workspace = world.squad.workspace
    workspace.add_team("other")
    workspace.add_member("stranger", team="other", role="lead")
    for start in range(0, count, BATCH):
        world.squad.pass_time(minutes=7)
        writer = workspace.as_member(draw.choice(WRITERS))
        world.put(*writer.save_many([a_draft(draw) for _ in range(min(BATCH, count - start))]))
    world.put(*workspace.as_member("child-lead").save_many([a_draft(draw) for _ in range(50)]))
    change_some(world, draw)
    if embedder is not None:
        workspace.embed_pending()
    world.squad.pass_time(hours=2)
    return world


def a_draft(draw: Random) -> dict[str, Any]:
    project = draw.choice(PROJECTS)
    visibility = draw.choices(("team", "role", "private"), weights=(6, 2, 1))[0]
    draft: dict[str, Any] = {
        "content": " ".join(draw.choices(WORDS, k=draw.randint(3, 12))),
        "type": draw.choice(TYPES),
        "project": project,
        "repo": f"{project}-api" if project and draw.random() < 0.3 else None,
        "path": draw.choice(PATHS),
        "tags": draw.sample(TAGS, draw.randint(0, 3)),
        "category": draw.choice((None, "x", "y")),
        "session_id": draw.choice((None, None, "s1", "s2")),
        "task_id": draw.choice((None, None, "t1")),
        "visibility": visibility,
        "ttl": draw.choice((None, None, None, "1h", "90d")),
        "needs_review": draw.random() < 0.05,
    }
    if visibility == "role":
        draft["allowed_roles"] = draw.sample(ROLES, draw.randint(1, 2))
    if draw.random() < 0.1:
        draft["scope"] = draw.choice(("agent", "session", "global"))
    return draft


def change_some(world: World, draw: Random) -> None:
    """Everything that can happen to a record, to a few of them, by whoever wrote it."""
    some = draw.sample(list(world.memories.values()), min(150, len(world.memories) // 4))
    for place, memory in enumerate(some):
        author = world.squad.workspace.as_member(memory.agent_id)
        match place % 5:
            case 0:
                world.put(author.update(memory.id, path=draw.choice(PATHS), tags=[draw.choice(TAGS)]))
            case 1:
                world.put(author.update(memory.id, content=" ".join(draw.choices(WORDS, k=6))))
            case 2:
                author.delete(memory.id)
                world.deleted.add(memory.id)
            case 3:
                project = draw.choice(("alpha", "beta"))
                author.link(memory.id, f"project:{project}", "applies_to")
                world.linked.add((memory.id, project))
            case _:
                if memory.status == "active":
                    world.put(author.update(memory.id, status=draw.choice(("archived", "superseded"))))


def sees(reader: str, memory: Memory) -> bool:
    role, _, team = MEMBERS.get(reader, ("lead", "agent", "other"))
    if memory.team != team:
        # A lead also reads what is for the whole parent team.
        return team == CHILD and memory.team == TEAM and memory.visibility == "team"
    if memory.visibility == "team" or memory.agent_id == reader:
        return True
    return memory.visibility == "role" and (role == "admin" or role in memory.allowed_roles)


def passes(memory: Memory, filters: dict[str, Any], *, now: datetime) -> bool:
    if filters.get("status") != "any":
        wanted = filters.get("status", ("active",))
        if memory.status not in ((wanted,) if isinstance(wanted, str) else wanted):
            return False
        if memory.expires_at is not None and memory.expires_at <= now and wanted not in ("archived", "superseded"):
            return False
    path = filters.get("path", "/")
    return (
        (path == "/" or memory.path == path or memory.path.startswith(f"{path}/"))
        and ("type" not in filters or memory.type in filters["type"])
        and ("scopes" not in filters or memory.scope in filters["scopes"])
        and set(filters.get("tags", ())) <= set(memory.tags)
        and all(
            filters.get(name) in (None, getattr(memory, attribute))
            for name, attribute in (
                ("category", "category"),
                ("session_id", "session_id"),
                ("task_id", "task_id"),
                ("agent", "agent_id"),
            )
        )
        and ("since" not in filters or memory.created_at >= filters["since"])
        and ("until" not in filters or memory.created_at < filters["until"])
    )


def in_reach(world: World, reader: str, memory: Memory, filters: dict[str, Any]) -> bool:
    project, repo = filters.get("project"), filters.get("repo")
    if project is None and repo is None:
        return True
    own = memory.scope in ("agent", "session") and memory.agent_id == reader and memory.team == MEMBERS[reader][2]
    return (
        memory.scope == "global"
        or own
        or (project is not None and memory.project_id == project)
        or (repo is not None and memory.repo_id == repo)
        or (project is not None and (memory.id, project) in world.linked)
    )


def expected(world: World, reader: str, filters: dict[str, Any]) -> tuple[set[str], set[str]]:
    """What must come, and what may come beside it when it is strongly relevant."""
    now = world.squad.clock.now()
    left = [
        memory
        for memory in world.memories.values()
        if memory.id not in world.deleted and sees(reader, memory) and passes(memory, filters, now=now)
    ]
    near = {memory.id for memory in left if in_reach(world, reader, memory, filters)}
    return near, {memory.id for memory in left} - near


def some_filters(draw: Random, world: World) -> dict[str, Any]:
    start, now = min(memory.created_at for memory in world.memories.values()), world.squad.clock.now()

    def moment() -> datetime:
        return start + (now - start) * draw.random()

    makers: dict[str, Any] = {
        "type": lambda: draw.sample(TYPES, draw.randint(1, 2)),
        "path": lambda: draw.choice(PATHS),
        "tags": lambda: draw.sample(TAGS, draw.randint(1, 2)),
        "category": lambda: draw.choice(("x", "y", "z")),
        "project": lambda: draw.choice(("alpha", "beta", "nowhere")),
        "repo": lambda: draw.choice(("alpha-api", "beta-api")),
        "scopes": lambda: draw.sample(("global", "project", "repo", "agent", "session"), 2),
        "status": lambda: draw.choice(("any", "inbox", ["active", "archived"], "superseded")),
        "agent": lambda: draw.choice(WRITERS),
        "session_id": lambda: draw.choice(("s1", "s2")),
        "task_id": lambda: "t1",
        "since": moment,
        "until": moment,
    }
    names = draw.sample(sorted(makers), draw.choice((1, 2, 2, 3, 3, 4)))
    return {name: makers[name]() for name in names}


def a_question(draw: Random) -> str:
    words = draw.sample(WORDS, draw.choice((1, 2, 3, 5)))
    return draw.choice(
        ("", " ".join(words), " ".join(words), f'"{" ".join(words)}"', "nothing of the sort", words[0][:-1])
    )


def check_order(hits: Sequence[Hit]) -> None:
    listed = [hit for hit in hits if not hit.breakdown]
    ranked = list(hits[: len(hits) - len(listed)])
    assert all(hit.breakdown for hit in ranked), "something listed stands before something found"
    scores = [hit.score for hit in ranked]
    assert scores == sorted(scores, reverse=True)
    moments = [hit.memory.created_at for hit in listed]
    assert moments == sorted(moments, reverse=True)


def compare(world: World, draw: Random, *, cases: int) -> int:
    """How many records the cases were about, so that they are not all about nothing."""
    compared = 0
    for _ in range(cases):
        reader, filters, question = draw.choice(READERS), some_filters(draw, world), a_question(draw)
        member = world.squad.workspace.as_member(reader)
        near, far = expected(world, reader, filters)
        told = (reader, question, filters)
        recall = member.search(question, min_relevance=0, limit=MAX_PAGE, **filters)
        assert recall.degraded == (), told
        found = ids(recall)
        assert len(found) == len(set(found)), told
        strangers = {hit.memory.id for hit in recall.hits if hit.memory.id in far}
        assert set(found) <= near | strangers, told
        assert all(hit.relevance >= STRONG for hit in recall.hits if hit.memory.id in strangers), told
        if len(near) + len(strangers) <= MAX_PAGE:
            assert set(found) == near | strangers, told
        else:
            assert len(found) == MAX_PAGE, told
        check_order(recall.hits)
        limit = draw.choice((1, 5, 12))
        fewer = ids(member.search(question, min_relevance=0, limit=limit, **filters))
        assert len(fewer) >= min(limit, len(near)), told
        assert set(fewer) <= near | far, told
        # With a threshold, fewer and none from elsewhere.
        assert set(ids(member.search(question, **filters))) <= near | far, told
        compared += len(near)
    return compared


@pytest.fixture(scope="module", params=["words", "words and meaning"])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    embedder = WordEmbedder() if request.param == "words and meaning" else None
    made = make(tmp_path_factory.mktemp("brute"), count=2_000, embedder=embedder, seed=1)
    with made.squad.workspace:
        yield made


@pytest.mark.parametrize("seed", range(2))
def test_random_filters_leave_exactly_what_the_rules_say(world: World, seed: int) -> None:
    assert compare(world, Random(seed), cases=12) > 100


def test_filters_that_leave_twelve_records_return_exactly_those_in_order(world: World) -> None:
    draw = Random(2)
    author = world.squad.author
    needles: list[Memory] = []
    for number in range(12):
        world.squad.pass_time(minutes=1)
        text = (
            " ".join(["needle", *draw.choices(WORDS, k=4)]) if number % 3 == 0 else " ".join(draw.choices(WORDS, k=5))
        )
        needles.append(author.save(text, tags=["needle"], path=f"/needles/{number}"))
    world.squad.pass_time(minutes=1)
    world.squad.workspace.embed_pending()
    world.put(*needles)
    recall = world.squad.teammate.search("needle", tags="needle", min_relevance=0, limit=100)
    assert set(ids(recall)) == {memory.id for memory in needles}
    assert len(recall.hits) == 12
    check_order(recall.hits)
    with_word = {memory.id for memory in needles if "needle" in memory.content}
    assert set(ids(recall)[: len(with_word)]) == with_word
    # Without a question, in the order of a list.
    newest_first = [memory.id for memory in reversed(needles)]
    assert ids(world.squad.teammate.search("", tags="needle", limit=100)) == newest_first
    assert [memory.id for memory in world.squad.teammate.list(tags="needle")] == newest_first
    for limit in (1, 5, 11):
        assert len(world.squad.teammate.search("needle", tags="needle", min_relevance=0, limit=limit).hits) == limit


def test_what_is_only_listed_comes_in_the_order_of_a_list(tmp_path: Path) -> None:
    """Also where all were saved in one moment."""
    squad = open_squad(tmp_path)
    with squad.workspace:
        squad.author.save_many([{"content": f"note {number}"} for number in range(20)])
        squad.pass_time(minutes=1)
        in_order = [memory.id for memory in squad.teammate.list()]
        assert ids(squad.teammate.search("", limit=20)) == in_order
        assert ids(squad.teammate.search("", limit=5)) == in_order[:5]
        assert ids(squad.teammate.search("heron", min_relevance=0, limit=5)) == in_order[:5]


def test_the_comparison_can_fail(world: World) -> None:
    """The brute force is not so lenient that anything passes."""
    near, _ = expected(world, "swe-2", {"tags": ("red",)})
    assert near != expected(world, "swe-1", {"tags": ("red",)})[0]
    assert near != expected(world, "swe-2", {"tags": ("redder",)})[0]
    assert expected(world, "stranger", {}) == (set(), set())
    assert expected(world, "swe-2", {"project": "alpha"})[1]


@pytest.mark.proof
@pytest.mark.parametrize("by", ["words", "words and meaning"])
def test_a_hundred_thousand_records_leave_exactly_what_the_rules_say(tmp_path: Path, by: str) -> None:
    embedder = WordEmbedder() if by == "words and meaning" else None
    world = make(tmp_path, count=100_000, embedder=embedder, seed=3)
    with world.squad.workspace:
        needles = [world.squad.author.save(f"needle {number}", tags=["needle"]) for number in range(12)]
        world.squad.workspace.embed_pending()
        world.squad.pass_time(minutes=1)
        started = time.monotonic()
        recall = world.squad.teammate.search("baran", tags="needle", min_relevance=0, limit=100)
        assert time.monotonic() - started < 5
        assert len(recall.hits) == 12
        assert set(ids(recall)) == {memory.id for memory in needles}
        check_order(recall.hits)
        newest_first = [memory.id for memory in reversed(needles)]
        assert ids(world.squad.teammate.search("", tags="needle", limit=12)) == newest_first
        world.put(*needles)
        assert compare(world, Random(4), cases=60) > 1_000
