"""A store's schema as an earlier version left it, for tests of migrations."""

from __future__ import annotations

import apsw

_WORDS = """
    CREATE VIRTUAL TABLE {name} USING fts5 (
      {columns}, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '._/-:+#@'");
    CREATE VIRTUAL TABLE {vocabulary} USING fts5vocab ({name}, row)"""


def before_terms(connection: apsw.Connection, *, version: int = 14) -> None:
    """Two empty tables of words in the place of the memories' terms."""
    connection.execute("DROP TABLE memory_terms")
    before_search_revision(connection)
    columns = "title, summary, content, tags"
    for name, vocabulary, of in (
        ("memory_words", "memory_vocabulary", columns),
        ("restricted_words", "restricted_vocabulary", f"{columns}, audience"),
    ):
        connection.execute(_WORDS.format(name=name, vocabulary=vocabulary, columns=of))
    connection.execute(f"PRAGMA user_version = {version:d}")


def before_search_revision(connection: apsw.Connection) -> None:
    for table in ("injections", "injection_memories", "actions"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("DROP INDEX recalls_of_member; DROP INDEX sources_of_member")
    connection.execute("DROP TABLE review_claims; DROP TABLE review_snoozes")
    for table in ("memories", "memory_versions"):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN holds_from; ALTER TABLE {table} DROP COLUMN holds_until")
    for trigger in ("usage_begins", "usage_goes_on", "rating_is_given", "rating_is_changed"):
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute("DROP TABLE search_revision; DROP INDEX memories_by_end")
