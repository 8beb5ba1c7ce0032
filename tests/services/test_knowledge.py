"""Knowledge beyond its promises to callers: what happens in a race, in a replay, after a purge."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.domain import fields
from mycel.domain.knowledge import Outcome
from mycel.domain.memory import Status
from mycel.errors import AccessDenied, Conflict, InvalidInput
from tests.squad import Squad, open_squad

pytestmark = pytest.mark.each_database(slow=True)


NOTES = "# Facts\n- port: 80\n- host: one\n"


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


def test_of_two_that_found_nothing_one_writes(squad: Squad) -> None:
    def first(number: int) -> Status | type[Conflict]:
        member = (squad.author, squad.teammate)[number % 2]
        try:
            return member.knowledge.upsert(key="k", value=f"v{number}", expected_version=0).status
        except Conflict:
            return Conflict

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(first, range(16)))
    assert outcomes.count(Status.ACTIVE) == 1
    assert outcomes.count(Conflict) == 15


def test_all_candidates_are_decided_however_many_wait(squad: Squad, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "MAX_PAGE", 5)
    standing = squad.author.knowledge.upsert(key="k", value="stands")
    squad.teammate.save_many(
        [{"content": f"v{n}", "key": "k", "category": "fact", "confidence": 0.5} for n in range(11)]
    )
    squad.teammate.knowledge.upsert(key="k", value="one more", confidence=0.5)
    assert squad.lead.knowledge.arbitrate(standing.id) == standing
    assert len(squad.lead.knowledge.candidates()) == 0


def test_a_contested_value_is_so_no_longer_once_it_is_decided(squad: Squad) -> None:
    standing = squad.author.knowledge.upsert(key="port", value="The service listens on port 8080.")
    other = squad.teammate.knowledge.upsert(key="port", value="The service listens on port 9090.", confidence=0.5)
    squad.lead.link(standing.id, other.id, "contradicts")
    held = squad.lead.knowledge.arbitrate(other.id)
    assert "mycel_contested" not in held.metadata
    assert "mycel_review" not in held.metadata


def test_somebody_of_low_trust_decides_nothing_whatever_its_role(squad: Squad) -> None:
    squad.workspace.add_member("lead-new", team="squad", role="lead", trust="low")
    standing = squad.author.knowledge.upsert(key="k", value="a")
    squad.teammate.knowledge.upsert(key="k", value="b", confidence=0.1)
    with pytest.raises(AccessDenied):
        squad.workspace.as_member("lead-new").knowledge.arbitrate(standing.id)


def test_a_search_of_knowledge_is_explained_and_replayed(squad: Squad) -> None:
    note = squad.author.save("The heron stands on the lake.")
    squad.author.knowledge.upsert(key="bird", value="The heron is grey.")
    recall = squad.author.knowledge.search("heron")
    told = squad.author.explain(recall.id, missing=note.id)
    assert (told.step, told.filter) == ("filter", "knowledge")


def test_a_saved_view_of_knowledge_survives(squad: Squad) -> None:
    squad.author.save("The heron stands on the lake.")
    value = squad.author.knowledge.upsert(key="bird", value="The heron is grey.")
    squad.author.views.save("known", query="heron", knowledge=True)
    assert [hit.memory.id for hit in squad.author.views.run("known").hits] == [value.id]


def test_two_members_who_import_the_same_file_agree(squad: Squad) -> None:
    first = squad.author.knowledge.import_markdown(NOTES, name="a.md")
    second = squad.teammate.knowledge.import_markdown(NOTES, name="a.md")
    assert {entry.outcome for entry in second.entries} == {Outcome.UNCHANGED}
    assert [one.memory_id for one in second.entries] == [one.memory_id for one in first.entries]
    assert second.missing == ()


def test_a_surer_import_of_the_same_file_makes_its_values_surer(squad: Squad) -> None:
    first = squad.author.knowledge.import_markdown(NOTES, name="a.md", confidence=0.5)
    again = squad.author.knowledge.import_markdown(NOTES, name="a.md", confidence=0.9)
    assert {entry.outcome for entry in again.entries} == {Outcome.UPDATED}
    assert again.source_id == first.source_id
    value = squad.author.knowledge.get(key="port")
    assert (value.confidence, value.evidence_ref and value.evidence_ref.source_id) == (0.9, first.source_id)
    weaker = squad.author.knowledge.import_markdown(NOTES, name="a.md", confidence=0.1)
    assert {entry.outcome for entry in weaker.entries} == {Outcome.UNCHANGED}


def test_a_purged_entry_is_blanked_in_the_file_and_not_the_others(squad: Squad) -> None:
    report = squad.author.knowledge.import_markdown(NOTES, name="a.md")
    squad.author.purge(str(report.entries[0].memory_id))
    text = squad.author.sources.get(str(report.source_id)).text
    assert text == NOTES.replace("80", "\N{FULL BLOCK}" * 2)
    assert squad.author.knowledge.get(key="host").content == "one"


def test_an_import_is_stored_whole_or_not_at_all(squad: Squad) -> None:
    squad.workspace.as_operator("squad").set_policy(secrets="refuse")
    with pytest.raises(InvalidInput, match="text"):
        squad.author.knowledge.import_markdown(f"{NOTES}- token: ghp_{'a1B2c3D4e5F6' * 3}\n", name="a.md")
    many = "# Facts\n" + "".join(f"- k{number}: v\n" for number in range(1001))
    with pytest.raises(InvalidInput, match="1001 entries"):
        squad.author.knowledge.import_markdown(many, name="a.md")
    assert (len(squad.author.list(status="any")), len(squad.author.sources.list())) == (0, 0)


def test_a_dry_run_makes_no_store(tmp_path: Path) -> None:
    with open_workspace(tmp_path) as workspace:
        report = workspace.as_member("operator").knowledge.import_markdown(NOTES, name="a.md", dry_run=True)
    assert report.count(Outcome.CREATED) == 2
    assert not (tmp_path / "teams").exists()


def test_an_import_lasts(squad: Squad) -> None:
    squad.workspace.as_operator("squad").set_policy(lives={"import": "1d", "manual": "1d"})
    squad.author.knowledge.import_markdown(NOTES, name="a.md")
    squad.pass_time(days=400)
    squad.workspace.maintain()
    assert squad.author.knowledge.get(key="port").content == "80"


def test_the_same_file_as_a_document_is_another_matter(squad: Squad) -> None:
    squad.author.index_file("a.md", NOTES)
    report = squad.author.knowledge.import_markdown(NOTES, name="a.md")
    assert {entry.outcome for entry in report.entries} == {Outcome.CREATED}
    squad.author.index_file("a.md", NOTES)
    assert len(squad.author.list(type="document")) == 1


def test_another_category_for_what_has_none_is_written_there(squad: Squad) -> None:
    text = "# Deploy\nBuild, then ship.\n"
    squad.author.knowledge.import_markdown(text, name="a.md")
    report = squad.author.knowledge.import_markdown(text, name="a.md", category="convention")
    assert [entry.outcome for entry in report.entries] == [Outcome.CREATED]
    assert [(entry.key, entry.category) for entry in report.missing] == [("deploy", "fact")]


def test_a_file_with_signs_that_cannot_be_seen_in_its_headings_is_imported(squad: Squad) -> None:
    text = "# Conventions\n\n## \N{WOMAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER} Naming\tof things\n\nUse nouns.\n"
    (entry,) = squad.author.knowledge.import_markdown(text, name="team.md").entries
    assert squad.author.get(entry.memory_id or "").content == "Use nouns."


def test_a_value_is_found_however_many_projects_have_its_key(squad: Squad) -> None:
    for project in (None, "billing"):
        squad.author.knowledge.upsert(key="imports", value=f"of {project}", project=project)
    values = [{"content": "x", "key": "imports", "category": "fact", "project": f"p{at}"} for at in range(1000)]
    squad.author.save_many(values)
    assert squad.author.knowledge.get(key="imports", project="billing").content == "of billing"
    assert squad.author.knowledge.get(key="imports").content == "of None"


def test_a_secret_in_a_reason_is_masked(squad: Squad) -> None:
    secret = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0" * 2
    standing = squad.lead.knowledge.upsert(key="k", value="one")
    candidate = squad.author.knowledge.upsert(key="k", value="two", confidence=0.5)
    squad.lead.knowledge.arbitrate(candidate.id, reason=f"it works with {secret}")
    squad.author.update(candidate.id, tags=["x"], reason=f"again with {secret}")
    waiting = squad.author.knowledge.upsert(key="k", value="three", confidence=0.1)
    squad.lead.reject(waiting.id, reason=f"wrong with {secret}")
    told = [version.reason for id in (standing.id, candidate.id, waiting.id) for version in squad.lead.history(id)]
    assert "it works with" in str(told)
    assert secret not in str(told)
