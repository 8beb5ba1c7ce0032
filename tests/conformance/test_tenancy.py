"""Nobody learns anything of a team, or of what is private in it, through any route of the service.

For every operation and every other route, for whoever has no business there, calls that name what is hidden are made
beside the same calls that name what does not exist. Both are answered alike, nothing hidden is in any answer, and
nothing in the hidden team has changed. Scores, times, new ids and places in one's own lists are not compared.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request as WebRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.websockets import WebSocket

from mycel.access import scope
from mycel.domain.ids import TeamName
from mycel.embedded.workspace import Workspace
from mycel.errors import MycelError, NotFound
from mycel.services import read
from mycel.settings import Settings
from mycel.stores.sql import memories
from mycel.surfaces.http import credentials, rate_limit
from mycel.surfaces.http.app import create_app
from mycel.surfaces.http.described_route import PageRoute
from mycel.wire.operations import OPERATIONS
from tests.conformance.tenancy_calls import Pair, Request, operation_pairs
from tests.conformance.tenancy_door import Door, Findings, walk
from tests.conformance.tenancy_routes import PUBLIC, ROUTES, route_pairs
from tests.conformance.tenancy_world import HIDDEN_TEAM, MARKS, Hidden, World, build
from tests.postgres import another

# Buffers of a store are written within this time.
FLUSHED_SECONDS = 1.2
ENOUGH = 10_000
pytestmark = pytest.mark.each_database(slow=True)
# Who asks, what is hidden from it, and every how manyeth pair is asked.
STRANGERS = [("anonymous", "zephyr"), ("revoked", "zephyr"), ("zephyr-gone", "zephyr")]
OUTSIDERS = [
    *(("swe-9", "zephyr", 1), ("lead-9", "zephyr", 8), ("admin-9", "zephyr", 8), ("exec-9", "zephyr", 8)),
    *(("swe-9", "hushed", 8), ("admin-9", "veiled", 8)),
]
INSIDERS = [
    *(("zephyr-mate", "hushed", 2), ("zephyr-mate", "veiled", 6), ("zephyr-person", "hushed", 6)),
    *(("zephyr-orchestrator", "veiled", 6), ("zephyr-lead", "hushed", 6), ("zephyr-admin", "hushed", 6)),
    *(("zephyr-below", "hushed", 8), ("zephyr-below", "veiled", 8)),
]
# What may be told apart, and why.
KNOWN = {
    # Ids are unique in a workspace, so it must learn that one is taken, and learns no more: see below.
    ("admin-9", "workspace.add_member"),
    # The second request of a pair finds the member that the first has made, with another job title.
    ("zephyr-admin", "workspace.add_member"),
    # An admin can purge what it may not read.
    ("zephyr-admin", "purge"),
    ("zephyr-admin", "receipt"),
}
# An agent that may read a memory may not do this to it, nor to its team.
NEEDS_A_ROLE = {
    *("update", "delete", "purge", "artifacts.delete", "knowledge.delete", "knowledge.arbitrate", "settle"),
    *("approve", "approve_many", "reject", "reject_many", "consolidate", "undo", "cascade", "escalate", "withdraw"),
    *("reviews.claim", "reviews.snooze", "reviews.merge", "reviews.reopen"),
    *("inject_learning", "set_policy", "workspace.re_embed", "workspace.add_team", "workspace.arrange"),
    *("workspace.add_member", "workspace.update_member", "workspace.remove_member", "workspace.new_token"),
    *("workspace.revoke_token", "workspace.run_pending", "workspace.maintain", "workspace.scrub", "workspace.check"),
    *("workspace.backups", "workspace.create_backup", "workspace.verify_backup"),
    "/api/sign-in-links",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, database: str) -> World:
    return build(tmp_path_factory.mktemp("tenancy") / "world", another() if database == "postgres" else None)


@pytest.fixture
def world(built: World, tmp_path: Path) -> Iterator[World]:
    with built.copied(tmp_path / "world") as world:
        yield world


@pytest.fixture
def app(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Starlette]:
    """With nothing that slows guessing: it would tell answers apart by chance."""
    for module, name in ((rate_limit, "STRANGERS_AT_ONCE"), (rate_limit, "ALL_STRANGERS_AT_ONCE")):
        monkeypatch.setattr(module, name, 1e9)
    monkeypatch.setattr(credentials, "WRONG_AT_ONCE", 1e9)
    app = create_app(world.workspace, settings=Settings(requests_per_second=1e9))
    yield app
    app.state.service.threads.close()


def generated(world: World, who: str, mark: str, every: int = 1) -> list[Pair]:
    """Reads first, so that what the visitor writes itself is in none of them; being told something leaves a row too."""
    hidden = world.hidden[mark]
    found = [*operation_pairs(world, hidden, member=who), *route_pairs(world, hidden)]
    asked = [pair for pair in found if (who, pair.hidden.case) not in KNOWN]
    start = sum(map(ord, who + mark)) % every
    return sorted(asked[start::every], key=lambda pair: (pair.hidden.writes, pair.hidden.method != "GET"))


def asked(app: Starlette, world: World, who: str, mark: str, pairs: list[Pair]) -> Findings:
    return asyncio.run(walk(Door(app), pairs, world.hidden[mark], world.secrets[who], set()))


def test_every_route_has_a_case(app: Starlette) -> None:
    assert routes_of(app) == set(ROUTES)


def routes_of(app: Starlette) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for route in app.routes:
        # Pages have a walk of their own: `tests/surfaces/web/test_every_page.py`.
        if isinstance(route, PageRoute):
            continue
        methods = route.methods or set() if isinstance(route, Route) else {"WEBSOCKET"}
        found |= {(str(getattr(route, "path", route)), method) for method in methods - {"HEAD"}}
    return found


def test_every_operation_is_asked(world: World) -> None:
    for who, mark, every in (*OUTSIDERS, *INSIDERS):
        cases = {pair.hidden.case for pair in generated(world, who, mark, every)}
        missing = {operation.name for operation in OPERATIONS} - cases - {case for one, case in KNOWN if one == who}
        # What takes nothing has one pair, which a sample may leave out.
        assert every > 1 or not missing


def test_there_are_ten_thousand_calls_of_people_that_are_known(world: World) -> None:
    counts = [2 * len(generated(world, who, mark, every)) for who, mark, every in (*OUTSIDERS, *INSIDERS)]
    assert sum(counts) >= ENOUGH


@pytest.mark.parametrize(("who", "mark"), STRANGERS)
def test_without_a_token_that_works_every_answer_is_the_same(app: Starlette, world: World, who: str, mark: str) -> None:
    before, people = world.state_of(HIDDEN_TEAM), world.directory()
    pairs = generated(world, who, mark)
    for_all = [pair for pair in pairs if pair.hidden.case in PUBLIC]
    for_few = [pair for pair in pairs if pair.hidden.case not in PUBLIC]
    assert asked(app, world, who, mark, for_all).leaks == {}
    found = asked(app, world, who, mark, for_few)
    assert found.leaks == {}
    assert {status for statuses in found.statuses.values() for status in statuses} == {401}
    assert len(found.bodies) == 1
    assert (world.state_of(HIDDEN_TEAM), world.directory()) == (before, people)


@pytest.mark.parametrize(("who", "mark", "every"), OUTSIDERS)
def test_another_team_looks_as_if_it_were_not_there(
    app: Starlette, world: World, who: str, mark: str, every: int
) -> None:
    before = world.state_of(HIDDEN_TEAM)
    people = world.workspace.members(team=HIDDEN_TEAM)
    found = asked(app, world, who, mark, generated(world, who, mark, every))
    assert found.leaks == {}
    assert_looked(found, every)
    time.sleep(FLUSHED_SECONDS)
    assert world.state_of(HIDDEN_TEAM) == before
    assert world.workspace.members(team=HIDDEN_TEAM) == people


@pytest.mark.parametrize(("who", "mark", "every"), INSIDERS)
def test_what_is_for_others_in_the_same_team_looks_as_if_it_were_not_there(
    app: Starlette, world: World, who: str, mark: str, every: int
) -> None:
    before = hidden_things(world.workspace, world.hidden[mark])
    found = asked(app, world, who, mark, generated(world, who, mark, every))
    assert found.leaks == {}
    assert_looked(found, every)
    assert hidden_things(world.workspace, world.hidden[mark]) == before


def assert_looked(found: Findings, every: int) -> None:
    """No case is answered only with what is wrong about its form, and none fails."""
    unread = {case for case, statuses in found.statuses.items() if statuses == {422}}
    # The profile of somebody who is no person, and never is in these teams.
    assert every > 1 or unread <= {"upsert_profile_fact"}
    assert not {case for case, statuses in found.statuses.items() if max(statuses) >= 500}
    assert every > 1 or 200 in found.statuses["/mcp"]


def hidden_things(workspace: Workspace, hidden: Hidden) -> list[object]:
    """As their author sees them."""
    author = workspace.as_member("zephyr-swe")
    found: list[object] = []
    for id in list(hidden.twins["memory_id"]):
        for look in (author.get, author.history, author.links, author.receipt):
            try:
                found.append(look(id))
            except MycelError as error:
                found.append(repr(error))
    found += [author.sources.get(id) for id in hidden.twins["source_id"]]
    found += [author.sources.event(id) for id in hidden.twins["event_id"]]
    return [*found, author.views.list()]


def test_a_role_that_is_missing_is_refused_and_changes_nothing(app: Starlette, world: World) -> None:
    before, people = world.state_of(HIDDEN_TEAM), world.directory()
    pairs = [pair for pair in generated(world, "zephyr-mate", "zephyr") if pair.hidden.case in NEEDS_A_ROLE]
    statuses: dict[str, set[int]] = {}

    async def ask() -> None:
        door = Door(app)
        for pair in pairs:
            answer = await door.ask(pair.hidden, world.secrets["zephyr-mate"])
            statuses.setdefault(pair.hidden.case, set()).add(answer.status)

    asyncio.run(ask())
    own = {"workspace.new_token", "workspace.revoke_token", "/api/sign-in-links"}
    for case in NEEDS_A_ROLE:
        assert 403 in statuses[case], case
        assert case in own or not {status for status in statuses[case] if status < 400}, case
    for table in ("memories", "memory_versions", "changes", "memory_links", "reports", "cascades"):
        assert world.state_of(HIDDEN_TEAM).get(table) == before.get(table)
    assert world.directory()[:2] == people[:2]
    assert world.workspace.as_member("zephyr-lead").policy().promote_from == 0.77


@pytest.mark.parametrize("id", ["zephyr-swe", "zephyr-gone"])
def test_an_admin_learns_that_an_id_is_taken_and_no_more(app: Starlette, world: World, id: str) -> None:
    request = Request("", "POST", "/api/members", {"id": id, "team": "other", "role": "lead"})
    answer = asyncio.run(Door(app).ask(request, world.secrets["admin-9"]))
    assert answer.status == 409
    assert f'"detail":"{id} is already a member"' in answer.body
    assert "vault" not in answer.text


def test_whoever_may_see_it_does(app: Starlette, world: World) -> None:
    """Otherwise the comparison would pass on a team that nobody sees."""
    names = {"get", "history", "links", "usage", "list", "tree", "search", "explain", "recent"}
    names |= {f"sources.{name}" for name in ("get", "list", "event", "events")} | {"/api/memory/changes"}
    names |= {"report", "reports", "knowledge.list", "episodes.list", "artifacts.list", "views.list", "projects.list"}
    names |= {"workspace.teams", "workspace.members", "workspace.tokens", "workspace.resolve_team"}
    pairs = [pair for pair in generated(world, "zephyr-swe", "zephyr") if pair.hidden.case in names]
    found = asked(app, world, "zephyr-swe", "zephyr", pairs)
    assert names - found.leaks.keys() == set()


def sees_everything(scope: scope.ReadScope, table: str = "m", *, prefix: str = "") -> tuple[str, dict[str, Any]]:
    return "true", {"reader": scope.member_id, "reader_role": None}


def forget_statements() -> None:
    for kept in vars(memories).values():
        if hasattr(kept, "cache_clear"):
            kept.cache_clear()


def test_a_query_that_forgets_who_asks_is_noticed(
    app: Starlette, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [pair for pair in generated(world, "zephyr-mate", "hushed") if pair.hidden.case in {"get", "list", "tree"}]
    assert asked(app, world, "zephyr-mate", "hushed", pairs).leaks == {}
    for module in ("memories", "memory_pages"):
        monkeypatch.setattr(f"mycel.stores.sql.{module}.visible", sees_everything)
    forget_statements()
    try:
        assert asked(app, world, "zephyr-mate", "hushed", pairs).leaks.keys() == {"get", "list", "tree"}
    finally:
        monkeypatch.undo()
        forget_statements()


def test_a_service_that_forgets_the_team_is_noticed(
    app: Starlette, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def any_team(caller: Any, team: str | None) -> scope.ReadScope | None:
        named = scope.ReadScope(team=TeamName(HIDDEN_TEAM), member_id=None, role=None)
        return named if team == HIDDEN_TEAM else scope.scope_of_team(caller, team)

    pairs = [pair for pair in generated(world, "swe-9", "zephyr") if pair.hidden.case in {"list", "tree"}]
    monkeypatch.setattr(read, "scope_of_team", any_team)
    assert asked(app, world, "swe-9", "zephyr", pairs).leaks.keys() == {"list", "tree"}


def test_an_error_that_tells_hidden_from_absent_is_noticed(
    app: Starlette, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    get = read.Reading.get

    def helpful(self: read.Reading, caller: Any, id: Any, **named: Any) -> Any:
        if id in world.hidden["zephyr"].all_ids:
            raise NotFound(f"no memory {id} in your team")
        return get(self, caller, id, **named)

    monkeypatch.setattr(read.Reading, "get", helpful)
    pairs = [pair for pair in generated(world, "swe-9", "zephyr") if pair.hidden.case == "get"]
    assert asked(app, world, "swe-9", "zephyr", pairs).leaks.keys() == {"get"}


def test_a_route_without_a_case_is_noticed(app: Starlette) -> None:
    async def extra(_request: WebRequest) -> Response:
        return JSONResponse({})

    async def live(_socket: WebSocket) -> None: ...

    app.router.add_route("/api/extra", extra, methods=["GET"])
    app.router.add_websocket_route("/api/live", live)
    assert routes_of(app) - set(ROUTES) == {("/api/extra", "GET"), ("/api/live", "WEBSOCKET")}


def test_a_stream_that_tells_too_much_is_noticed(app: Starlette, world: World) -> None:
    async def live(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text("the zephyr title")
        await socket.receive()

    app.router.add_websocket_route("/api/live", live)
    request = Request("live", "GET", "/api/live", kind="websocket")
    assert asked(app, world, "swe-9", "zephyr", [Pair(request, request)]).leaks.keys() == {"live"}


@pytest.mark.parametrize("mark", MARKS)
def test_twins_are_of_the_same_form(built: World, mark: str) -> None:
    twins = [pair for kind in built.hidden[mark].twins.values() for pair in kind.items()]
    assert all(len(one) == len(twin) and one != twin for one, twin in twins)
    assert len(twins) > 25
