"""A module holds one idea, whatever its length; one that outgrows this limit holds two."""

from pathlib import Path

MAX_LINES = 800


def test_no_module_is_longer_than_the_limit(modules: list[Path], package: Path) -> None:
    lines = {str(path.relative_to(package)): len(path.read_text("utf-8").splitlines()) for path in modules}
    too_long = {name: count for name, count in lines.items() if count > MAX_LINES}
    assert not too_long, f"split these modules, the limit is {MAX_LINES} lines: {too_long}"
