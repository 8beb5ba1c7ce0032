"""Numbered migrations: which SQL files a database still needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from mycel.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    sql: str


@cache
def migrations(package: str, folder: str) -> tuple[Migration, ...]:
    """The files `0001_name.sql`, … of a folder inside a package; numbers have no gaps."""
    found = sorted(
        (entry for entry in files(package).joinpath("migrations", folder).iterdir() if entry.name.endswith(".sql")),
        key=lambda entry: entry.name,
    )
    steps = tuple(
        Migration(int(entry.name[:4]), entry.name.removesuffix(".sql"), entry.read_text("utf-8")) for entry in found
    )
    if [step.number for step in steps] != list(range(1, len(steps) + 1)):
        raise Misconfigured(f"the migrations in {package}.migrations.{folder} are not numbered 1, 2, 3 …")
    return steps


def pending(steps: tuple[Migration, ...], version: int) -> tuple[Migration, ...]:
    """What is to be applied to a database at this version; a newer database is refused, never written to."""
    if version > len(steps):
        raise Misconfigured(
            f"the database has schema {version} and this Mycel knows {len(steps)}: install a newer Mycel"
        )
    return steps[version:]
