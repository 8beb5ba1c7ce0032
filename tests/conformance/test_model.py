"""A plain model of two teams and the real thing, driven through the same steps: they must never differ."""

import shutil
import tempfile
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from mycel.app import open_workspace
from mycel.errors import AccessDenied, Conflict, MycelError, NotFound, ReferenceNotFound
from mycel.stores.sqlite.database import Disk
from mycel.testing.clock import ManualClock

# `crew` stands under `squad`, so the lead of the crew also reads what is for the whole squad.
MEMBERS = {
    "swe-1": ("squad", "agent"),
    "swe-2": ("squad", "agent"),
    "lead-1": ("squad", "lead"),
    "orchestrator-1": ("squad", "orchestrator"),
    "admin-1": ("squad", "admin"),
    "swe-9": ("crew", "agent"),
    "lead-9": ("crew", "lead"),
}
WORDS = ("heron", "stork", "eagle", "raven")
PATHS = ("/", "/a", "/a/b", "/ab")
MEMBER = st.sampled_from(sorted(MEMBERS))
AUDIENCE = st.sampled_from([("team", ()), ("role", ("lead",)), ("private", ())])
Audience = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class State:
    """One version of a memory as the model knows it."""

    id: str
    team: str
    number: int
    version: int
    author: str
    word: str
    audience: Audience
    path: str
    tags: tuple[str, ...]
    key: str | None
    confidence: float
    status: str
    created_at: datetime
    expires_at: datetime | None
    deleted: bool = False

    @property
    def unique(self) -> tuple[object, ...] | None:
        """What no two may share while they are active."""
        if self.key is None or self.status != "active" or self.deleted:
            return None
        return self.team, self.key, self.audience, None if self.audience[0] == "team" else self.author

    @property
    def told_path(self) -> str:
        """Nobody reads the path of what waits before somebody has approved it."""
        return "/inbox" if self.status == "inbox" else self.path


@dataclass(frozen=True)
class Entry:
    """One entry of a team's change log."""

    operation: str
    id: str
    after: State
    before: State | None = None
    other: str | None = None


@dataclass
class Model:
    states: dict[str, State] = field(default_factory=dict)
    versions: dict[str, list[State]] = field(default_factory=dict)
    links: set[tuple[str, str, str]] = field(default_factory=set)
    log: dict[str, list[Entry]] = field(default_factory=lambda: {"squad": [], "crew": []})
    purged: set[str] = field(default_factory=set)
    count: int = 0

    def sees(self, member: str, state: State, *, parent: bool = False) -> bool:
        team, role = MEMBERS[member]
        visibility, roles = state.audience
        if state.team != team:
            return parent and role == "lead" and (team, state.team) == ("crew", "squad") and visibility == "team"
        if visibility == "team" or state.author == member:
            return True
        return visibility == "role" and (role == "admin" or role in roles)

    def found(self, member: str, id: str, *, deleted: bool = False) -> State:
        state = self.states.get(id)
        own = state is None or state.deleted or state.team == MEMBERS[member][0]
        if not own and self.sees(member, self.states[id], parent=True):
            raise AccessDenied(id)
        if state is None or not self.sees(member, state) or (state.deleted and not deleted):
            raise NotFound(id)
        return state

    def require_edit(self, member: str, state: State) -> None:
        role = MEMBERS[member][1]
        curates = state.audience[0] != "private" and (
            role in {"lead", "admin"} or (role == "orchestrator" and state.key is not None)
        )
        if member != state.author and not curates:
            raise AccessDenied(state.id)

    def require_delete(self, member: str, state: State) -> None:
        shared = state.audience[0] != "private"
        if member != state.author and not (shared and MEMBERS[member][1] in {"lead", "admin"}):
            raise AccessDenied(state.id)

    def require_unique(self, state: State) -> None:
        if state.unique and any(
            other.unique == state.unique and other.id != state.id for other in self.states.values()
        ):
            raise Conflict(state.id)

    def put(self, operation: str, state: State) -> None:
        before = self.states.get(state.id)
        self.require_unique(state)
        self.states[state.id] = state
        self.versions.setdefault(state.id, []).append(state)
        moved = before is not None and (before.told_path, before.audience, before.author) != (
            state.told_path,
            state.audience,
            state.author,
        )
        self.log[state.team].append(Entry(operation, state.id, state, before if moved else None))

    def standing(self, member: str, incoming: State) -> State | None:
        """A member's own value comes before that of others, and among those the surest."""
        same = [
            state
            for state in self.states.values()
            if state.unique and state.unique[:3] == (incoming.team, incoming.key, incoming.audience)
            if self.sees(member, state) and (incoming.audience[0] != "private" or state.author == member)
        ]
        return min(same, key=lambda state: (state.author != member, -state.confidence, state.number), default=None)

    def confirmations(self, standing: State) -> list[State]:
        """The equal values of others that support this one, in the order in which they were written."""
        ends = [start for start, end, relation in self.links if (end, relation) == (standing.id, "supports")]
        found = [self.states[id] for id in ends]
        return sorted((one for one in found if one.status == "superseded"), key=lambda one: (one.created_at, one.id))

    def drop_confirmations(self, before: State) -> None:
        for one in self.confirmations(before) if self.states[before.id].word != before.word else ():
            self.links.remove((one.id, before.id, "supports"))
            self.log[one.team].append(Entry("unlink", one.id, one, other=before.id))

    def alive(self, member: str, now: datetime, *, parent: bool = False) -> list[State]:
        """Active, neither deleted nor expired, newest first."""
        found = [
            state
            for state in self.states.values()
            if self.sees(member, state, parent=parent) and not state.deleted and state.status == "active"
            if state.expires_at is None or state.expires_at > now
        ]
        return newest(found)


