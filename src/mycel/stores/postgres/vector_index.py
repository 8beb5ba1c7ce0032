"""Indexes of vectors, made by the owner for teams so large that measuring everything would take too long."""

from __future__ import annotations

from hashlib import blake2b

import psycopg
from psycopg import sql

from mycel.stores.postgres.schema import SCHEMA
from mycel.stores.postgres.vector_scan import EXACT_ROWS

_LARGE = "SELECT team_id FROM audiences GROUP BY team_id HAVING sum(documents) > %s"
_MODELS = """
    SELECT model, vector_dims(direction) FROM passages WHERE team_id = %s AND direction IS NOT NULL
    GROUP BY 1, 2 HAVING count(*) > %s"""
# What is broken off before its end stays behind, of no use to anybody.
_KNOWN = """
    SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = 'passages'::regclass AND starts_with(c.relname, 'nearest_')"""


def index_large_teams(url: str, *, above: int = EXACT_ROWS) -> int:
    """As the owner: makes what is missing while everybody goes on, drops what is of no use, returns how many remain.

    Without an index every vector is measured, and so it is where an index brings less than is wanted.
    """
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("SELECT set_config('search_path', %s, false)", (f"{SCHEMA}, public, extensions",))
        wanted: dict[str, tuple[str, str, int]] = {}
        for (team,) in owner.execute(_LARGE, (above,)).fetchall():
            for model, dimensions in owner.execute(_MODELS, (team, above)).fetchall():
                wanted[_name(team, model)] = (team, model, dimensions)
        known = dict(owner.execute(_KNOWN).fetchall())
        kept = {name for name, is_whole in known.items() if is_whole and name in wanted}
        for name in known.keys() - kept:
            owner.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(sql.Identifier(name)))
        for name in wanted.keys() - kept:
            # A graph that does not fit into this is built many times slower.
            owner.execute("SELECT set_config('maintenance_work_mem', '1GB', false)")
            owner.execute(_creation(name, *wanted[name]))
    return len(wanted)


def _name(team: str, model: str) -> str:
    return f"nearest_{blake2b(repr((team, model)).encode(), digest_size=12).hexdigest()}"


def _creation(name: str, team: str, model: str, dimensions: int) -> sql.Composed:
    return sql.SQL("""
        CREATE INDEX CONCURRENTLY {} ON passages USING hnsw ((direction::halfvec({})) halfvec_cosine_ops)
        WHERE team_id = {} AND model = {}""").format(
        sql.Identifier(name), sql.Literal(dimensions), sql.Literal(team), sql.Literal(model)
    )
