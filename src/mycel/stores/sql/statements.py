"""Statements that are put together from the names of a table and its columns."""

from __future__ import annotations

from collections.abc import Sequence


def upsert(table: str, key: Sequence[str], columns: Sequence[str]) -> str:
    """Puts a row in the place of the one with the same key; its values are those of the key, then of the columns."""
    names = (*key, *columns)
    renewed = ", ".join(f"{name} = excluded.{name}" for name in columns)
    return f"""
        INSERT INTO {table} ({", ".join(names)}) VALUES ({", ".join("?" * len(names))})
        ON CONFLICT ({", ".join(key)}) DO UPDATE SET {renewed}"""
