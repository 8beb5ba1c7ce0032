"""What every store promises about who sees what, in its reads and in its change log."""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

from collections.abc import Callable

import pytest

from mycel.access.scope import ReadScope
from mycel.contracts.store import Store
from mycel.domain.change import Operation
from mycel.domain.ids import MemberId
from mycel.domain.link import Link, Relation
from mycel.domain.memory import Memory, Status, Visibility
from mycel.domain.team import Role
from mycel.testing.store_samples import (
    ANY_STATUS,
    AUTHOR,
    EVERY_CHANGE,
    START,
    TEAM,
    TEAMMATE,
    found_by_word,
    listed,
    put,
    quoting,
    reader,
    sample,
)
from mycel.testing.store_search import MODEL, embed_all

LEAD = MemberId("lead-1")
Read = Callable[[Store, ReadScope, Memory], object]


READS: dict[str, Read] = {
    "find": lambda store, scope, memory: store.memories.find(scope, memory.id),
    "find in a transaction": lambda store, scope, memory: store.transact(
        lambda transaction: transaction.memories.find(scope, memory.id)
    ),
    "find_version": lambda store, scope, memory: store.transact(
        lambda transaction: transaction.memories.find_version(scope, memory.id, 1)
    ),
    "ids_with the beginning": lambda store, scope, memory: store.memories.ids_with(scope, [memory.id[:30]], limit=2),
    "ids_with the end": lambda store, scope, memory: store.memories.ids_with(scope, [memory.id[-8:]], limit=2),
    "find_by_key": lambda store, scope, memory: store.transact(
        lambda transaction: transaction.memories.find_by_key(scope, memory)
    ),
    "find_as_of": lambda store, scope, memory: store.memories.find_as_of(scope, memory.id, memory.created_at),
    "list_versions": lambda store, scope, memory: store.memories.versions(scope, memory.id),
    "list_links": lambda store, scope, memory: store.links.of(scope, memory.id),
    "newest": lambda store, scope, memory: store.memories.newest(scope, [(ANY_STATUS, 1)])[0],
    "list_memories": lambda store, scope, memory: listed(store, scope),
    "count_memories": lambda store, scope, memory: store.memories.count(scope, ANY_STATUS),
    "list_folders": lambda store, scope, memory: store.memories.folders(scope, "/", ANY_STATUS),
    "statistics": lambda store, scope, memory: store.memories.statistics(scope, ANY_STATUS).memories,
    "count_tags": lambda store, scope, memory: sum(store.memories.count_tags(scope, ANY_STATUS).values()),
    "statistics of projects": lambda store, scope, memory: store.memories.statistics(scope, ANY_STATUS).projects,
    "search_words": lambda store, scope, memory: found_by_word(store, "heron", scope),
    "word_statistics": lambda store, scope, memory: store.index.word_statistics(scope, ["heron"]).frequencies["heron"],
    "word_statistics of all": lambda store, scope, memory: store.index.word_statistics(scope, []).documents,
    "a phrase": lambda store, scope, memory: quoting(store, ["heron"], scope),
    "vectors of texts": lambda store, scope, memory: (
        embed_all(store),
        store.embeddings.of(scope, [memory.id], model=MODEL),
    )[1],
    "awaits_vectors": lambda store, scope, memory: store.embeddings.has_backlog(scope, "a model"),
    "changes": lambda store, scope, memory: store.log.changes(scope, after=0, wanted=EVERY_CHANGE, limit=9)[0],
    "list_projects": lambda store, scope, memory: store.places.projects(scope),
    "list_repos": lambda store, scope, memory: store.places.repos(scope),
}
AUDIENCES: dict[str, tuple[Visibility, tuple[Role, ...]]] = {
    "team": (Visibility.TEAM, ()),
    "agents and leads": (Visibility.ROLE, (Role.AGENT, Role.LEAD)),
    "leads": (Visibility.ROLE, (Role.LEAD,)),
    "private": (Visibility.PRIVATE, ()),
}
READERS: dict[str, tuple[ReadScope, set[str]]] = {
    "author": (reader(AUTHOR, Role.AGENT), set(AUDIENCES)),
    "teammate": (reader(TEAMMATE, Role.AGENT), {"team", "agents and leads"}),
    "human": (reader("person-1", Role.MEMBER), {"team"}),
    "lead": (reader(LEAD, Role.LEAD), {"team", "agents and leads", "leads"}),
    "admin": (reader("admin-1", Role.ADMIN), {"team", "agents and leads", "leads"}),
    "lead of a team below": (ReadScope(team=TEAM, member_id=None, role=None), {"team"}),
}


