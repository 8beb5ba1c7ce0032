"""What a person does to notes, and what a team does to memories, reaches the other side."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from mycel.errors import AccessDenied, Conflict, Misconfigured, NotFound
from mycel.surfaces.vault.agreement import FILE, FOLDER
from mycel.surfaces.vault.sync import status
from tests.surfaces.vault.bench import Bench


def test_memories_become_notes_in_the_folders_of_their_paths(lead: Bench) -> None:
    saved = lead.save("Use Postgres for prices. It has ranges.", type="decision", project="pricing", tags=["db"])
    lead.sync()
    text = (lead.root / "projects/pricing/decisions/Use Postgres for prices.md").read_text()
    assert text == (
        f"---\nid: {saved.id}\ntype: decision\nstatus: active\n"
        'title: "Use Postgres for prices."\ntags: [db]\nscope: project\nproject: pricing\n'
        'by: "lead-1"\nversion: 1\n---\n'
        "Use Postgres for prices. It has ranges.\n"
    )


def test_an_edit_of_a_note_is_the_next_version_of_its_memory(lead: Bench) -> None:
    saved = lead.save("Deploys happen on Tuesdays.")
    lead.sync()
    path = lead.only_file()
    path.write_text(path.read_text().replace("Tuesdays.\n", "Wednesdays.\n").replace("type: fact", "type: lesson"))
    report = lead.sync()
    found = lead.memory.get(saved.id)
    assert (found.version, found.content, found.type) == (2, "Deploys happen on Wednesdays.", "lesson")
    assert "version: 2\n" in path.read_text()
    assert (report.updated, report.conflicts) == (("notes/Deploys happen on Tuesdays.md",), ())


def test_a_new_note_becomes_a_memory_and_keeps_what_its_writer_wrote(lead: Bench) -> None:
    lead.root.mkdir()
    path = lead.write(
        "ideas/Cache prices.md", "---\n# mine\nmood: 'good'   # very\ntags: [Speed]\n---\n\nFor an hour.\n"
    )
    lead.sync()
    (memory,) = lead.memory.list()
    assert (memory.title, memory.path, memory.content) == ("Cache prices", "/ideas", "For an hour.")
    assert memory.tags == ("speed",)
    text = path.read_text()
    assert text.startswith("---\n# mine\nmood: 'good'   # very\ntags: [Speed]\n")
    assert text.endswith("---\n\nFor an hour.\n")
    assert f"id: {memory.id}\n" in text


def test_changes_in_memory_reach_the_note(lead: Bench) -> None:
    saved = lead.save("Deploys happen on Tuesdays.")
    lead.sync()
    lead.memory.update(saved.id, content="Deploys happen daily.", tags=["ops"])
    lead.sync()
    text = lead.only_file().read_text()
    assert text.endswith("---\nDeploys happen daily.\n")
    assert "tags: [ops]" in text


def test_both_sides_change_different_things_and_both_hold(lead: Bench) -> None:
    saved = lead.save("Deploys happen on Tuesdays.")
    lead.sync()
    path = lead.only_file()
    path.write_text(path.read_text().replace("Tuesdays.\n", "Wednesdays.\n"))
    lead.memory.update(saved.id, tags=["ops"])
    report = lead.sync()
    found = lead.memory.get(saved.id)
    assert (found.content, found.tags, report.conflicts) == ("Deploys happen on Wednesdays.", ("ops",), ())


def test_both_sides_change_the_text_and_both_texts_are_kept(lead: Bench) -> None:
    saved = lead.save("Deploys happen on Tuesdays.")
    lead.sync()
    path = lead.only_file()
    path.write_text(path.read_text().replace("Tuesdays.\n", "Wednesdays.\n"))
    lead.memory.update(saved.id, content="Deploys happen daily.")
    (copy,) = lead.sync().conflicts
    assert path.read_text().endswith("Deploys happen daily.\n")
    assert (lead.root / copy).read_text().endswith("Deploys happen on Wednesdays.\n")
    (waiting,) = lead.memory.inbox()
    assert waiting.memory.content == "Deploys happen on Wednesdays."
    assert waiting.memory.metadata["conflict_of"] == saved.id
    before = lead.everything()
    lead.sync()
    assert lead.everything() == before


def test_an_edit_of_what_was_deleted_meanwhile_is_kept_beside_and_asked_about(lead: Bench) -> None:
    saved = lead.save("Deploys happen on Tuesdays.")
    lead.sync()
    path = lead.only_file()
    path.write_text(path.read_text().replace("Tuesdays.\n", "Wednesdays.\n"))
    lead.memory.delete(saved.id)
    (copy,) = lead.sync().conflicts
    assert not path.exists()
    assert (lead.root / copy).read_text().endswith("Deploys happen on Wednesdays.\n")
    assert [one.memory.content for one in lead.memory.inbox()] == ["Deploys happen on Wednesdays."]


def test_a_note_deleted_here_and_edited_there_comes_back(lead: Bench) -> None:
    saved = lead.save("Deploys happen on Tuesdays.")
    lead.sync()
    lead.only_file().unlink()
    lead.memory.update(saved.id, content="Deploys happen daily.")
    lead.sync()
    assert lead.only_file().read_text().endswith("Deploys happen daily.\n")


def test_a_deleted_note_deletes_its_memory_which_can_be_restored(lead: Bench) -> None:
    saved = lead.save("Deploys happen on Tuesdays.")
    lead.sync()
    lead.only_file().unlink()
    assert lead.sync().deleted == ("notes/Deploys happen on Tuesdays.md",)
    with pytest.raises(NotFound):
        lead.memory.get(saved.id)
    lead.memory.restore(saved.id)
    lead.sync()
    assert lead.only_file().read_text().endswith("Deploys happen on Tuesdays.\n")


def test_a_note_that_is_put_back_brings_its_memory_back(lead: Bench) -> None:
    saved = lead.save("Prices are gross.")
    lead.sync()
    path = lead.only_file()
    text = path.read_bytes()
    path.unlink()
    assert lead.sync().deleted
    # As whoever takes it out of the trash does, or goes back and forth between commits.
    path.write_bytes(text)
    assert lead.sync().restored == ("notes/Prices are gross.md",)
    assert lead.memory.get(saved.id).content == "Prices are gross."
    before = lead.everything()
    assert lead.sync().is_agreed
    assert lead.everything() == before


def test_a_note_that_is_put_back_with_an_edit_loses_neither_text(lead: Bench) -> None:
    saved = lead.save("Prices are gross.")
    lead.sync()
    path = lead.only_file()
    text = path.read_text()
    path.unlink()
    lead.sync()
    path.write_text(text.replace("gross", "net"))
    lead.sync()
    assert lead.memory.get(saved.id).content == "Prices are gross."
    assert [one.memory.content for one in lead.memory.inbox()] == ["Prices are net."]


def test_what_was_purged_is_not_brought_back_by_its_note(lead: Bench) -> None:
    saved = lead.save("Prices are gross.")
    lead.sync()
    path = lead.only_file()
    text = path.read_bytes()
    path.unlink()
    lead.sync()
    lead.memory.purge(saved.id)
    path.write_bytes(text)
    for _ in range(2):
        report = lead.sync()
        assert not report.restored
        (problem,) = report.problems
        assert "no memory has" in problem.about
    assert not lead.memory.list(status="any")


def test_what_others_deleted_is_not_brought_back_by_its_note(lead: Bench) -> None:
    saved = lead.save("Prices are gross.")
    lead.sync()
    path = lead.only_file()
    text = path.read_bytes()
    lead.memory.delete(saved.id)
    lead.sync()
    lead.write("notes/Prices are gross.md", text.decode())
    (problem,) = lead.sync().problems
    assert "no memory has" in problem.about


def test_the_status_names_the_notes_that_a_sync_would_write(lead: Bench) -> None:
    lead.sync()
    lead.save("Deploys happen on Tuesdays.", path="/ops")
    assert status(lead.root, lead.memory).written == ("ops/Deploys happen on Tuesdays.md",)
    assert lead.sync().written == ("ops/Deploys happen on Tuesdays.md",)


def test_a_deleted_memory_takes_its_note_along(lead: Bench) -> None:
    saved = lead.save("Deploys happen on Tuesdays.")
    lead.sync()
    lead.memory.delete(saved.id)
    lead.sync()
    assert lead.files() == []
    assert not (lead.root / "notes").exists()


def test_a_rename_with_an_edit_and_a_move_is_the_same_memory(lead: Bench) -> None:
    saved = lead.save("Deploys happen on Tuesdays.")
    lead.sync()
    path = lead.only_file()
    target = lead.write("rules/When we deploy.md", path.read_text().replace("Tuesdays.\n", "Wednesdays.\n"))
    path.unlink()
    lead.sync()
    found = lead.memory.get(saved.id)
    assert (found.title, found.path, found.content) == ("When we deploy", "/rules", "Deploys happen on Wednesdays.")
    assert lead.only_file() == target


def test_a_memory_that_moves_or_gets_a_title_moves_its_note(lead: Bench) -> None:
    saved = lead.save("Deploys happen on Tuesdays.")
    lead.sync()
    lead.memory.update(saved.id, path="/rules", title="When we deploy")
    lead.sync()
    assert lead.files() == ["rules/When we deploy.md"]


def test_a_copied_id_is_reported_and_not_merged(lead: Bench) -> None:
    saved = lead.save("Deploys happen on Tuesdays.")
    lead.sync()
    path = lead.only_file()
    copy = lead.write("notes/copy.md", path.read_text().replace("Tuesdays.\n", "Fridays.\n"))
    report = lead.sync()
    assert [problem.file for problem in report.problems] == ["notes/copy.md"]
    assert "has the id of" in report.problems[0].about
    assert lead.memory.get(saved.id).content == "Deploys happen on Tuesdays."
    assert copy.read_text().endswith("Fridays.\n")


def test_a_note_over_another_leaves_the_memory_of_that_alone(lead: Bench) -> None:
    first, second = lead.save("First."), lead.save("Second.")
    lead.sync()
    one, other = lead.root / "notes/First.md", lead.root / "notes/Second.md"
    other.write_text(one.read_text())
    lead.sync()
    assert {lead.memory.get(one.id).content for one in (first, second)} == {"First.", "Second."}


def test_purged_stays_purged(lead: Bench) -> None:
    saved = lead.save("The customer is called Example Ltd.")
    lead.sync()
    path = lead.only_file()
    kept = path.read_text()
    lead.memory.purge(saved.id)
    lead.sync()
    assert lead.files() == []
    # The title is its first sentence, and stood in the log of what was agreed on.
    assert not any(b"Example" in content for content in lead.everything().values())
    # From a copy of the folder, or by git.
    lead.write("notes/back.md", kept)
    report = lead.sync()
    assert ["which no memory has" in problem.about for problem in report.problems] == [True]
    assert list(lead.memory.list()) == []


def test_an_edit_of_what_was_purged_is_not_saved_by_itself(lead: Bench) -> None:
    saved = lead.save("The customer is called Example Ltd.")
    lead.sync()
    path = lead.only_file()
    path.write_text(path.read_text() + "And pays late.\n")
    lead.memory.purge(saved.id)
    (copy,) = lead.sync().conflicts
    assert (lead.root / copy).read_text().endswith("And pays late.\n")
    assert list(lead.memory.inbox()) == []


def test_what_a_member_may_not_see_is_not_there(lead: Bench, agent: Bench) -> None:
    agent.save("A thought of my own.", visibility="private")
    shared = agent.save("For leads.", visibility="role", allowed_roles=["lead"])
    lead.sync()
    assert lead.files() == ["notes/For leads.md"]
    agent.memory.update(shared.id, visibility="private")
    lead.sync()
    assert lead.files() == []
    agent.sync()
    assert agent.files() == ["notes/A thought of my own.md", "notes/For leads.md"]


def test_taking_out_who_may_read_a_note_shows_it_to_nobody_else(agent: Bench) -> None:
    saved = agent.save("A thought of my own.", visibility="private")
    agent.sync()
    path = agent.only_file()
    path.write_text(path.read_text().replace("visibility: private\n", "").replace("own.\n", "mine.\n"))
    agent.sync()
    found = agent.memory.get(saved.id)
    assert (found.visibility, found.content) == ("private", "A thought of my mine.")
    assert "visibility: private\n" in path.read_text()


def test_an_edit_that_is_not_allowed_stays_in_the_file_and_is_told(lead: Bench, agent: Bench) -> None:
    saved = lead.save("Deploys happen on Tuesdays.")
    agent.sync()
    path = agent.only_file()
    path.write_text(path.read_text().replace("Tuesdays.\n", "Fridays.\n"))
    report = agent.sync()
    assert ["can change this memory" in problem.about for problem in report.problems] == [True]
    assert lead.memory.get(saved.id).content == "Deploys happen on Tuesdays."
    assert path.read_text().endswith("Fridays.\n")
    path.unlink()
    agent.sync()
    assert path.read_text().endswith("Tuesdays.\n")


def test_front_matter_taken_off_is_put_back_and_the_memory_is_the_same(lead: Bench) -> None:
    saved = lead.save("Deploys happen on Tuesdays.", tags=["ops"])
    lead.sync()
    path = lead.only_file()
    path.write_text("Deploys happen daily.\n")
    lead.sync()
    found = lead.memory.get(saved.id)
    assert (found.content, found.tags) == ("Deploys happen daily.", ("ops",))
    assert f"id: {saved.id}\n" in path.read_text()


def test_links_are_wiki_links_both_ways(lead: Bench) -> None:
    one, other = lead.save("First thing."), lead.save("Second thing.")
    lead.memory.link(one.id, other.id, "supports")
    lead.sync()
    path = lead.root / "notes/First thing.md"
    assert 'supports: ["[[Second thing]]"]\n' in path.read_text()
    second = lead.root / "notes/Second thing.md"
    second.write_text(second.read_text().replace("version:", 'related_to: ["[[First thing|it]]"]\nversion:'))
    path.write_text(path.read_text().replace('supports: ["[[Second thing]]"]\n', ""))
    lead.sync()
    found = {(link.from_id, link.relation.value, link.to_id) for link in lead.memory.links(one.id)}
    assert found == {(other.id, "related_to", one.id)}


def test_a_link_follows_the_note_it_leads_to(lead: Bench) -> None:
    one, other = lead.save("First thing."), lead.save("Second thing.")
    lead.memory.link(one.id, other.id, "supports")
    lead.sync()
    (lead.root / "notes/Second thing.md").rename(lead.root / "notes/Another name.md")
    lead.sync()
    assert 'supports: ["[[Another name]]"]\n' in (lead.root / "notes/First thing.md").read_text()
    assert len(lead.memory.links(one.id)) == 1


def test_new_notes_may_link_to_each_other(lead: Bench) -> None:
    lead.write("a.md", '---\nsupports: ["[[b]]"]\n---\nOne.\n')
    lead.write("b.md", '---\nsupports: "[[a]]"\n---\nTwo.\n')
    assert lead.sync().problems == ()
    assert {len(lead.memory.links(memory.id)) for memory in lead.memory.list()} == {2}


def test_ten_rounds_after_agreement_write_nothing(lead: Bench) -> None:
    one = lead.save("First thing.", tags=["a"])
    lead.memory.link(one.id, lead.save("Second.").id, "supports")
    lead.write("notes/new.md", "Mine.\n")
    lead.sync()
    before, version = lead.everything(), lead.memory.get(one.id).version
    for _ in range(10):
        assert lead.sync().is_agreed
    assert lead.everything() == before
    assert lead.memory.get(one.id).version == version


def test_a_secret_in_a_note_is_masked_on_both_sides(lead: Bench) -> None:
    path = lead.write("notes/key.md", "The key is ghp_abcdefghijklmnopqrstuvwxyz0123456789.\n")
    lead.sync()
    (memory,) = lead.memory.list(status=["active", "inbox"])
    assert "ghp_abcdef" not in memory.content
    assert "ghp_abcdef" not in path.read_text()


class TestAccidents:
    def many(self, lead: Bench, number: int = 30) -> None:
        for count in range(number):
            lead.save(f"Thing number {count} of many.")
        lead.sync()

    def test_more_than_a_tenth_of_the_notes_gone_deletes_nothing(self, lead: Bench) -> None:
        self.many(lead)
        for file in lead.files()[:4]:
            (lead.root / file).unlink()
        lead.write("notes/new.md", "Mine.\n")
        with pytest.raises(Conflict, match="4 of 30 notes are gone"):
            lead.sync()
        assert len(lead.memory.list(limit=100)) == 30
        lead.deletions = True
        lead.sync()
        assert len(lead.memory.list(limit=100)) == 27

    def test_a_tenth_may_go(self, lead: Bench) -> None:
        self.many(lead)
        for file in lead.files()[:3]:
            (lead.root / file).unlink()
        lead.sync()
        assert len(lead.memory.list(limit=100)) == 27

    def test_a_team_that_seems_empty_removes_no_notes(self, lead: Bench) -> None:
        self.many(lead)
        for memory in lead.memory.list(limit=100):
            lead.memory.delete(memory.id)
        with pytest.raises(Conflict, match="30 of 30 memories are gone"):
            lead.sync()
        assert len(lead.files()) == 30

    def test_a_missing_root_deletes_nothing_and_says_so(self, lead: Bench) -> None:
        self.many(lead, 3)
        shutil.rmtree(lead.root)
        with pytest.raises(NotFound, match="is gone: is its disk there"):
            lead.sync()
        assert not lead.root.exists()
        assert len(lead.memory.list()) == 3

    def test_an_empty_mount_point_is_no_new_vault(self, lead: Bench) -> None:
        self.many(lead, 3)
        shutil.rmtree(lead.root)
        lead.root.mkdir()
        with pytest.raises(NotFound, match="was a vault"):
            lead.sync()
        assert lead.files() == []
        assert len(lead.memory.list()) == 3

    @pytest.mark.parametrize(
        "damage", [b"", b"{}\n", b"\xff\xfe\n", b'{"vault": "x"}\nnonsense\n{"cursor": 1}\n', None]
    )
    def test_an_unreadable_marker_deletes_nothing_and_says_so(self, lead: Bench, damage: bytes | None) -> None:
        self.many(lead, 3)
        marker = lead.root / FOLDER / FILE
        marker.unlink() if damage is None else marker.write_bytes(damage)
        for file in lead.files():
            (lead.root / file).unlink()
        with pytest.raises(Misconfigured, match="nobody can tell what was deleted"):
            lead.sync()
        assert len(lead.memory.list()) == 3

    def test_what_a_killed_process_left_of_a_line_is_passed_over(self, lead: Bench) -> None:
        self.many(lead, 3)
        marker = lead.root / FOLDER / FILE
        marker.write_bytes(marker.read_bytes() + b'{"gone": "01')
        lead.write("notes/new.md", "Mine.\n")
        assert lead.sync().saved == ("notes/new.md",)
        assert lead.sync().is_agreed

    def test_a_folder_of_many_own_notes_is_taken_in_only_when_told(self, lead: Bench) -> None:
        for count in range(21):
            lead.write(f"diary/{count}.md", f"Day {count}.\n")
        lead.taking_in = False
        with pytest.raises(Conflict, match="21 notes in this folder"):
            lead.sync()
        assert list(lead.memory.list()) == []
        lead.taking_in = True
        lead.sync()
        assert len(lead.memory.list(limit=100)) == 21

    def test_a_vault_is_of_one_member(self, lead: Bench, bench_of: Callable[[str], Bench]) -> None:
        lead.sync()
        other = bench_of("lead-2")
        other.root = lead.root
        with pytest.raises(AccessDenied, match="this vault is of lead-1"):
            other.sync()

    def test_a_copy_of_a_vault_is_taken_up_without_an_agreement(
        self, lead: Bench, bench_of: Callable[[str], Bench]
    ) -> None:
        """As a clone by git is, which leaves the vault's own folder out."""
        one, other = lead.save("First."), lead.save("Second.")
        lead.sync()
        clone = bench_of("lead-2")
        shutil.copytree(lead.root / "notes", clone.root / "notes")
        path = clone.root / "notes/First.md"
        path.write_text(path.read_text().replace("First.\n", "First, by the clone.\n"))
        lead.memory.update(other.id, content="Second, later.")
        report = clone.sync()
        assert lead.memory.get(one.id).content == "First, by the clone."
        assert (clone.root / "notes/Second.md").read_text().endswith("Second, later.\n")
        assert len(report.conflicts) == 1
