"""Scopes follow from the caller, and their rule in Python and in SQL is one and the same."""

from dataclasses import replace
from itertools import combinations, product

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mycel.access.scope import (
    ReadScope,
    purge_scope,
    read_scope,
    readable_scopes,
    scope_of_team,
    scopes_above,
)
from mycel.domain.change import Audience
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.memory import Visibility
from mycel.domain.team import EXECUTIVE, Caller, Role
from mycel.stores.sql.clauses import visible
from mycel.stores.sql.rows import packed_roles

SQUAD, PARENT = TeamName("squad"), TeamName("executive")
MEMBERS = [MemberId("swe-1"), MemberId("swe-2"), MemberId("agent"), MemberId('"lead"')]
ROLE_SETS = [roles for size in range(len(Role) + 1) for roles in combinations(Role, size)]
AUDIENCES = [
    Audience(visibility, member, roles)
    for visibility, member, roles in product(Visibility, MEMBERS, ROLE_SETS)
    if bool(roles) == (visibility is Visibility.ROLE)
]
SCOPES = [
    ReadScope(SQUAD, member, role, every_role, everything)
    for member, role, every_role, everything in product([None, *MEMBERS], [None, *Role], [True, False], [True, False])
]


@pytest.fixture(scope="module")
def rows() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE memories (place INTEGER, visibility TEXT, agent_id TEXT, allowed_roles TEXT)")
    connection.executemany(
        "INSERT INTO memories VALUES (?, ?, ?, ?)",
        [
            (place, audience.visibility.value, audience.agent_id, packed_roles(audience.allowed_roles))
            for place, audience in enumerate(AUDIENCES)
        ],
    )
    return connection


@pytest.mark.parametrize("part", range(8))
def test_the_sql_agrees_with_the_rule_for_every_scope_and_audience(rows: apsw.Connection, part: int) -> None:
    for scope in SCOPES[part::8]:
        clause, values = visible(scope)
        found = {place for (place,) in rows.execute(f"SELECT place FROM memories m WHERE {clause}", values)}
        assert found == {place for place, audience in enumerate(AUDIENCES) if scope.sees(audience)}, scope


@given(
    author=st.sampled_from(["a", "b", "%", "_", "", "'", "ü"]),
    reader=st.sampled_from([None, "a", "A", "%", "_", "'", "ü", "u"]),
    roles=st.sets(st.sampled_from(Role)).map(lambda found: tuple(sorted(found))),
    role=st.none() | st.sampled_from(Role),
    visibility=st.sampled_from(Visibility),
)
def test_the_sql_agrees_with_the_rule_for_odd_names(
    author: str, reader: str | None, roles: tuple[Role, ...], role: Role | None, visibility: Visibility
) -> None:
    scope = ReadScope(SQUAD, None if reader is None else MemberId(reader), role)
    audience = Audience(visibility, MemberId(author), roles)
    clause, values = visible(scope)
    connection = apsw.Connection(":memory:")
    row = {"v": visibility.value, "a": author, "r": packed_roles(roles)}
    found = connection.execute(
        f"SELECT count(*) FROM (SELECT :v AS visibility, :a AS agent_id, :r AS allowed_roles) m WHERE {clause}",
        {**row, **values},
    ).fetchone()
    assert bool(found[0]) is scope.sees(audience)


AGENT = Caller(MemberId("swe-1"), SQUAD, Role.AGENT, parent_team=PARENT, reads_above=(PARENT, EXECUTIVE))


@pytest.mark.parametrize("role", Role)
def test_private_text_is_for_its_author_alone(role: Role) -> None:
    scope = read_scope(replace(AGENT, role=role))
    assert scope.sees(Audience(Visibility.PRIVATE, AGENT.member_id))
    assert not scope.sees(Audience(Visibility.PRIVATE, MemberId("swe-2")))


@pytest.mark.parametrize("role", Role)
def test_only_a_lead_reads_the_teams_above(role: Role) -> None:
    caller = replace(AGENT, role=role)
    teams = [scope.team for scope in readable_scopes(caller)]
    assert teams == ([SQUAD, PARENT, EXECUTIVE] if role is Role.LEAD else [SQUAD])
    for above in (PARENT, EXECUTIVE):
        assert (scope_of_team(caller, above) is not None) is (role is Role.LEAD)
    assert scope_of_team(caller, "elsewhere") is None
    assert scope_of_team(caller, SQUAD) == scope_of_team(caller, None) == read_scope(caller)


def test_a_lead_sees_of_a_team_above_only_what_is_for_that_whole_team() -> None:
    lead = replace(AGENT, role=Role.LEAD)
    for scope in scopes_above(lead):
        assert [audience for audience in AUDIENCES if scope.sees(audience)] == [
            audience for audience in AUDIENCES if audience.visibility is Visibility.TEAM
        ]
    assert scopes_above(replace(lead, reads_above=())) == ()


@pytest.mark.parametrize("role", Role)
def test_only_an_admin_purges_unseen(role: Role) -> None:
    caller = replace(AGENT, role=role)
    hidden = Audience(Visibility.PRIVATE, MemberId("swe-2"))
    assert purge_scope(caller).sees(hidden) is (role is Role.ADMIN)
