"""The light reader of the settings says what `mycel.settings` says."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from mycel.client.daemon import read_daemon_file
from mycel.errors import Misconfigured
from mycel.settings import Settings, load_settings, service_environment
from mycel.surfaces.hooks import environment, service
from mycel.surfaces.hooks.environment import HookSettings, child_environment, read_environment
from mycel.wire import daemon_file

SHARED = sorted({field.name for field in fields(Settings)} & set(HookSettings._fields))


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*SHARED, "embedder"):
        monkeypatch.delenv(f"MYCEL_{name.upper()}", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def agree(data: Path | None) -> bool:
    ours, theirs = read_environment(data), load_settings(data)
    return {name: getattr(ours, name) for name in SHARED} == {name: getattr(theirs, name) for name in SHARED}


def test_the_names_are_settings_all() -> None:
    assert set(HookSettings._fields) - set(SHARED) == {"home", "is_nested", "wrong"}
    assert set(environment._READERS) == set(SHARED) - {"data"}


@pytest.mark.parametrize("home", [None, "/srv/share", "  "])
def test_both_agree_on_the_defaults(monkeypatch: pytest.MonkeyPatch, home: str | None) -> None:
    if home is None:
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_DATA_HOME", home)
    assert agree(None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("data", "/srv/mycel"),
        ("agent", "swe-1"),
        ("url", "https://memory.example.org/mycel/"),
        ("token", "mycel_abc"),
        ("daemon", "OFF"),
        ("log_level", "debug"),
        ("personal_memory_folder", "/home/swe/memory"),
        ("shared_memory_folder", "/srv/memory"),
        ("personal_memory_folder", "~/memory"),
        ("hooks", "Inject"),
        ("hook_relevance", "0.25"),
        ("hook_recent", "every"),
        ("hook_seconds", "2"),
    ],
)
def test_both_agree_on_what_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str) -> None:
    with monkeypatch.context() as patch:
        patch.setenv(f"MYCEL_{name.upper()}", f" {value} ")
        assert agree(None if name == "data" else tmp_path)
        assert getattr(
            read_environment(None if name == "data" else tmp_path), name
        ) != HookSettings._field_defaults.get(name)
    if name != "data":
        written = value if value[0].isdigit() else f'"{value}"'
        (tmp_path / "mycel.toml").write_text(f'embedder = "none"\n{name} = {written}\n')
        assert agree(tmp_path)
        monkeypatch.setenv("MYCEL_HOOKS", "capture")
        assert agree(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("daemon", "maybe"),
        ("hook_relevance", "1.5"),
        ("hook_relevance", "nan"),
        ("hook_recent", "often"),
        ("hook_seconds", "0"),
        ("hook_seconds", "11"),
        ("url", "ftp://x"),
        ("token", "two words"),
        ("personal_memory_folder", "notes/memory"),
        ("shared_memory_folder", "./memory"),
    ],
)
def test_what_one_refuses_the_other_takes_for_not_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str
) -> None:
    monkeypatch.setenv(f"MYCEL_{name.upper()}", value)
    with pytest.raises(Misconfigured):
        load_settings(tmp_path)
    found = read_environment(tmp_path)
    assert found.wrong == (name,)
    assert getattr(found, name) == HookSettings._field_defaults[name]


def test_hooks_that_were_set_to_something_unknown_are_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MYCEL_HOOKS", "false")
    assert not read_environment(tmp_path).captures
    monkeypatch.delenv("MYCEL_HOOKS")
    (tmp_path / "mycel.toml").write_text("hooks = \n")
    assert not read_environment(tmp_path).injects


def test_the_files_of_the_service_have_the_names_it_gives_them(tmp_path: Path) -> None:
    assert (service.DAEMON_FILE, service.OPERATOR_TOKEN) == (daemon_file.DAEMON_FILE, daemon_file.OPERATOR_TOKEN)
    assert read_daemon_file(tmp_path) is None


def test_whatever_a_hook_starts_knows_that_it_was_a_hook(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MYCEL_HOOKS", "capture")
    assert child_environment()[environment.ACTIVE] == "1"
    assert "MYCEL_HOOKS" not in service_environment(tmp_path)
