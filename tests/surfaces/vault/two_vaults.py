"""Two members edit the notes of one team at random, in folders and in memory, and a model watches that nothing is lost.

What the model expects: a text that stood in a file when its vault was synced is found for ever after in a version of
some memory, or in a file, unless who wrote it takes it away.
"""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Callable
from pathlib import Path

from mycel.errors import MycelError
from tests.surfaces.vault.bench import Bench

_TOKEN = re.compile(rb"token-[0-9]+")
FOLDERS = ("notes", "decisions", "projects/pricing/decisions", "Notes", "archive")


class TwoVaults:
    def __init__(self, one: Bench, other: Bench, seed: int) -> None:
        self.benches = (one, other)
        self._random = random.Random(seed)
        self._count = 0
        self._kept: set[bytes] = set()
        self._by_token: set[bytes] = set()
        self._deleted: list[tuple[Path, bytes]] = []
        for bench in self.benches:
            bench.deletions = True

    def step(self) -> str:
        bench = self._random.choice(self.benches)
        deeds: list[tuple[Callable[[Bench], None], int]] = [
            (self._sync, 6),
            (self._create, 4),
            (self._edit, 8),
            (self._tag, 2),
            (self._rename, 3),
            (self._delete, 1),
            (self._put_back, 1),
            (self._remember, 2),
            (self._change_memory, 6),
            (self._delete_memory, 1),
        ]
        deed = self._random.choices([one for one, _ in deeds], [weight for _, weight in deeds])[0]
        deed(bench)
        return f"{bench.memory.member_id} {deed.__name__}"

    def end(self) -> None:
        """Until both agree; then nothing is written any more."""
        for _ in range(4):
            for bench in self.benches:
                bench.sync()
                self._check()

    def _sync(self, bench: Bench) -> None:
        bench.root.mkdir(exist_ok=True)
        self._kept |= self._tokens_in(bench)
        bench.sync()
        self._check()

    def _check(self) -> None:
        lost = self._kept - self._found()
        assert not lost, sorted(lost)

    def _found(self) -> set[bytes]:
        found: set[bytes] = set()
        for bench in self.benches:
            found |= self._tokens_in(bench)
        return found | self._in_memory()

    def _in_memory(self) -> set[bytes]:
        """In any version of any memory; those that are deleted or wait are memories all the same."""
        memory = self.benches[0].memory
        ids = {change.memory_id for change in memory.changes(0)}
        for id in ids:
            with contextlib.suppress(MycelError):
                for version in memory.history(id):
                    said = f"{version.memory.title} {version.memory.content}"
                    self._by_token |= set(_TOKEN.findall(said.encode()))
        return self._by_token

    def _tokens_in(self, bench: Bench) -> set[bytes]:
        return {token for file in bench.files() for token in _TOKEN.findall((bench.root / file).read_bytes())}

    def _token(self) -> str:
        self._count += 1
        return f"token-{self._count}"

    def _file(self, bench: Bench) -> Path | None:
        files = [file for file in bench.files() if "(conflict" not in file] if bench.root.exists() else []
        return bench.root / self._random.choice(files) if files else None

    def _gives_up(self, path: Path) -> None:
        """Its own writer takes a text away that nobody else has."""
        self._kept -= set(_TOKEN.findall(path.read_bytes())) - self._in_memory()

    def _create(self, bench: Bench) -> None:
        token = self._token()
        name = self._random.choice([f"Note {token}.md", f"note {self._random.randrange(9)}.md", "CON.md", "ünï.md"])
        path = bench.root / self._random.choice(FOLDERS) / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"What was learned: {token}\n")

    def _edit(self, bench: Bench) -> None:
        path = self._file(bench)
        if path is None:
            return
        head, fence, _ = path.read_text().rpartition("\n---\n")
        self._gives_up(path)
        new = path.with_suffix(".tmp")
        new.write_text(f"{head}{fence}Rewritten as {self._token()}\n")
        # As most editors do.
        new.replace(path)

    def _tag(self, bench: Bench) -> None:
        path = self._file(bench)
        if path is not None and "\ntags:" not in (text := path.read_text()):
            path.write_text(text.replace("\nscope:", f"\ntags: [t{self._random.randrange(99)}]\nscope:", 1))

    def _rename(self, bench: Bench) -> None:
        path = self._file(bench)
        target = bench.root / self._random.choice(FOLDERS) / f"renamed {self._random.randrange(99)}.md"
        if path is not None and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)

    def _delete(self, bench: Bench) -> None:
        path = self._file(bench)
        if path is not None:
            self._gives_up(path)
            self._deleted.append((path, path.read_bytes()))
            path.unlink()

    def _put_back(self, bench: Bench) -> None:
        """As it was, out of the trash, by whoever deleted it."""
        mine = [one for one in self._deleted if one[0].is_relative_to(bench.root) and not one[0].exists()]
        if mine:
            path, content = self._random.choice(mine)
            self._deleted.remove((path, content))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def _remember(self, bench: Bench) -> None:
        bench.save(f"Saved as {self._token()}", path=f"/{self._random.choice(FOLDERS)}")

    def _memory_id(self, bench: Bench) -> str | None:
        found = bench.memory.list(limit=200)
        return self._random.choice(found).id if len(found) else None

    def _change_memory(self, bench: Bench) -> None:
        id = self._memory_id(bench)
        if id is None:
            return
        fields = self._random.choice(
            [
                {"content": f"Changed to {self._token()}"},
                {"tags": [f"m{self._random.randrange(99)}"]},
                {"path": f"/{self._random.choice(FOLDERS)}"},
                {"title": f"Title {self._token()}"},
            ]
        )
        with contextlib.suppress(MycelError):
            bench.memory.update(id, **fields)  # type: ignore[arg-type]

    def _delete_memory(self, bench: Bench) -> None:
        id = self._memory_id(bench)
        if id is not None:
            with contextlib.suppress(MycelError):
                bench.memory.delete(id)
