"""What every way into a team's memory promises about searching, views and the parent team."""

from __future__ import annotations

from typing import Any

import pytest

from mycel.domain.query import Folder
from mycel.errors import InvalidInput, NotFound
from tests.conformance.memory_api_cast import Cast, outcome


class ApiFinding:
    """Needs the fixture `cast`."""

    def test_a_search_never_reaches_into_what_was_deleted(self, cast: Cast) -> None:
        cast.author.delete(cast.author.save("a heron").id)
        fields: dict[str, Any] = {"deleted": True}
        outcome(lambda: cast.author.search("heron", **fields), InvalidInput)

    def test_search_finds_words_forms_and_identifiers(self, cast: Cast) -> None:
        memory = cast.author.save("The retryBackoff in http_client.py deploys twice", tags=["résumé"])
        cast.author.save("something else entirely")
        for query in ("deploying", "retry", "backoff", "http_client.py", "resume", "DEPLOY"):
            assert [hit.memory.id for hit in cast.teammate.search(query).hits] == [memory.id], query
        assert not cast.teammate.search("kubernetes").hits

    def test_every_hit_says_why_it_was_found(self, cast: Cast) -> None:
        memory = cast.author.save("Herons fish at dawn.", project="p")
        recall = cast.teammate.search("heron dawn")
        [hit] = recall.hits
        assert (hit.memory, hit.team, hit.matched_scope) == (memory, "squad", "project")
        assert 0 < hit.relevance <= 1
        assert "Herons" in hit.snippet
        assert hit.why
        assert hit.breakdown
        assert (recall.query, recall.degraded) == ("heron dawn", ())

    @pytest.mark.parametrize(
        "query",
        ['"', "heron AND", "heron NOT fish", "NEAR(heron fish)", "title:heron", "heron*", "(heron", "^heron", "-heron"],
    )
    def test_query_syntax_is_plain_words(self, cast: Cast, query: str) -> None:
        memory = cast.author.save("A heron may fish near the title.")
        found = [hit.memory.id for hit in cast.author.search(query).hits]
        assert found == ([memory.id] if "heron" in query else [])

    def test_quoted_words_count_as_a_phrase(self, cast: Cast) -> None:
        apart = cast.author.save("grey birds, and a heron")
        together = cast.author.save("a grey heron and a stork on one leg in the reeds")
        found = [hit.memory.id for hit in cast.author.search('"grey heron"', min_relevance=0.01).hits]
        assert found[0] == together.id
        assert set(found) <= {together.id, apart.id}

    def test_search_keeps_to_its_filters(self, cast: Cast) -> None:
        wanted = cast.author.save("heron", type="lesson", path="/birds/grey", tags=["t"])
        cast.author.save("a heron in the reeds", path="/birds")
        cast.author.save("a heron on the roof", type="lesson", needs_review=True)
        for filters in ({"type": "lesson"}, {"path": "/birds/grey"}, {"tags": "t"}):
            fields: dict[str, Any] = filters
            assert [hit.memory.id for hit in cast.human.search("heron", **fields).hits] == [wanted.id]
        assert len(cast.human.search("heron", status="any").hits) == 3

    def test_a_search_in_a_project_reaches_what_is_global_and_the_readers_own(self, cast: Cast) -> None:
        here, everywhere = cast.author.save("heron here", project="p"), cast.author.save("heron everywhere")
        cast.author.save("heron elsewhere", project="q")
        cast.author.save("heron of the author", project="q", scope="agent")
        own = cast.teammate.save("heron of mine", project="q", scope="agent")
        found = {hit.memory.id for hit in cast.teammate.search("heron", project="p").hits}
        assert found == {here.id, everywhere.id, own.id}

    def test_without_a_threshold_everything_that_passes_the_filters_comes(self, cast: Cast) -> None:
        found, other = cast.author.save("heron"), cast.author.save("stork")
        assert [hit.memory.id for hit in cast.author.search("heron", min_relevance=0).hits] == [found.id, other.id]
        assert [hit.memory.id for hit in cast.author.search("").hits] == [other.id, found.id]
        assert [hit.memory.id for hit in cast.author.search(None, limit=1).hits] == [other.id]
        assert not cast.author.search("heron", min_relevance=1, type="lesson").hits

    @pytest.mark.parametrize("least", [-0.1, 1.1, "high", True])
    def test_refuses_a_threshold_out_of_bounds(self, cast: Cast, least: Any) -> None:
        outcome(lambda: cast.author.search("a", min_relevance=least), InvalidInput)

    @pytest.mark.parametrize("query", ["a\0b", "\ud800", 5, "x" * 300_000])
    def test_refuses_a_question_that_is_not_text(self, cast: Cast, query: Any) -> None:
        outcome(lambda: cast.author.search(query), InvalidInput)

    def test_a_lead_also_reads_the_parent_team(self, cast: Cast) -> None:
        above = cast.author.save("a heron above")
        hidden = cast.author.save("a heron for leads", visibility="role", allowed_roles=["lead"])
        below = cast.child_lead.save("a heron below")
        found = {hit.memory.id: hit.team for hit in cast.child_lead.search("heron").hits}
        assert found == {above.id: "squad", below.id: "squad-child"}
        assert cast.child_lead.get(above.id) == above
        assert [memory.id for memory in cast.child_lead.list(team="squad")] == [above.id]
        assert [memory.id for memory in cast.child_lead.list()] == [below.id]
        assert cast.child_lead.tree(team="squad").subdirs == (Folder("/notes", 1),)
        assert [change.memory_id for change in cast.child_lead.changes(team="squad")] == [above.id]
        assert cast.child_lead.history(above.id)
        for read in (cast.child_lead.get, cast.child_lead.history, cast.child_lead.links):
            outcome(lambda read=read: read(hidden.id), NotFound)
        outcome(lambda: cast.author.get(below.id), NotFound)

    @pytest.mark.parametrize("team", ["squad-child", "other", "nowhere"])
    def test_a_team_that_cannot_be_read_is_not_found(self, cast: Cast, team: str) -> None:
        for member in (cast.author, cast.admin, cast.lead):
            for read in (member.list, member.tree, member.changes):
                with pytest.raises(NotFound, match=f"no team {team}"):
                    read(team=team)

    def test_what_is_found_comes_in_the_order_that_was_asked_for(self, cast: Cast) -> None:
        titles = ["heron b", "heron c", "heron a", "stork"]
        ids = {title: cast.author.save(f"{title} {'heron ' * at}", title=title).id for at, title in enumerate(titles)}

        def found(query: str | None, **wanted: Any) -> list[str]:
            return [hit.memory.id for hit in cast.teammate.search(query, **wanted).hits]

        assert found("heron b c a", order_by="title", min_relevance=0)[:3] == [ids[f"heron {one}"] for one in "abc"]
        assert found("", order_by="title DESC", limit=2) == [ids["stork"], ids["heron c"]]
        assert found(None, order_by="created_at ASC") == list(ids.values())
        assert found(None, order_by="-created_at", limit=1) == [ids["stork"]]
        assert found(None) == list(ids.values())[::-1]
        for wrong in ("score", "created_at SIDEWAYS", 5):
            with pytest.raises(InvalidInput) as refused:
                found("heron", order_by=wrong)
            assert refused.value.field == "order_by"

    def test_an_ordered_search_says_why_it_left_something_out(self, cast: Cast) -> None:
        first, later = cast.author.save("a heron at dawn"), cast.author.save("a heron at dusk")
        recall = cast.author.search("heron", order_by="created_at DESC", limit=1)
        assert [hit.memory.id for hit in recall.hits] == [later.id]
        told = cast.author.explain(recall.id, missing=first.id)
        assert (told.step, told.rank) == ("rank", 2)

    def test_without_a_model_there_are_no_vectors_to_answer_with(self, cast: Cast) -> None:
        memory = cast.author.save("a heron")
        assert cast.author.get(memory.id, embedding=True).embedding == ()
        assert [one.embedding for one in cast.author.list(embedding=True)] == [()]
        assert [hit.memory.embedding for hit in cast.author.search("heron", embedding=True).hits] == [()]
        with pytest.raises(InvalidInput) as refused:
            cast.author.get(memory.id, embedding="yes")  # pyright: ignore[reportArgumentType]
        assert refused.value.field == "embedding"

    def test_views_keep_a_question_for_their_owner(self, cast: Cast) -> None:
        lesson = cast.author.save("Herons are patient.", type="lesson")
        other = cast.author.save("Herons are grey.")
        cast.teammate.views.save("birds", query="heron", type="lesson")
        cast.teammate.views.save("all", type=["lesson", "fact"], since=lesson.created_at)
        assert [view.name for view in cast.teammate.views.list()] == ["all", "birds"]
        assert cast.author.views.list() == []
        assert [hit.memory.id for hit in cast.teammate.views.run("birds").hits] == [lesson.id]
        assert [hit.memory.id for hit in cast.teammate.views.run("all").hits] == [other.id, lesson.id]
        cast.teammate.views.save("birds", query="stork")
        assert not cast.teammate.views.run("birds").hits
        outcome(lambda: cast.author.views.run("birds"), NotFound)
        outcome(lambda: cast.author.views.delete("birds"), NotFound)
        cast.teammate.views.delete("birds")
        outcome(lambda: cast.teammate.views.run("birds"), NotFound)
        wrong: dict[str, Any] = {"type": "rumour"}
        outcome(lambda: cast.author.views.save("x", **wrong), InvalidInput)