class StoreScopes:
    """Needs the fixture `store`."""

    @pytest.mark.parametrize("audience", AUDIENCES)
    @pytest.mark.parametrize("who", READERS)
    def test_every_read_answers_only_with_what_the_scope_sees(self, store: Store, audience: str, who: str) -> None:
        visibility, roles = AUDIENCES[audience]
        scope, seen = READERS[who]
        places = {"key": "k", "project_id": "p", "repo_id": "r", "tags": ("t",)}
        memory = put(store, "heron", **places, visibility=visibility, allowed_roles=roles)
        link = Link(memory.id, "project:p", Relation.APPLIES_TO, AUTHOR, START)
        store.transact(lambda transaction: transaction.links.add(link, origin=memory))
        answers = {name: bool(read(store, scope, memory)) for name, read in READS.items()}
        assert answers == dict.fromkeys(READS, audience in seen)

    def test_counters_of_a_hidden_memory_stay_at_zero(self, store: Store) -> None:
        memory = put(store, visibility=Visibility.PRIVATE)
        store.recalls.count_access([memory.id], by=TEAMMATE, at=START)
        assert store.memories.usage(reader(TEAMMATE), memory.id).access_count == 0

    def test_a_link_shows_only_to_those_who_see_both_ends(self, store: Store) -> None:
        shown, hidden = put(store, "shown"), put(store, "hidden", visibility=Visibility.PRIVATE)
        for start, end in ((shown, hidden), (hidden, shown)):
            link = Link(start.id, end.id, Relation.SUPPORTS, AUTHOR, START)
            store.transact(lambda transaction, link=link, start=start: transaction.links.add(link, origin=start))
        assert store.links.of(reader(TEAMMATE), shown.id) == []
        assert len(store.links.of(reader(), shown.id)) == 2
        told, _ = store.log.changes(reader(TEAMMATE), after=0, wanted=EVERY_CHANGE, limit=9)
        assert [change.operation for change in told] == [Operation.CREATE]

    def test_only_what_is_in_sight_and_stands_contradicts(self, store: Store) -> None:
        shown, hidden = put(store, "shown"), put(store, "hidden", visibility=Visibility.PRIVATE)
        over, waits = put(store, "over", status=Status.SUPERSEDED), put(store, "waits", status=Status.INBOX)
        for start, end in ((shown, hidden), (over, shown), (waits, shown), (shown, waits)):
            link = Link(start.id, end.id, Relation.CONTRADICTS, AUTHOR, START)
            store.transact(lambda transaction, link=link, start=start: transaction.links.add(link, origin=start))
        assert store.links.contests(reader(), [shown.id, hidden.id]) == {shown.id: 2, hidden.id: 1}
        assert store.links.contests(reader(TEAMMATE), [shown.id, waits.id]) == {shown.id: 1, waits.id: 1}
        assert store.links.contests(reader(), []) == {}

    def test_only_members_in_sight_confirm_a_value(self, store: Store) -> None:
        value = put(store, key="k")
        shown = put(store, key="k", status=Status.SUPERSEDED, agent_id=TEAMMATE)
        hidden = put(store, key="k", status=Status.SUPERSEDED, agent_id=LEAD, visibility=Visibility.PRIVATE)
        own, other = put(store, key="k", status=Status.SUPERSEDED), put(store, key="l", agent_id=TEAMMATE)
        for start in (shown, hidden, own, other):
            link = Link(start.id, value.id, Relation.SUPPORTS, start.agent_id, START)
            store.transact(lambda transaction, link=link, start=start: transaction.links.add(link, origin=start))
        assert store.links.confirmations(reader(), [value.id, shown.id]) == {value.id: 1}
        assert store.links.confirmations(reader(LEAD), [value.id]) == {value.id: 2}
        assert store.links.confirmations(reader(), []) == {}

    def test_key_lookups_do_not_reveal_hidden_knowledge(self, store: Store) -> None:
        put(store, key="k", visibility=Visibility.ROLE, allowed_roles=(Role.LEAD,))
        like = sample(key="k", visibility=Visibility.ROLE, allowed_roles=(Role.LEAD,), agent_id=TEAMMATE)
        assert store.transact(lambda transaction: transaction.memories.find_by_key(reader(TEAMMATE), like)) is None
        put(store, key="k", visibility=Visibility.ROLE, allowed_roles=(Role.LEAD,), agent_id=TEAMMATE)
