"""What every way into a team's memory promises about a part of an id, and a walk over everything that takes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.ids import LEAST_SHORT
from mycel.errors import AmbiguousId, InvalidInput, NotFound
from tests.conformance.memory_api_cast import Cast
from tests.template import ABSENT

Use = Callable[[MemoryApi, str], Any]


def contradicting(api: MemoryApi, id: str) -> str:
    other = api.save("Herons never fish.").id
    api.link(other, id, "contradicts")
    return other


def waiting(api: MemoryApi) -> str:
    return api.save("Herons fish at dusk.", needs_review=True).id


# How each operation is called with a part of the id of a memory, by its name and the field that takes the id.
USES: dict[str, Use] = {
    "get.id": lambda api, id: api.get(id),
    "history.id": lambda api, id: api.history(id),
    "links.id": lambda api, id: api.links(id),
    "usage.id": lambda api, id: api.usage(id),
    "rate.id": lambda api, id: api.rate(id, useful=True),
    "explain.memory_id": lambda api, id: api.explain(memory_id=id),
    "explain.missing": lambda api, id: api.explain(api.search("the tide").id, missing=id),
    "update.id": lambda api, id: api.update(id, tags=["seen"]),
    "save.supersedes": lambda api, id: api.save("Herons fish at dusk.", supersedes=id),
    "ingest.supersedes": lambda api, id: api.ingest({"content": "Herons fish at dawn.", "supersedes": id}),
    "link.to_id": lambda api, id: api.link(api.save("They stand in the lake.").id, id, "supports"),
    "link.from_id": lambda api, id: api.link(id, "project:lake", "applies_to"),
    "unlink.from_id": lambda api, id: (
        api.link(id, "project:lake", "applies_to"),
        api.unlink(id, "project:lake", "applies_to"),
    ),
    "unlink.to_id": lambda api, id: api.unlink(contradicting(api, id), id, "contradicts"),
    "consolidate.ids": lambda api, id: api.consolidate(ids=[id], dry_run=True),
    "settle.id": lambda api, id: api.settle(id, over=contradicting(api, id)),
    "settle.over": lambda api, id: api.settle(contradicting(api, id), over=[id]),
    "approve.id": lambda api, id: api.approve(id),
    "approve_many.ids": lambda api, id: api.approve_many([id]),
    "reject.id": lambda api, id: api.reject(id, "not ours"),
    "reject_many.ids": lambda api, id: api.reject_many([id], "not ours"),
    "reviews.get.id": lambda api, id: api.reviews.get(id),
    "reviews.claim.id": lambda api, id: api.reviews.claim(id),
    "reviews.snooze.id": lambda api, id: api.reviews.snooze(id, until=None),
    "reviews.merge.id": lambda api, id: api.reviews.merge(id, into=api.save("Herons fish at dawn, always.").id),
    "reviews.merge.into": lambda api, id: api.reviews.merge(waiting(api), into=id),
    "reviews.reopen.id": lambda api, id: (api.reject(id, "not ours"), api.reviews.reopen(id)),
    "delete.id": lambda api, id: api.delete(id),
    "restore.id": lambda api, id: (api.delete(id), api.restore(id)),
    "cascade.id": lambda api, id: api.cascade(id),
    "withdraw.id": lambda api, id: (api.cascade(id), api.withdraw(id)),
    "escalate.id": lambda api, id: api.escalate(id),
    "knowledge.history.id": lambda api, id: api.knowledge.history(id),
    "knowledge.arbitrate.id": lambda api, id: api.knowledge.arbitrate(id),
    "knowledge.delete.id": lambda api, id: api.knowledge.delete(id),
    "episodes.get.id": lambda api, id: api.episodes.get(id),
    "artifacts.get.id": lambda api, id: api.artifacts.get(id),
    "artifacts.verify.id": lambda api, id: api.artifacts.verify(id),
    "artifacts.delete.id": lambda api, id: api.artifacts.delete(id),
    "activity.given.id": lambda api, id: api.activity.given(id),
    "activity.report.memory_ids": lambda api, id: api.activity.report(
        text=f"[m:{id}]", occasion="prompt", memory_ids=[id]
    ),
    "audit.memory_id": lambda api, id: api.audit(memory_id=id),
}
WAITING = {name for name in USES if name.startswith(("approve", "reject", "reviews.")) and name != "reviews.merge.into"}
# What cannot be undone takes the whole id, and so does what is asked about a memory that is gone.
WHOLE = {"purge.id", "receipt.id"}
# It finds what a part may mean, and is tested with the commands that ask it.
FINDS = {"workspace.locate.id"}
# Ids of what is no memory: sources, events, recalls, reports, members, tokens, tasks, sessions, threads, pages.
OTHERS = {
    *("cursor", "session_id", "task_id", "thread_id", "agent_id", "member_id", "recall_id", "report_id", "event_id"),
    *("source", "source_id", "token", "report.id", "sources.get.id", "sources.event.id"),
    *("workspace.add_member.id", "workspace.update_member.id", "workspace.remove_member.id"),
}
NAMES = {"id", "ids", "over", "into", "missing", "supersedes", "source", "token", "cursor"}


def made(api: MemoryApi, use: str) -> str:
    """A memory of the kind that this use is about."""
    if use.startswith("knowledge."):
        return api.knowledge.upsert(key="heron", value="fishes at dawn", category="fact").id
    if use.startswith("episodes."):
        return api.episodes.log(action="completed", approach="watched herons at dawn").id
    if use.startswith("artifacts."):
        return api.artifacts.register(path="herons.md", type="document", content="Herons fish at dawn.").id
    return api.save("Herons fish at dawn.", project="lake", needs_review=use in WAITING).id


class ApiShortIds:
    """Needs the fixture `cast`."""

    @pytest.mark.parametrize("part", ["beginning", "end"])
    @pytest.mark.parametrize("use", USES)
    def test_a_part_of_an_id_is_as_good_as_the_id(self, cast: Cast, use: str, part: str) -> None:
        id = made(cast.admin, use)
        USES[use](cast.admin, id[-LEAST_SHORT:] if part == "end" else id[:-2])

    @pytest.mark.parametrize("use", USES)
    def test_a_part_of_several_is_refused_with_the_candidates_and_nothing_is_done(self, cast: Cast, use: str) -> None:
        first, second = made(cast.admin, use), cast.admin.save("Two herons.", title="Two herons").id
        if first[:LEAST_SHORT] != second[:LEAST_SHORT]:
            # Once in 65 seconds the beginning changes between the two.
            first, second = made(cast.admin, use), cast.admin.save("Two herons.", title="Two herons").id
        shared = shared_beginning(first, second)
        before = [version.memory for version in cast.admin.history(first)]
        if use == "restore.id":
            cast.admin.delete(first)
        with pytest.raises(AmbiguousId) as refused:
            (cast.admin.restore if use == "restore.id" else lambda id: USES[use](cast.admin, id))(shared)
        candidates = {one.id: one for one in refused.value.candidates}
        assert {first, second} <= candidates.keys()
        assert (candidates[second].title, candidates[second].team) == ("Two herons", "squad")
        assert "heron" not in str(refused.value)
        if use != "restore.id":
            assert [version.memory for version in cast.admin.history(first)] == before

    def test_it_is_taken_with_the_marks_of_a_citation(self, cast: Cast) -> None:
        memory = cast.author.save("Herons fish at dawn.")
        for part in (memory.id[:30], memory.id[-8:], memory.id[-12:], memory.id[-20:]):
            for said in (f"m:{part}", f"[m:{part}]", part.upper(), f" {part} "):
                assert cast.teammate.get(said).id == memory.id

    @pytest.mark.parametrize(
        "said",
        ["", "01", "019a000", "herons", "019a0000x", "019a0000 0000", "m:", "[m:01]", "-" * 9, "-00000000", "a" * 13],
    )
    def test_what_is_no_part_of_an_id_is_refused(self, cast: Cast, said: str) -> None:
        with pytest.raises(InvalidInput) as refused:
            cast.author.update(said, tags=["a"])
        assert refused.value.field == "id"

    @pytest.mark.parametrize("part", [slice(None, -2), slice(-8, None)])
    def test_what_names_nothing_looks_as_what_names_something_hidden(self, cast: Cast, part: slice) -> None:
        hidden = cast.author.save("Herons fish at dawn.", visibility="private")
        for said in (hidden.id[part], ABSENT[part]):
            with pytest.raises(NotFound, match=f"no memory {said}"):
                cast.teammate.get(said)

    def test_what_is_hidden_makes_no_part_ambiguous_and_is_no_candidate(self, cast: Cast) -> None:
        shown, hidden = cast.author.save_many(
            [{"content": "One heron."}, {"content": "A secret heron.", "visibility": "private"}]
        )
        shared = shared_beginning(shown.id, hidden.id)
        assert cast.teammate.get(shared).id == shown.id
        with pytest.raises(AmbiguousId):
            cast.author.get(shared)
        third = cast.author.save("Three herons.")
        with pytest.raises(AmbiguousId) as refused:
            cast.teammate.get(shared_beginning(shared, third.id))
        assert {one.id for one in refused.value.candidates} == {shown.id, third.id}

    def test_a_lead_reads_the_parent_by_a_part_too(self, cast: Cast) -> None:
        memory = cast.author.save("Herons fish at dawn.")
        for part in (memory.id[:-2], memory.id[-8:]):
            assert cast.child_lead.get(part).id == memory.id
            with pytest.raises(NotFound):
                cast.outsider.get(part)

    def test_a_lead_is_asked_which_where_two_teams_have_the_part(self, cast: Cast) -> None:
        above = cast.author.save("Herons fish at dawn.", title="Of the parent")
        own = cast.child_lead.save("Herons fish at dusk.", title="Own")
        with pytest.raises(AmbiguousId) as refused:
            cast.child_lead.update(shared_beginning(above.id, own.id), tags=["seen"])
        teams = {(one.team, one.title) for one in refused.value.candidates}
        assert teams == {("squad", "Of the parent"), ("squad-child", "Own")}
        assert cast.child_lead.get(own.id).tags == ()

    @pytest.mark.parametrize("part", [slice(None, -2), slice(-8, None)])
    def test_a_purge_takes_the_whole_id(self, cast: Cast, part: slice) -> None:
        memory = cast.author.save("Herons fish at dawn.")
        with pytest.raises(InvalidInput):
            cast.author.purge(memory.id[part])
        assert cast.author.get(memory.id).content == "Herons fish at dawn."


def shared_beginning(first: str, second: str) -> str:
    return next(first[:length] for length in range(len(first), 0, -1) if second.startswith(first[:length]))
