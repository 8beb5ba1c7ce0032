"""An agent may tell anything at any place of a payload: it is read as if that were not told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mycel.surfaces.hooks.payloads import read_payload
from tests.odd_json import with_odd_values
from tests.surfaces.hooks.hooking import PAYLOADS


@pytest.mark.parametrize("agent", sorted(file.stem for file in PAYLOADS.glob("*.json")))
def test_a_payload_with_an_odd_value_is_read_all_the_same(agent: str) -> None:
    recorded: dict[str, Any] = json.loads((PAYLOADS / f"{agent}.json").read_text("utf-8"))
    for event, payload in recorded.items():
        for what, odd in with_odd_values(payload):
            if isinstance(odd, dict):
                try:
                    read_payload(agent, event, odd)
                except Exception as error:
                    raise AssertionError(f"{event}: {what}") from error
