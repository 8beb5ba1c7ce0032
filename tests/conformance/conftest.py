"""Failing assertions of the shipped suites are explained like those of the tests."""

import sys

import pytest

if "mycel.testing" not in sys.modules:
    pytest.register_assert_rewrite("mycel.testing")
