"""The types of the async client are those of the contracts."""

import runpy
from pathlib import Path


def test_the_stub_is_what_the_contracts_make(repository: Path, package: Path) -> None:
    made = runpy.run_path(str(repository / "scripts" / "async_stub.py"))["stub"]()
    assert (package / "client" / "async_api.pyi").read_text("utf-8") == made, "run: python -m scripts.async_stub"
