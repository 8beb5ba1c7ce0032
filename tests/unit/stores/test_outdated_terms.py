"""Whether terms of an earlier analyser are there is asked before every search: the index for it has to fit."""

import re
from importlib.resources import files

import apsw
import pytest

from mycel.retrieval.terms import ANALYSER
from mycel.stores.sql.index import OUTDATED


@pytest.mark.parametrize(
    ("package", "folder"), [("mycel.stores.sqlite", "team"), ("mycel.stores.postgres", "database")]
)
def test_the_index_holds_what_is_older_than_the_analyser_of_today(package: str, folder: str) -> None:
    assert f"WHERE analyser < {ANALYSER};" in newest_in(package, folder)


def newest_in(package: str, name: str) -> str:
    """The last statement of any migration that makes the index of outdated terms."""
    folder = files(package).joinpath("migrations").joinpath(name)
    texts = [one.read_text() for one in sorted(folder.iterdir(), key=lambda one: one.name) if one.name.endswith(".sql")]
    return re.findall(r"CREATE INDEX memory_terms_outdated[^;]*;", "\n".join(texts))[-1]


def test_it_is_asked_by_that_index_alone() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE memory_terms (number INTEGER PRIMARY KEY, terms BLOB, analyser INTEGER)")
    connection.execute(newest_in("mycel.stores.sqlite", "team"))
    plan = connection.execute(f"EXPLAIN QUERY PLAN SELECT min(number) FROM memory_terms WHERE {OUTDATED}").fetchall()
    assert "memory_terms_outdated" in plan[0][-1]
