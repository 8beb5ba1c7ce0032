"""Failing assertions of the suites are explained like those of the tests."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SUITES = ["mycel.testing", *(f"tests.conformance.{path.stem}" for path in HERE.glob("memory_api_*.py"))]

pytest.register_assert_rewrite(*(name for name in SUITES if name not in sys.modules))
