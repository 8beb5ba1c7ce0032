"""Every error has an exit code, a status over HTTP and a number in a mount: a new one cannot be forgotten."""

import ast
from collections.abc import Iterator
from pathlib import Path

from mycel.errors import MycelError, Unavailable
from mycel.surfaces.cli.failure import EXIT_CODES, exit_code_of
from mycel.surfaces.mount.errno_map import ERRNOS, errno_of
from mycel.wire.problems import STATUSES, status_of


def family(root: type[MycelError]) -> Iterator[type[MycelError]]:
    """Those of the package; a test may have made some of its own."""
    if root.__module__.partition(".")[0] == "mycel":
        yield root
    for child in root.__subclasses__():
        yield from family(child)


ERRORS = set(family(MycelError))


def test_every_error_has_an_exit_code() -> None:
    assert set(EXIT_CODES) == ERRORS
    assert all(0 < code < 126 for code in EXIT_CODES.values())
    shared = {(one, other) for one in EXIT_CODES for other in EXIT_CODES if EXIT_CODES[one] == EXIT_CODES[other]}
    assert all(issubclass(one, other) or issubclass(other, one) for one, other in shared)


def test_every_error_has_a_status() -> None:
    assert set(STATUSES) == ERRORS
    assert all(400 <= status < 600 for status in STATUSES.values())


def test_every_error_has_a_number_of_the_system() -> None:
    assert set(ERRNOS) == ERRORS


def test_an_error_that_is_not_listed_takes_after_its_family() -> None:
    class Throttled(Unavailable):
        pass

    assert exit_code_of(Throttled("later")) == EXIT_CODES[Unavailable]
    assert status_of(Throttled("later")) == STATUSES[Unavailable]
    assert errno_of(Throttled("later")) == ERRNOS[Unavailable]


def test_errors_are_defined_in_one_module(modules: list[Path], package: Path) -> None:
    """Otherwise the tree above would miss those that nobody has imported yet."""
    names = {error.__name__ for error in ERRORS}
    strays = [
        f"{path.relative_to(package)}: {node.name}"
        for path in modules
        if path != package / "errors.py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef) and names & {ast.unparse(base).split(".")[-1] for base in node.bases}
    ]
    assert not strays
