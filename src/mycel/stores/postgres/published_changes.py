"""Changes for programs that follow the database itself, such as Supabase Realtime: a table that a publication covers.

Each row says that something was made, changed or taken away, and where. It has no text, and there is none about a
memory that only some of its team may read.
"""

from __future__ import annotations

import psycopg
from psycopg import errors, sql

from mycel.errors import Conflict, InvalidInput, Misconfigured
from mycel.stores.postgres.connection import Raw
from mycel.stores.postgres.connection_pool import read_address
from mycel.stores.postgres.faults import faults
from mycel.stores.postgres.requirements import refused
from mycel.stores.postgres.schema import SCHEMA, schema_version

TABLE = sql.Identifier("public", "memory_items")
PUBLICATION = "mycel_changes"
# Where a project on Supabase has it, Realtime follows this one.
OF_REALTIME = "supabase_realtime"
_OURS = "changes of the memories of Mycel"

_TABLE = f"""
CREATE TABLE {{table}} (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  team_id text NOT NULL,
  event text NOT NULL,
  memory_id text NOT NULL,
  path text NOT NULL,
  changed_at timestamptz NOT NULL
);
COMMENT ON TABLE {{table}} IS '{_OURS}';
CREATE INDEX ON {{table}} (team_id, memory_id);
CREATE INDEX ON {{table}} (changed_at);
ALTER TABLE {{table}} ENABLE ROW LEVEL SECURITY;
REVOKE ALL ON {{table}} FROM PUBLIC, {{reader}};
GRANT SELECT ON {{table}} TO {{reader}};
CREATE POLICY own_team ON {{table}} FOR SELECT TO {{reader}} USING (
  team_id = (
    SELECT nullif(current_setting('request.jwt.claims', true), '')::jsonb -> 'app_metadata' ->> 'mycel_team'))"""

# As its owner, since the service has no right in the table. What is moved is taken away from its old place first. The
# history of a team that is restored or moved here is no news, and after an hour nothing is.
_TRIGGER = """
CREATE FUNCTION {schema}.publish_changes() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM {table} t USING fresh f
  WHERE t.team_id = f.team_id AND t.memory_id = f.memory_id AND (f.visibility <> 'team' OR f.operation = 'purge');
  INSERT INTO {table} (team_id, event, memory_id, path, changed_at)
  SELECT told.team_id, told.event, told.memory_id, told.path, to_timestamp(told.committed_at / 1e6) FROM (
    SELECT f.team_id, f.memory_id, f.committed_at, f.sequence, 0 AS place, 'DELETE' AS event, f.old_path AS path
    FROM fresh f WHERE f.old_visibility = 'team' AND (f.visibility <> 'team' OR f.path <> f.old_path)
      AND f.operation NOT IN ('link', 'unlink')
    UNION ALL
    SELECT f.team_id, f.memory_id, f.committed_at, f.sequence, 1, CASE
      WHEN f.operation IN ('delete', 'purge') THEN 'DELETE'
      WHEN f.operation IN ('create', 'restore') OR f.old_visibility <> 'team' OR f.path <> f.old_path THEN 'INSERT'
      ELSE 'UPDATE' END, f.path
    FROM fresh f WHERE f.visibility = 'team' AND f.operation NOT IN ('link', 'unlink')
  ) told WHERE to_timestamp(told.committed_at / 1e6) > now() - interval '1 hour' ORDER BY told.sequence, told.place;
  IF random() < 0.02 THEN
    DELETE FROM {table} WHERE changed_at < now() - interval '1 hour';
  END IF;
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION {schema}.publish_changes() FROM PUBLIC;
CREATE TRIGGER publish AFTER INSERT ON {schema}.changes REFERENCING NEW TABLE AS fresh
FOR EACH STATEMENT EXECUTE FUNCTION {schema}.publish_changes()"""

_END = """
DROP TRIGGER IF EXISTS publish ON {schema}.changes;
DROP FUNCTION IF EXISTS {schema}.publish_changes();
DROP PUBLICATION IF EXISTS {publication};
DROP TABLE IF EXISTS {table}"""


def publish_changes(url: str, *, to: str) -> bool:
    """As the owner: let `to` follow the changes of its team from now on; tell whether that is new."""
    with faults(), psycopg.connect(read_address(url).conninfo) as owner:
        _require_tables(owner)
        if _is_published(owner):
            return False
        if owner.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (to,)).fetchone() is None:
            raise InvalidInput("names no role of this database", field="to")
        names = {
            "table": TABLE,
            "reader": sql.Identifier(to),
            "schema": sql.Identifier(SCHEMA),
            "publication": sql.Identifier(PUBLICATION),
        }
        with refused("only the owner of the tables publishes their changes: log in as the one who migrated them"):
            try:
                owner.execute(sql.SQL(_TABLE).format(**names))
            except errors.DuplicateTable:
                raise Conflict("there is another table public.memory_items: rename it first") from None
            owner.execute(sql.SQL(_TRIGGER).format(**names))
            # What is trimmed later is no news.
            owner.execute(
                sql.SQL("CREATE PUBLICATION {publication} FOR TABLE {table} WITH (publish = 'insert')").format(**names)
            )
            if owner.execute("SELECT 1 FROM pg_publication WHERE pubname = %s", (OF_REALTIME,)).fetchone():
                realtime = sql.Identifier(OF_REALTIME)
                owner.execute(sql.SQL("ALTER PUBLICATION {} ADD TABLE {}").format(realtime, TABLE))
        return True


def end_publishing(url: str) -> bool:
    """As the owner: take the table and its publication away; tell whether there was one."""
    with faults(), psycopg.connect(read_address(url).conninfo) as owner:
        _require_tables(owner)
        if not _is_published(owner):
            return False
        names = {"schema": sql.Identifier(SCHEMA), "publication": sql.Identifier(PUBLICATION), "table": TABLE}
        with refused("only the owner of the tables does that: log in as the one who migrated them"):
            owner.execute(sql.SQL(_END).format(**names))
        return True


def _require_tables(owner: Raw) -> None:
    if not schema_version(owner).number:
        raise Misconfigured("the database has no tables of Mycel yet: `mycel database migrate` makes them")


def _is_published(owner: Raw) -> bool:
    known = "SELECT obj_description(to_regclass('public.memory_items'), 'pg_class')"
    return owner.execute(known).fetchone() == (_OURS,)
