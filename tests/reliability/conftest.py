"""What tests of endpoints on this machine share."""

from __future__ import annotations

import pytest

from mycel.providers import endpoint


@pytest.fixture
def near_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy stands before it, and a try follows the last one at once."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(endpoint, "PAUSE_SECONDS", 0.02)
