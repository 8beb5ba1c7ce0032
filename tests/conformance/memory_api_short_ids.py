"""What every way into a team's memory promises about the beginning of an id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mycel.contracts.memory_api import MemoryApi
from mycel.errors import InvalidInput, NotFound
from tests.conformance.memory_api_cast import Cast
from tests.template import ABSENT


def contradicting(api: MemoryApi, id: str) -> str:
    other = api.save("Herons never fish.").id
    api.link(other, id, "contradicts")
    return other


Use = Callable[[MemoryApi, str], Any]
# Whatever takes the id of a memory, but what destroys it.
USES: dict[str, Use] = {
    "get": lambda api, id: api.get(id),
    "history": lambda api, id: api.history(id),
    "links": lambda api, id: api.links(id),
    "usage": lambda api, id: api.usage(id),
    "rate": lambda api, id: api.rate(id, useful=True),
    "explain": lambda api, id: api.explain(memory_id=id),
    "explain what is missing": lambda api, id: api.explain(api.search("the tide").id, missing=id),
    "update": lambda api, id: api.update(id, tags=["seen"]),
    "save what supersedes": lambda api, id: api.save("Herons fish at dusk.", supersedes=id),
    "link": lambda api, id: api.link(api.save("They stand in the lake.").id, id, "supports"),
    "link from": lambda api, id: api.link(id, "project:lake", "applies_to"),
    "unlink": lambda api, id: (
        api.link(id, "project:lake", "applies_to"),
        api.unlink(id, "project:lake", "applies_to"),
    ),
    "consolidate": lambda api, id: api.consolidate(ids=[id], dry_run=True),
    "settle": lambda api, id: api.settle(id, over=contradicting(api, id)),
    "settle over": lambda api, id: api.settle(contradicting(api, id), over=[id]),
    "approve": lambda api, id: api.approve(id),
    "reject": lambda api, id: api.reject(id, "not ours"),
    "delete and restore": lambda api, id: (api.delete(id), api.restore(id)),
}


class ApiShortIds:
    """Needs the fixture `cast`."""

    @pytest.mark.parametrize("use", USES)
    def test_the_beginning_of_an_id_is_as_good_as_the_id(self, cast: Cast, use: str) -> None:
        waits = use in {"reject", "approve"}
        memory = cast.human.save("Herons fish at dawn.", project="lake", needs_review=waits)
        USES[use](cast.admin, memory.id[:-2])

    def test_it_is_taken_with_the_marks_of_a_citation(self, cast: Cast) -> None:
        memory = cast.author.save("Herons fish at dawn.")
        for said in (f"m:{memory.id[:30]}", f"[m:{memory.id[:30]}]", memory.id[:30].upper(), f" {memory.id[:30]} "):
            assert cast.teammate.get(said).id == memory.id

    @pytest.mark.parametrize(
        "said", ["", "01", "019a000", "herons", "019a0000x", "019a0000 0000", "m:", "[m:01]", "-" * 9]
    )
    def test_what_begins_no_id_is_refused(self, cast: Cast, said: str) -> None:
        with pytest.raises(InvalidInput) as refused:
            cast.author.update(said, tags=["a"])
        assert refused.value.field == "id"

    def test_what_begins_nothing_looks_as_what_begins_something_hidden(self, cast: Cast) -> None:
        hidden = cast.author.save("Herons fish at dawn.", visibility="private")
        for beginning in (hidden.id[:-2], ABSENT[:-2]):
            with pytest.raises(NotFound, match=f"no memory {beginning}"):
                cast.teammate.get(beginning)

    def test_a_beginning_of_several_is_refused_and_names_none(self, cast: Cast) -> None:
        first, second = cast.author.save_many([{"content": "One heron."}, {"content": "Two herons."}])
        shared = next(first.id[:end] for end in range(36, 7, -1) if second.id.startswith(first.id[:end]))
        with pytest.raises(InvalidInput, match="several memories") as refused:
            cast.teammate.get(shared)
        assert refused.value.field == "id"
        assert first.id not in str(refused.value)

    def test_what_is_hidden_makes_no_beginning_ambiguous(self, cast: Cast) -> None:
        shown, hidden = cast.author.save_many(
            [{"content": "One heron."}, {"content": "A secret heron.", "visibility": "private"}]
        )
        shared = next(shown.id[:end] for end in range(36, 7, -1) if hidden.id.startswith(shown.id[:end]))
        assert cast.teammate.get(shared).id == shown.id
        with pytest.raises(InvalidInput):
            cast.author.get(shared)

    def test_a_lead_reads_the_parent_by_a_beginning_too(self, cast: Cast) -> None:
        memory = cast.author.save("Herons fish at dawn.")
        assert cast.child_lead.get(memory.id[:-2]).id == memory.id
        with pytest.raises(NotFound):
            cast.outsider.get(memory.id[:-2])

    def test_a_purge_takes_the_whole_id(self, cast: Cast) -> None:
        memory = cast.author.save("Herons fish at dawn.")
        with pytest.raises(InvalidInput):
            cast.author.purge(memory.id[:-2])
        assert cast.author.get(memory.id).content == "Herons fish at dawn."
