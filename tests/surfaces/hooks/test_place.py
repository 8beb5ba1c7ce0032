"""Where an agent works is read from files, and all worktrees of a repository are one place."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mycel.surfaces.hooks.place import find_place


def git(folder: Path, *words: str) -> None:
    author = {"GIT_AUTHOR_NAME": "swe-1", "GIT_AUTHOR_EMAIL": "swe-1@git.test"}
    committer = {"GIT_COMMITTER_NAME": "swe-1", "GIT_COMMITTER_EMAIL": "swe-1@git.test"}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, env={**os.environ, **author, **committer, **alone}
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "pricing"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "Begin")
    return root


def test_a_repository_is_named_by_its_folder_until_it_has_an_origin(repository: Path) -> None:
    inside = repository / "src/deep"
    inside.mkdir(parents=True)
    assert find_place(inside)[:3] == (repository, "pricing", "pricing")
    git(repository, "remote", "add", "upstream", "https://git.test/other/fork.git")
    git(repository, "remote", "add", "origin", "https://git.test/team/price-service.git")
    assert find_place(inside).repo == "price-service"


@pytest.mark.parametrize(
    "url", ["git@git.test:team/shop.git", "ssh://git.test/team/shop/", "/srv/git/shop.git", "shop"]
)
def test_the_name_of_an_origin_is_its_last_part(repository: Path, url: str) -> None:
    git(repository, "remote", "add", "origin", url)
    assert find_place(repository).repo == "shop"


def test_worktrees_are_one_repo_wherever_they_are(repository: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere/feature-x"
    git(repository, "worktree", "add", "-q", str(elsewhere), "-b", "feature-x")
    (elsewhere / "src").mkdir()
    found = find_place(elsewhere / "src")
    assert (found.root, found.repo, found.project) == (elsewhere, "pricing", "pricing")


def test_a_submodule_is_a_repo_of_its_own(repository: Path, tmp_path: Path) -> None:
    part = tmp_path / "rounding"
    part.mkdir()
    git(part, "init", "-q", "-b", "main")
    git(part, "commit", "-q", "--allow-empty", "-m", "Begin")
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(part), "parts/rounding")
    assert find_place(repository / "parts/rounding").repo == "rounding"


def test_a_project_says_what_it_is_called_and_which_folders_hold_memories(repository: Path) -> None:
    (repository / ".mycel.toml").write_text(
        'project = "shop"\nmemory_folders = ["notes", "../out", "docs/../kept", 3]\n'
    )
    found = find_place(repository)
    assert (found.project, found.repo, found.hooks) == ("shop", "pricing", True)
    assert found.memory_folders == (repository / "notes", repository / "kept")


@pytest.mark.parametrize("text", ["project = 3\n", 'project = "  "\n', 'project = ".."\n'])
def test_a_name_that_is_none_is_not_taken(repository: Path, text: str) -> None:
    (repository / ".mycel.toml").write_text(text)
    assert find_place(repository).project == "pricing"


def test_outside_of_repositories_only_the_folder_itself_is_looked_at(tmp_path: Path) -> None:
    assert find_place(tmp_path)[:3] == (tmp_path, None, None)
    (tmp_path / ".mycel.toml").write_text('project = "notes"\n')
    assert find_place(tmp_path).belongings() == {"project": "notes"}


def test_a_broken_repository_is_a_folder_with_a_name(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere/at/all/.git/worktrees/x\n")
    assert find_place(tmp_path).root == tmp_path
