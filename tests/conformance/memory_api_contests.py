"""What every way into a team's memory promises about memories that contradict each other."""

from __future__ import annotations

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.recall import Hit
from mycel.domain.validity import Validity
from tests.conformance.memory_api_cast import Cast

WORDS = "gateway port"


def hit_of(api: MemoryApi, id: str) -> Hit:
    return next(hit for hit in api.search(WORDS).hits if hit.memory.id == id)


class ApiContests:
    """Needs the fixture `cast`."""

    def test_a_hit_says_how_many_others_contradict_it(self, cast: Cast) -> None:
        standing = cast.author.save("The gateway listens on port 9000.", type="decision").id
        assert hit_of(cast.teammate, standing).contested_by == 0
        assert hit_of(cast.teammate, standing).memory.validity is Validity.CURRENT
        others = [cast.author.save(f"The gateway listens on port {port}.").id for port in (9100, 9200)]
        # Whichever end the link begins at.
        cast.author.link(others[0], standing, "contradicts")
        cast.author.link(standing, others[1], "contradicts")
        hit = hit_of(cast.teammate, standing)
        assert hit.contested_by == 2
        assert hit.why.endswith("; contradicted by 2 others.")
        assert hit.memory.validity is Validity.CONTESTED
        assert hit_of(cast.teammate, others[0]).why.endswith("; contradicted by 1 other.")
        # Asked again, it is the same answer.
        assert hit_of(cast.teammate, standing) == hit
        cast.author.delete(others[0])
        assert hit_of(cast.teammate, standing).contested_by == 1
        cast.lead.settle(standing, over=others[1])
        assert hit_of(cast.teammate, standing).contested_by == 0
        assert cast.teammate.get(standing).validity is Validity.CURRENT

    def test_whatever_is_read_is_not_called_current_while_it_is_contested(self, cast: Cast) -> None:
        one, other = (cast.author.save(f"The gateway listens on port {port}.") for port in (9000, 9100))
        past = cast.author.save("The gateway listened on port 80.", valid_until="2020-01-01")
        for id in (one.id, past.id):
            cast.author.link(other.id, id, "contradicts")
        read = [
            cast.teammate.get(one.id),
            *(memory for memory in cast.teammate.list() if memory.id in {one.id, other.id}),
            *(memory for memory in cast.teammate.recent() if memory.id in {one.id, other.id}),
            *(memory for memory in cast.teammate.tree(one.path).items if memory.id in {one.id, other.id}),
        ]
        assert {memory.validity for memory in read} == {Validity.CONTESTED}
        assert len(read) == 7
        assert cast.teammate.get(past.id).validity is Validity.PAST

    def test_what_the_reader_may_not_see_is_not_counted(self, cast: Cast) -> None:
        standing = cast.author.save("The gateway listens on port 9000.").id
        hidden = cast.author.save("The gateway listens on port 9100.", visibility="private").id
        cast.author.link(hidden, standing, "contradicts")
        assert hit_of(cast.author, standing).contested_by == 1
        seen = hit_of(cast.teammate, standing)
        assert (seen.contested_by, seen.memory.validity) == (0, Validity.CURRENT)
        assert "contradicted" not in seen.why
        assert cast.teammate.get(standing).validity is Validity.CURRENT
