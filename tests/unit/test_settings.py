"""Who says what a setting is, and writing one into `mycel.toml` without touching anything else."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path

import pytest

from mycel.errors import Misconfigured
from mycel.settings import (
    Settings,
    load_settings,
    origin_of,
    service_environment,
    variables_behind,
    write_setting,
)


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("MYCEL_", "MEMORY_", "OPENAI_")):
            monkeypatch.delenv(name)


def write(data: Path, content: str, *, value: str = "none") -> str:
    """The file after `embedder` was set in it, byte for byte."""
    file = data / "mycel.toml"
    file.write_bytes(content.encode())
    write_setting("embedder", value, data=data)
    assert load_settings(data).embedder == value
    return file.read_bytes().decode()


def test_the_environment_wins_over_the_file_and_both_over_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (load_settings(tmp_path).embedder, origin_of("embedder", data=tmp_path)) == ("builtin", "default")
    (tmp_path / "mycel.toml").write_text('embedder = "none"\n')
    assert (load_settings(tmp_path).embedder, origin_of("embedder", data=tmp_path)) == ("none", "mycel.toml")
    monkeypatch.setenv("MYCEL_EMBEDDER", "openai")
    assert (load_settings(tmp_path).embedder, origin_of("embedder", data=tmp_path)) == ("openai", "MYCEL_EMBEDDER")


def test_a_data_directory_that_is_a_file_or_lies_in_one_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "notes").touch()
    for data in (tmp_path / "notes", tmp_path / "notes" / "below"):
        with pytest.raises(Misconfigured, match="has to be a folder"):
            load_settings(data)


def test_another_embedder_brings_the_key_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("MYCEL_EMBEDDER", "none")
    assert load_settings(tmp_path).embedding_key is None
    settings = load_settings(tmp_path, embedder="openai")
    assert (settings.embedder, settings.embedding_key) == ("openai", "sk-secret")
    assert variables_behind(settings, prefix="embedding_") == ["OPENAI_API_KEY"]
    with pytest.raises(Misconfigured, match="embedder: must be text"):
        load_settings(tmp_path, embedder=" ")


def test_the_variables_behind_settings_are_told_without_their_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mycel.toml").write_text("embedding_dimensions = 8\n")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("MYCEL_EMBEDDING_KEY", "sk-secret")
    monkeypatch.setenv("MYCEL_AGENT", "swe-1")
    assert variables_behind(load_settings(tmp_path), prefix="embedding_") == ["MYCEL_EMBEDDING_KEY"]


def test_a_file_is_made_where_there_is_none(tmp_path: Path) -> None:
    assert write_setting("embedder", "none", data=tmp_path) == tmp_path / "mycel.toml"
    assert (tmp_path / "mycel.toml").read_bytes() == b'embedder = "none"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('embedder = "builtin"\n', 'embedder = "none"\n'),
        (
            "# ours\n\nmax_content_bytes = 2048 # 2 KiB\n\tembedder=\"builtin\"  # small\nagent = 'swe-1'",
            "# ours\n\nmax_content_bytes = 2048 # 2 KiB\n\tembedder=\"none\"  # small\nagent = 'swe-1'",
        ),
        ("'embedder' = 'a\\b'\r\nagent = \"swe-1\"\r\n", '\'embedder\' = "none"\r\nagent = "swe-1"\r\n'),
        ('"embedder" = "a \\" b" # it was "a"\n', '"embedder" = "none" # it was "a"\n'),
        ('agent = "swe-1"\r\n', 'agent = "swe-1"\r\nembedder = "none"\r\n'),
        ('agent = "swe-1"', 'agent = "swe-1"\nembedder = "none"\n'),
        ('# embedder = "x"\n', '# embedder = "x"\nembedder = "none"\n'),
        ("# só um comentário: é\n\n\n", '# só um comentário: é\n\n\nembedder = "none"\n'),
        (
            'agent = """\nembedder = "x"\n"""\nembedder = "y"\n',
            'agent = """\nembedder = "x"\n"""\nembedder = "none"\n',
        ),
        ('agent = """\nembedder = "x"\n"""\n', 'agent = """\nembedder = "x"\n"""\nembedder = "none"\n'),
    ],
)
def test_every_other_byte_of_the_file_stays(tmp_path: Path, before: str, after: str) -> None:
    assert write(tmp_path, before) == after


@pytest.mark.parametrize("value", ['/models/a "b"', "C:\\models\\new", "/modèles/日本", "/tab\there"])
def test_any_path_can_be_written(tmp_path: Path, value: str) -> None:
    assert tomllib.loads(write(tmp_path, 'agent = "swe-1"\n', value=value)) == {"agent": "swe-1", "embedder": value}


def test_what_only_a_person_should_change_is_left_alone(tmp_path: Path) -> None:
    content = 'embedder = """\nbuiltin"""\n'
    (tmp_path / "mycel.toml").write_text(content)
    with pytest.raises(Misconfigured, match=r"mycel\.toml is written in a way .* by hand"):
        write_setting("embedder", "none", data=tmp_path)
    assert (tmp_path / "mycel.toml").read_text() == content


def test_a_name_that_utf_8_lacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="would not be UTF-8"):
        write_setting("embedder", "/models/\udcff", data=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_variable_that_would_win_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYCEL_EMBEDDER", "none")
    with pytest.raises(Misconfigured, match="MYCEL_EMBEDDER is set in the environment and wins"):
        write_setting("embedder", "none", data=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="no modes and links of this kind there")
def test_mode_and_link_stay(tmp_path: Path) -> None:
    real = tmp_path / "elsewhere.toml"
    real.write_text('embedder = "builtin"\n')
    real.chmod(0o660)
    (tmp_path / "mycel.toml").symlink_to(real)
    write_setting("embedder", "none", data=tmp_path)
    assert (tmp_path / "mycel.toml").is_symlink()
    assert real.read_text() == 'embedder = "none"\n'
    assert stat.S_IMODE(real.stat().st_mode) == 0o660
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere.toml", "mycel.toml"]


def test_a_file_that_cannot_be_replaced_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mycel.toml").write_text('embedder = "builtin"\n')

    def fail(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(Misconfigured, match="cannot be written: No space left"):
        write_setting("embedder", "none", data=tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("mycel.toml", 'embedder = "builtin"\n')]


def test_what_stands_there_already_is_not_written_again(tmp_path: Path) -> None:
    (tmp_path / "mycel.toml").write_text('embedder = """none"""\n')
    before = (tmp_path / "mycel.toml").stat()
    write_setting("embedder", "none", data=tmp_path)
    assert (tmp_path / "mycel.toml").stat() == before


def test_folders_come_as_a_list_or_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings(tmp_path).artifact_roots is None
    first, second = tmp_path / "one", tmp_path / "two"
    (tmp_path / "mycel.toml").write_text(f"artifact_roots = ['{first}', '{second}']\n")
    assert load_settings(tmp_path).artifact_roots == (first, second)
    (tmp_path / "mycel.toml").write_text("artifact_roots = []\n")
    assert load_settings(tmp_path).artifact_roots == ()
    monkeypatch.setenv("MYCEL_ARTIFACT_ROOTS", os.pathsep.join([str(second), "", str(first)]))
    assert load_settings(tmp_path).artifact_roots == (second, first)


@pytest.mark.parametrize("value", ["'here'", "['here']", "7", "[7]", "['/a', ' ']", "{a = '/b'}"])
def test_folders_that_are_none_are_refused(tmp_path: Path, value: str) -> None:
    (tmp_path / "mycel.toml").write_text(f"artifact_roots = {value}\n")
    with pytest.raises(Misconfigured, match=r"mycel\.toml: artifact_roots: must be"):
        load_settings(tmp_path)


def in_file(data: Path, line: str) -> Settings:
    (data / "mycel.toml").write_text(f"{line}\n")
    return load_settings(data)


def test_the_service_has_settings_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = load_settings(tmp_path)
    assert (found.url, found.token, found.daemon, found.log_level) == (None, None, "auto", "info")
    assert (found.allowed_hosts, found.allowed_origins, found.requests_per_second) == ((), (), 1000)
    monkeypatch.setenv("MYCEL_URL", "https://memory.example.org:8443/team/")
    monkeypatch.setenv("MYCEL_TOKEN", "mycel_not-a-real-one")
    monkeypatch.setenv("MYCEL_DAEMON", "OFF")
    monkeypatch.setenv("MYCEL_LOG_LEVEL", "Debug")
    monkeypatch.setenv("MYCEL_ALLOWED_HOSTS", "Memory.Example.org, [2001:DB8::1],, ::2, memory.example.org")
    monkeypatch.setenv("MYCEL_ALLOWED_ORIGINS", "https://Notes.example.org")
    monkeypatch.setenv("MYCEL_REQUESTS_PER_SECOND", "0.5")
    found = load_settings(tmp_path)
    assert (found.url, found.daemon, found.log_level) == ("https://memory.example.org:8443/team", "off", "debug")
    assert found.allowed_hosts == ("memory.example.org", "2001:db8::1", "::2")
    assert (found.allowed_origins, found.requests_per_second) == (("https://notes.example.org",), 0.5)
    assert found.token == "mycel_not-a-real-one"
    assert "not-a-real-one" not in repr(found)


def test_names_come_as_a_list_in_the_file(tmp_path: Path) -> None:
    assert in_file(tmp_path, 'allowed_hosts = ["a.example", "B.example"]').allowed_hosts == ("a.example", "b.example")
    assert in_file(tmp_path, 'allowed_origins = ["http://a:80"]').allowed_origins == ("http://a:80",)


@pytest.mark.parametrize(
    "line",
    [
        'url = "127.0.0.1:7077"',
        'url = "ftp://a.example"',
        'url = "http://user:word@a.example"',
        'url = "http://a.example/?q=1"',
        'url = "http://a.example/#x"',
        'token = "two words"',
        'token = "line\\nbreak"',
        'daemon = "on"',
        "daemon = false",
        'log_level = "trace"',
        'allowed_hosts = ["*"]',
        'allowed_hosts = ["*.example.org"]',
        'allowed_hosts = ["https://a.example"]',
        'allowed_hosts = ["a.example:80"]',
        'allowed_hosts = ["a.example, b.example"]',
        "allowed_hosts = [7]",
        "allowed_hosts = 7",
        'allowed_origins = ["*"]',
        'allowed_origins = ["null"]',
        'allowed_origins = ["a.example"]',
        'allowed_origins = ["https://a.example/"]',
        "requests_per_second = 0",
        "requests_per_second = inf",
        "requests_per_second = true",
    ],
)
def test_settings_of_the_service_are_checked(tmp_path: Path, line: str) -> None:
    with pytest.raises(Misconfigured, match=rf"mycel\.toml: {line.split(maxsplit=1)[0]}: must be"):
        in_file(tmp_path, line)


def test_a_service_is_started_with_the_settings_but_not_with_what_is_its_starters_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("MYCEL_AGENT", "MYCEL_URL", "MYCEL_TOKEN", "MYCEL_DAEMON", "MYCEL_ARTIFACT_ROOTS"):
        monkeypatch.setenv(name, "own")
    monkeypatch.setenv("MYCEL_DATA", "elsewhere")
    monkeypatch.setenv("MYCEL_EMBEDDER", "none")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["src", "/lib"]))
    found = service_environment(Path("data"))
    assert {name: value for name, value in found.items() if name.startswith("MYCEL_")} == {
        "MYCEL_DATA": str(tmp_path / "data"),
        "MYCEL_EMBEDDER": "none",
    }
    assert found["PYTHONPATH"] == os.pathsep.join([str(tmp_path / "src"), "/lib"])
    assert found["PATH"] == os.environ["PATH"]
