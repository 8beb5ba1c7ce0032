"""The frameworks are extras: nobody loads them by accident, and whoever lacks one is told what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

ADAPTERS = {
    "anthropic_memory": "anthropic",
    "langgraph_store": "langgraph",
    "openai_session": "agents",
}
WITHOUT = """
import sys
sys.modules[{package!r}] = None
try:
    import mycel.adapters.{adapter}
except ImportError as error:
    print(error)
"""
LOADED = """
import sys
import mycel
from mycel import TeamMemory, Workspace
import mycel.adapters
print([name for name in ("anthropic", "agents", "langgraph", "langchain_core", "openai") if name in sys.modules])
"""


def printed(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_without_its_package_names_the_extra(adapter: str) -> None:
    said = printed(WITHOUT.format(package=ADAPTERS[adapter], adapter=adapter))
    assert f"{sys.executable} -m pip install 'mycel-memory[adapters]'" in said


def test_mycel_loads_no_framework() -> None:
    assert printed(LOADED).strip() == "[]"