def newest(states: list[State]) -> list[State]:
    return sorted(states, key=lambda state: (state.created_at, state.number), reverse=True)


def repeats(known: State, incoming: State, *, lasts: bool) -> bool:
    """A write with a time to live says until when as well, which is the same moment only where no time has passed."""
    said = [(one.author, one.word, one.audience, one.path, one.tags, one.confidence) for one in (known, incoming)]
    return said[0] == said[1] and (lasts or known.expires_at == incoming.expires_at)


class TwoTeams(RuleBasedStateMachine):
    memories = Bundle("memories")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="mycel-model-"))
        self.clock = ManualClock()
        self.workspace = open_workspace(self.folder, clock=self.clock, disk=Disk(synchronous="OFF"))
        self.workspace.add_team("squad")
        self.workspace.add_team("crew", parent="squad")
        for id, (team, role) in MEMBERS.items():
            self.workspace.add_member(id, team=team, role=role)
        self.api = {id: self.workspace.as_member(id) for id in MEMBERS}
        self.model = Model()
        self.steps = 0

    def teardown(self) -> None:
        problems = self.workspace.check()
        self.workspace.close()
        shutil.rmtree(self.folder)
        assert problems == {}

    @initialize(target=memories)
    def begin(self) -> Any:
        ids = [self._save(member, word="heron") for member in ("swe-1", "lead-1", "swe-9")]
        return multiple(*ids)

    @rule(
        target=memories,
        member=MEMBER,
        word=st.sampled_from(WORDS),
        audience=AUDIENCE,
        path=st.sampled_from(PATHS),
        tags=st.sampled_from([(), ("t",), ("t", "u")]),
        key=st.sampled_from([None, None, "k", "j"]),
        confidence=st.sampled_from([0.2, 0.5, 0.8]),
        ttl=st.sampled_from([None, None, 60, 86_400]),
    )
    def save(self, **given: Any) -> Any:
        id = self._save(**given)
        return multiple() if id is None else id

    def _save(
        self,
        member: str,
        *,
        word: str,
        audience: Audience = ("team", ()),
        path: str = "/a",
        tags: tuple[str, ...] = (),
        key: str | None = None,
        confidence: float = 1.0,
        ttl: int | None = None,
    ) -> str | None:
        fields: dict[str, Any] = {"path": path, "tags": tags, "key": key, "confidence": confidence, "ttl": ttl}
        fields |= {"visibility": audience[0], "allowed_roles": audience[1] or None}
        stored, error = outcome(lambda: self.api[member].save(f"The {word}.", **fields))
        assert error is None, f"a save was refused: {error!r}"
        self.model.count += 1
        state = State(
            id=stored.id,
            team=MEMBERS[member][0],
            number=self.model.count,
            version=1,
            author=member,
            word=word,
            audience=audience,
            path=path,
            tags=tags,
            key=key,
            confidence=confidence,
            status="active",
            created_at=stored.created_at,
            expires_at=None if ttl is None else self.clock.now() + timedelta(seconds=ttl),
        )
        standing = self.model.standing(member, state) if key else None
        over = bool(standing and standing.expires_at and standing.expires_at <= self.clock.now())
        if standing is None:
            self.model.put("create", state)
        elif not over and repeats(standing, state, lasts=ttl is None):
            pass
        elif not over and self._confirms(member, standing, state):
            self._confirm(member, standing, state)
        elif over or self._replaces(member, standing, confidence):
            renewed = replace(state, id=standing.id, version=standing.version + 1, number=standing.number)
            self.model.put("update", replace(renewed, created_at=standing.created_at))
            self.model.drop_confirmations(standing)
        elif stored.id not in self.model.states:
            candidate = replace(state, status="inbox")
            assert not self._waits(member, candidate, standing, lasts=ttl is None)
            self.model.put("create", candidate)
            self._link(member, candidate, standing.id, "contradicts")
        else:
            assert self.model.states[stored.id] in self._waits(member, state, standing, lasts=ttl is None)
        expected = self.model.states[stored.id]
        assert seen(stored) == shown(expected)
        return stored.id if expected.version == 1 and self.model.count == expected.number else None

    def _confirms(self, member: str, standing: State, incoming: State) -> bool:
        same = (standing.word, standing.author == member) == (incoming.word, False)
        return same and MEMBERS[member][1] != "orchestrator"

    def _confirm(self, member: str, standing: State, incoming: State) -> None:
        """Somebody's first equal value is a memory of its own that supports the standing one."""
        if all(one.author != member for one in self.model.confirmations(standing)):
            # An answer shows the value that stands: only the link names the other.
            ids = {link.from_id for link in self.api[member].links(standing.id) if link.relation == "supports"}
            (id,) = ids - self.model.states.keys()
            made_at = self.api[member].get(id).created_at
            support = replace(incoming, id=id, status="superseded", created_at=made_at)
            self.model.put("create", support)
            self._link(member, support, standing.id, "supports")
        if incoming.confidence > standing.confidence:
            surer = replace(standing, version=standing.version + 1, confidence=incoming.confidence)
            self.model.put("update", surer)

    def _replaces(self, member: str, standing: State, confidence: float) -> bool:
        if MEMBERS[member][1] == "orchestrator" or confidence > standing.confidence:
            return True
        return confidence == standing.confidence and standing.author == member

    def _waits(self, member: str, incoming: State, standing: State, *, lasts: bool) -> list[State]:
        """The same that the member has said before, and that waits against the same value."""
        ids = [start for start, end, relation in self.model.links if (end, relation) == (standing.id, "contradicts")]
        waiting = [self.model.states[id] for id in ids if self.model.states[id].status == "inbox"]
        seen = [one for one in waiting if not one.deleted and self.model.sees(member, one)]
        return [one for one in seen if repeats(one, incoming, lasts=lasts)]

    @rule(
        member=MEMBER,
        id=memories,
        word=st.sampled_from([None, *WORDS]),
        audience=st.none() | AUDIENCE,
        path=st.sampled_from([None, *PATHS]),
        tags=st.sampled_from([None, (), ("u",)]),
        expected=st.sampled_from([None, "current", "stale"]),
    )
    def update(
        self,
        member: str,
        id: str,
        word: str | None,
        audience: Audience | None,
        path: str | None,
        tags: tuple[str, ...] | None,
        expected: str | None,
    ) -> None:
        known = self.model.states.get(id)
        version = {None: None, "current": known.version if known else 1, "stale": 99}[expected]
        given = {"content": word and f"The {word}.", "path": path, "tags": tags, "expected_version": version}
        fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if audience is not None:
            fields |= {"visibility": audience[0], "allowed_roles": audience[1]}
        if not fields.keys() - {"expected_version"}:
            fields["summary"] = "nothing else"

        def model() -> State:
            before = self.model.found(member, id)
            self.model.require_edit(member, before)
            if version is not None and version != before.version:
                raise Conflict(id)
            after = replace(
                before,
                version=before.version + 1,
                word=word or before.word,
                audience=audience or before.audience,
                path=path or before.path,
                tags=before.tags if tags is None else tags,
            )
            if after.audience != before.audience and member != before.author and MEMBERS[member][1] != "admin":
                raise AccessDenied(id)
            self.model.put("update", after)
            if after.word != before.word:
                self.model.drop_confirmations(before)
            return after

        self._agree(lambda: self.api[member].update(id, **fields), model)

    @rule(member=MEMBER, id=memories)
    def delete(self, member: str, id: str) -> None:
        def model() -> None:
            before = self.model.found(member, id)
            self.model.require_delete(member, before)
            self.model.put("delete", replace(before, deleted=True, version=before.version + 1))

        self._agree(lambda: self.api[member].delete(id), model)

    @rule(member=MEMBER, id=memories)
    def restore(self, member: str, id: str) -> None:
        def model() -> State:
            before = self.model.found(member, id, deleted=True)
            self.model.require_delete(member, before)
            if before.deleted:
                self.model.put("restore", replace(before, deleted=False, version=before.version + 1))
            return self.model.states[id]

        self._agree(lambda: self.api[member].restore(id), model)

    @rule(member=st.sampled_from(["swe-1", "lead-1", "admin-1", "swe-9"]), id=consumes(memories))
    def purge(self, member: str, id: str) -> None:
        def model() -> None:
            state = self.model.states.get(id)
            unseen = state is not None and MEMBERS[member] == (state.team, "admin")
            if not unseen:
                self.model.require_delete(member, self.model.found(member, id, deleted=True))
            del self.model.states[id], self.model.versions[id]
            self.model.purged.add(id)
            self.model.links = {link for link in self.model.links if id not in link}

        self._agree(lambda: self.api[member].purge(id), model)

    @rule(member=MEMBER, start=memories, end=memories, relation=st.sampled_from(["supports", "contradicts"]))
    def link(self, member: str, start: str, end: str, relation: str) -> None:
        if start == end:
            return

        def model() -> None:
            origin = self.model.found(member, start)
            self.model.require_edit(member, origin)
            # A link stays within one team, also for a lead who reads two.
            target = self.model.states.get(end)
            if target is None or target.team != origin.team:
                raise ReferenceNotFound(end)
            try:
                self.model.found(member, end)
            except NotFound:
                raise ReferenceNotFound(end) from None
            self._link(member, origin, end, relation)

        self._agree(lambda: self.api[member].link(start, end, relation), model)

    def _link(self, member: str, origin: State, end: str, relation: str) -> None:
        if (origin.id, end, relation) not in self.model.links:
            self.model.links.add((origin.id, end, relation))
            self.model.log[origin.team].append(Entry("link", origin.id, origin, other=end))

    @rule(seconds=st.sampled_from([1, 30, 60, 3600, 86_400, -1, -86_400, -3 * 86_400]))
    def move_clock(self, seconds: int) -> None:
        self.clock.move(timedelta(seconds=seconds))

    @rule(member=MEMBER, id=memories)
    def read(self, member: str, id: str) -> None:
        state = self.model.states.get(id)
        hidden = state is None or state.deleted or not self.model.sees(member, state, parent=True)
        for call in (self.api[member].get, self.api[member].history, self.api[member].links):
            _, error = outcome(lambda call=call: call(id))
            assert isinstance(error, NotFound) is hidden
        if state is None or hidden:
            return
        assert seen(self.api[member].get(id)) == shown(state)
        history = [version.memory.version for version in self.api[member].history(id)]
        versions = self.model.versions[id]
        assert history == [one.version for one in versions if self.model.sees(member, one, parent=True)]
        links = {(link.from_id, link.to_id, link.relation.value) for link in self.api[member].links(id)}
        assert links == {
            link
            for link in self.model.links
            if id in link
            if all(
                self.model.sees(member, self.model.states[end], parent=True) and not self.model.states[end].deleted
                for end in link[:2]
            )
        }

    @invariant()
    def one_member_sees_what_the_model_says(self) -> None:
        """Another member after every step, so that each change is looked at from all sides."""
        self.steps += 1
        member = sorted(MEMBERS)[self.steps % len(MEMBERS)]
        self.list_everything(member, limit=(1, 3, 1000)[self.steps % 3])
        self.list_every_status_and_the_deleted(member)
        self.changes(member)
        for word in WORDS:
            self.search(member, word)
        for path in PATHS:
            self.tree(member, path)

    def list_everything(self, member: str, limit: int) -> None:
        api, found, cursor = self.api[member], [], None
        while True:
            page = api.list(limit=limit, cursor=cursor)
            found += page
            cursor = page.next_cursor
            if cursor is None:
                break
        assert [seen(memory) for memory in found] == [
            shown(state) for state in self.model.alive(member, self.clock.now())
        ]

    @rule(
        member=MEMBER,
        path=st.sampled_from([None, *PATHS]),
        tags=st.sampled_from([None, ("t",), ("t", "u")]),
        key=st.sampled_from([None, "k"]),
        agent=st.sampled_from([None, "swe-1", "lead-1"]),
    )
    def list_with_filters(self, member: str, path: str | None, tags: Any, key: str | None, agent: str | None) -> None:
        found = self.api[member].list(path=path, tags=tags, key=key, agent=agent, limit=1000)
        expected = [
            state
            for state in self.model.alive(member, self.clock.now())
            if path in {None, "/"} or state.path == path or state.path.startswith(f"{path}/")
            if not tags or set(tags) <= set(state.tags)
            if key in {None, state.key} and agent in {None, state.author}
        ]
        assert [memory.id for memory in found] == [state.id for state in expected]

    def list_every_status_and_the_deleted(self, member: str) -> None:
        mine = [state for state in self.model.states.values() if self.model.sees(member, state)]
        any_status = self.api[member].list(status="any", limit=1000)
        assert [memory.id for memory in any_status] == [s.id for s in newest([s for s in mine if not s.deleted])]
        deleted = self.api[member].list(deleted=True, limit=1000)
        restorable = [s for s in mine if s.deleted and (s.author == member or MEMBERS[member][1] in {"lead", "admin"})]
        assert [memory.id for memory in deleted] == [s.id for s in newest(restorable)]
        stats = self.api[member].stats()
        assert stats.memories == len([s for s in mine if not s.deleted])
        assert stats.by_status.get("inbox", 0) == len([s for s in mine if not s.deleted and s.status == "inbox"])

    def search(self, member: str, word: str) -> None:
        hits = self.api[member].search(word, limit=1000).hits
        expected = [s for s in self.model.alive(member, self.clock.now(), parent=True) if s.word == word]
        told = [id for hit in hits for id in (hit.memory.id, *hit.copies)]
        assert sorted(told) == sorted(state.id for state in expected)
        assert all(hit.team == self.model.states[hit.memory.id].team for hit in hits)

    def tree(self, member: str, path: str) -> None:
        found = self.api[member].tree(path)
        alive = self.model.alive(member, self.clock.now())
        assert [memory.id for memory in found.items] == [state.id for state in alive if state.path == path]
        prefix = path.rstrip("/") + "/"
        counts: dict[str, int] = {}
        for state in alive:
            if state.path != path and state.path.startswith(prefix):
                folder = prefix + state.path[len(prefix) :].split("/")[0]
                counts[folder] = counts.get(folder, 0) + 1
        assert {folder.path: folder.count for folder in found.subdirs} == counts

    def changes(self, member: str) -> None:
        found = list(self.api[member].changes())
        moments = [change.committed_at for change in found]
        assert moments == sorted(moments)
        # What was purged leaves the log in ways that have tests of their own.
        kept = [change for change in found if not {change.memory_id, change.other_id} & self.model.purged]
        expected = [
            told
            for entry in self.model.log[MEMBERS[member][0]]
            if not {entry.id, entry.other} & self.model.purged
            if (told := self._told(member, entry)) is not None
        ]
        assert [(change.operation.value, change.memory_id, change.path) for change in kept] == expected

    def _told(self, member: str, entry: Entry) -> tuple[str, str, str] | None:
        if entry.other is not None and not self.model.sees(member, self.model.states[entry.other]):
            return None
        if self.model.sees(member, entry.after):
            today = self.model.sees(member, self.model.states[entry.id])
            return (entry.operation, entry.id, entry.after.told_path) if today else None
        if entry.before is not None and self.model.sees(member, entry.before):
            return "remove", entry.id, entry.before.told_path
        return None

    def _agree(self, real: Any, model: Any) -> None:
        """Both are refused for the same reason, or both succeed with the same outcome."""
        found, error = outcome(real)
        expected, refusal = outcome(model)
        assert type(error) is type(refusal), f"{error!r} instead of {refusal!r}"
        if isinstance(expected, State):
            assert seen(found) == shown(expected)


