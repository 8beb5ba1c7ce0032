"""A vault is its member's alone: private notes are in it, and the names of files are their titles."""

import os
import stat

import pytest

from tests.surfaces.vault.bench import Bench


def open_to_others(bench: Bench) -> list[str]:
    found = [bench.root, *bench.root.rglob("*")]
    return [str(path) for path in found if stat.S_IMODE(path.lstat().st_mode) & 0o077 and not path.is_symlink()]


@pytest.mark.skipif(os.name == "nt", reason="files have no modes there")
def test_notes_and_folders_are_the_members_alone(agent: Bench) -> None:
    before = os.umask(0o022)
    try:
        agent.memory.save("a private heronry", path="/deep/er", visibility="private")
        agent.sync()
        names = list(agent.root.rglob("*.md"))
        assert names
        # What it keeps about itself holds no text, and lies in a folder that nobody else opens.
        assert [path for path in open_to_others(agent) if "/.mycel/" not in path] == []
        for path in [agent.root, *agent.root.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        agent.sync()
        assert [path for path in names if stat.S_IMODE(path.stat().st_mode) != 0o600] == []
        folders = {agent.root, *(path.parent for path in names)}
        assert [path for path in folders if stat.S_IMODE(path.stat().st_mode) != 0o700] == []
        (known,) = [one for one in agent.memory.list(limit=10) if "heronry" in one.content]
        agent.memory.update(known.id, content="another private heronry")
        agent.sync()
        assert [path for path in agent.root.rglob("*.md") if stat.S_IMODE(path.stat().st_mode) != 0o600] == []
    finally:
        os.umask(before)
