from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.client.workspace import RemoteWorkspace
from tests.service_process import Service, connected, service

MEMORIES = (
    ("fact", "Money is kept in integer cents in the pricing service, never as floats."),
    ("decision", "Deployments of the pricing service go through the staging cluster first."),
    ("lesson", "The importer test is flaky unless the time zone is UTC."),
    ("fact", "Customers of the archive are billed in March."),
)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, database_variables: dict[str, str]) -> Iterator[Service]:
    """A service with the team `squad`, whose members are named like the agents."""
    with service(tmp_path_factory.mktemp("hooks") / "data", **database_variables) as found:
        with connected(found) as workspace:
            workspace.add_team("squad")
            for agent in ("claude-code", "codex", "cursor", "gemini", "opencode"):
                workspace.add_member(agent, team="squad")
            workspace.add_member("eng-director", team="squad", role="lead")
            writer = workspace.as_member("codex")
            for type, content in MEMORIES:
                writer.save(content, type=type)
        yield found


@pytest.fixture
def workspace(running: Service) -> Iterator[RemoteWorkspace]:
    with connected(running) as found:
        yield found


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository named `pricing`, as far as hooks look at one."""
    root = tmp_path / "checkout"
    (root / ".git").mkdir(parents=True)
    (root / ".git/config").write_text(
        '[core]\n\tbare = false\n[remote "origin"]\n\turl = git@git.test:team/pricing.git\n'
    )
    return root
