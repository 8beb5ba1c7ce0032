"""What is said where something is missing."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from mycel.errors import Misconfigured
from mycel.surfaces.mount import mounting


def test_the_package_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mfusepy", None)
    with pytest.raises(Misconfigured, match=r"pip install 'mycel-memory\[mount\]'"):
        mounting.require_fuse()


def test_the_library_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "mfusepy.py").write_text('raise OSError("Unable to find libfuse")\n')
    monkeypatch.delitem(sys.modules, "mfusepy", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(Misconfigured, match="apt-get install fuse3"):
        mounting.require_fuse()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this device")
def test_the_device_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "mfusepy", ModuleType("mfusepy"))
    monkeypatch.setattr(mounting, "_DEVICE", tmp_path / "fuse")
    with pytest.raises(Misconfigured, match="--device /dev/fuse"):
        mounting.require_fuse()
