"""Who says what a setting is, and writing one into `mycel.toml` without touching anything else."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path

import pytest

from mycel.errors import Misconfigured
from mycel.settings import load_settings, origin_of, variables_behind, write_setting


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