def outcome(call: Any) -> tuple[Any, MycelError | None]:
    try:
        return call(), None
    except MycelError as error:
        return None, error


def seen(memory: Any) -> tuple[object, ...]:
    return (
        memory.id,
        memory.team,
        memory.version,
        memory.agent_id,
        memory.content,
        memory.title,
        (memory.visibility.value, tuple(memory.allowed_roles)),
        memory.path,
        memory.tags,
        memory.key,
        memory.confidence,
        memory.status.value,
        memory.created_at,
        memory.expires_at,
    )


def shown(state: State) -> tuple[object, ...]:
    text = f"The {state.word}."
    return (
        state.id,
        state.team,
        state.version,
        state.author,
        text,
        text,
        state.audience,
        state.path,
        state.tags,
        state.key,
        state.confidence,
        state.status,
        state.created_at,
        state.expires_at,
    )


ANY_SPEED: dict[str, Any] = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
QUICK = settings(max_examples=6, stateful_step_count=40, derandomize=True, **ANY_SPEED)


# Long runs: the steps that tell a broken rule from a sound one may come late.
FAR = settings(QUICK, max_examples=300, stateful_step_count=80, phases=[Phase.generate])


def test_the_memory_behaves_like_its_model() -> None:
    run_state_machine_as_test(TwoTeams, settings=QUICK)


@pytest.mark.proof
def test_the_memory_behaves_like_its_model_for_long() -> None:
    run_state_machine_as_test(TwoTeams, settings=settings(max_examples=400, stateful_step_count=100, **ANY_SPEED))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        pytest.param("mycel.services.keyed_values.replaces", lambda *_, now: True, marks=pytest.mark.proof),
        ("mycel.services.write.require_delete", lambda *_: None),
        pytest.param("mycel.services.write.require_transition", lambda *_: None, marks=pytest.mark.proof),
        # Both: what one lets through, the other still holds back.
        pytest.param(
            "mycel.index.facets.Facets._visible mycel.stores.sqlite.index.visible",
            (lambda *_: True, lambda *_: ("1", {})),
            marks=pytest.mark.proof,
        ),
        pytest.param(
            "mycel.domain.change.ChangeFilter.takes",
            lambda wanted, seen: seen.path != "/ab",
            marks=pytest.mark.proof,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_rule_makes_a_difference(monkeypatch: pytest.MonkeyPatch, rule: str, broken: Any) -> None:
    names = rule.split()
    for name, instead in zip(names, broken if isinstance(broken, tuple) else [broken], strict=True):
        monkeypatch.setattr(name, instead)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(TwoTeams, settings=FAR)
