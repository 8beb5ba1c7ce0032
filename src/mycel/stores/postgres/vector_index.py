"""Indexes of vectors, made by the owner for teams so large that measuring everything would take too long."""

from __future__ import annotations

from hashlib import blake2b

import psycopg
from psycopg import sql

from mycel.errors import Misconfigured, Unavailable
from mycel.stores.postgres.connection_pool import read_address
from mycel.stores.postgres.faults import faults
from mycel.stores.postgres.schema import SEARCH_PATH

# So that two who come at once do not drop each other's unfinished work.
INDEXING = 7_310_586_031_275_219

_LARGE = "SELECT team_id FROM audiences GROUP BY team_id HAVING sum(documents) > %s"
_MODELS = """
    SELECT model, vector_dims(direction) FROM passages WHERE team_id = %s AND direction IS NOT NULL
    GROUP BY 1, 2 HAVING count(*) > %s"""
# What is broken off before its end stays behind, of no use to anybody.
_KNOWN = """
    SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = 'passages'::regclass AND starts_with(c.relname, 'nearest_')"""
_IS_OWNER = "SELECT pg_has_role(session_user, relowner, 'USAGE') FROM pg_class WHERE oid = 'passages'::regclass"


def index_large_teams(url: str, *, above: int) -> int:
    """As the owner: makes what is missing while everybody goes on, drops what is of no use, returns how many remain.

    Without an index every vector is measured, and so it is where an index brings less than is wanted.
    """
    with faults(), psycopg.connect(read_address(url).conninfo, autocommit=True) as owner:
        owner.execute("SELECT set_config('search_path', %s, false)", (SEARCH_PATH,))
        if owner.execute(_IS_OWNER).fetchone() != (True,):
            raise Misconfigured("only the owner of the tables can index them: log in as the one who migrated them")
        if owner.execute("SELECT pg_try_advisory_lock(%s)", (INDEXING,)).fetchone() != (True,):
            raise Unavailable("somebody else is making these indexes; retry later", retry_after=60.0)
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
