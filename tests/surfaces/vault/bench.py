"""A member's vault in a test: the folder, the memory behind it, and what a person does to files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from mycel.app import open_workspace
from mycel.contracts.memory_api import MemoryApi
from mycel.domain.memory import Memory
from mycel.stores.sqlite.database import Disk
from mycel.surfaces.vault.agreement import FOLDER, KnownVaults
from mycel.surfaces.vault.sync import Allowed, Vault, VaultReport
from tests.template import make_tables


def make_team(data: Path) -> None:
    with open_workspace(data, disk=Disk(synchronous="OFF")) as workspace:
        workspace.add_team("shop")
        workspace.add_member("swe-1", team="shop", role="agent")
        workspace.add_member("lead-1", team="shop", role="lead", kind="human")
        workspace.add_member("lead-2", team="shop", role="lead", kind="human")
        make_tables(workspace.as_member("swe-1"))


@dataclass
class Bench:
    root: Path
    memory: MemoryApi
    known: Path
    deletions: bool = False
    taking_in: bool = True
    vault: Vault = field(init=False)

    def sync(self) -> VaultReport:
        self.vault = Vault(self.root, self.memory, known=KnownVaults(self.known), settle=0)
        with self.vault.opened():
            return self.vault.sync(Allowed(self.deletions, self.taking_in))

    def save(self, text: str, **fields: object) -> Memory:
        return self.memory.save(text, **fields)  # type: ignore[arg-type]

    def files(self) -> list[str]:
        found = (path.relative_to(self.root) for path in self.root.rglob("*") if path.is_file())
        return sorted(str(path) for path in found if path.parts[0] != FOLDER)

    def only_file(self) -> Path:
        (file,) = self.files()
        return self.root / file

    def write(self, file: str, text: str) -> Path:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def everything(self) -> dict[str, bytes]:
        """Of the whole folder, the vault's own files too."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in self.root.rglob("*")
            if path.is_file() and path.name != "lock"
        }
