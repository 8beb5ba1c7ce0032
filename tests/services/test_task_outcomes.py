"""What the ledger says of a reported task."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.earlier_schema import before_terms
from tests.squad import Squad, file_of, open_squad, wide_embedder

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


def test_the_outcome_of_a_failed_task_is_what_was_said_and_no_more(squad: Squad) -> None:
    record = squad.author.after_task(
        task_id="T-1", action="failed", approach="raise the pool size", what_went_wrong="the database refused"
    )
    assert record.episode.outcome == "the database refused"
    assert record.episode.memory.content == "raise the pool size\n\nFailed: the database refused"


@pytest.mark.files_only
def test_a_ledger_of_before_counts_no_titles_as_approaches(tmp_path: Path) -> None:
    with open_squad(tmp_path).workspace as workspace:
        author = workspace.as_member("swe-1")
        author.fail_task(task_id="T-1", output="", what_went_wrong="The disk was full.")
        author.after_task(task_id="T-2", approach="clean the disk", output="done")
        author.after_task(task_id="T-3", approach="empty the disk", output="done")
    connection = apsw.Connection(str(file_of(tmp_path)))
    # As it was: the title had a wording, and began a group that an approach has joined.
    connection.execute(
        """
        UPDATE episodes SET wording = 7, approach_group = 7 WHERE approach_end = 0;
        INSERT INTO approaches (wording, approach_group, model, vector) VALUES (7, 7, 'words', x'01');
        UPDATE approaches SET approach_group = 7, model = 'words' WHERE id = 2;
        UPDATE episodes SET approach_group = 7 WHERE wording = (SELECT wording FROM approaches WHERE id = 2);
        DROP INDEX memories_waiting; DROP INDEX memory_links_superseding; DROP INDEX memories_taught;"""
    )
    before_terms(connection, version=12)
    connection.close()
    with open_squad(tmp_path, embedder=wide_embedder()).workspace as workspace:
        rates = workspace.as_member("swe-1").episodes.success_rates()
        assert {rate.name for rate in rates} == {"clean the disk", "empty the disk"}
        assert workspace.as_member("swe-1").before_task("T-1").avoid[0].task_id == "T-1"
    connection = apsw.Connection(str(file_of(tmp_path)))
    assert connection.execute("SELECT * FROM approaches WHERE wording = 7 OR approach_group = 7").fetchall() == []
    connection.close()


def test_the_outcome_of_a_completed_task_is_left_as_it_is(squad: Squad) -> None:
    told = "What went wrong: nothing."
    record = squad.author.after_task(task_id="T-1", action="completed", approach="wait", output=told)
    assert record.episode.outcome == told
