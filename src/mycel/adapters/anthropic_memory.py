"""The memory tool of the Anthropic SDK, on a team's memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from mycel.adapters.memory_files import FileRefused, MemoryFiles
from mycel.adapters.shelf import Shelf, missing_package
from mycel.contracts.memory_api import MemoryApi
from mycel.errors import MycelError

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anyio import to_thread
except ImportError as error:
    raise missing_package("anthropic", error) from error

if TYPE_CHECKING:
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

FOLDER = "/memories"
TAG = "memory-file"


class MycelMemoryTool(BetaAbstractMemoryTool):
    """Each file is one memory, at its own path below `folder`; a deleted file can be restored as any memory.

    What Mycel refuses, a text that is too long or a file of somebody else, becomes a `ToolError` that says so.
    """

    def __init__(
        self,
        memory: MemoryApi,
        *,
        folder: str = FOLDER,
        project: str | None = None,
        visibility: str = "team",
        tags: Sequence[str] = (),
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        shelf = Shelf(memory, folder=folder, tag=TAG, project=project, visibility=visibility, tags=tags)
        self._files = MemoryFiles(shelf)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return _answer(lambda: self._files.view(command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return _answer(lambda: self._files.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return _answer(lambda: self._files.str_replace(command.path, command.old_str, command.new_str))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return _answer(lambda: self._files.insert(command.path, command.insert_line, command.insert_text))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return _answer(lambda: self._files.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return _answer(lambda: self._files.rename(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        return _answer(self._files.clear)


class AsyncMycelMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for `AsyncAnthropic`; the work is done in threads."""

    def __init__(
        self,
        memory: MemoryApi,
        *,
        folder: str = FOLDER,
        project: str | None = None,
        visibility: str = "team",
        tags: Sequence[str] = (),
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = MycelMemoryTool(memory, folder=folder, project=project, visibility=visibility, tags=tags)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await to_thread.run_sync(partial(self._tool.view, command))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await to_thread.run_sync(partial(self._tool.create, command))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await to_thread.run_sync(partial(self._tool.str_replace, command))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await to_thread.run_sync(partial(self._tool.insert, command))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await to_thread.run_sync(partial(self._tool.delete, command))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await to_thread.run_sync(partial(self._tool.rename, command))

    async def clear_all_memory(self) -> str:
        return await to_thread.run_sync(self._tool.clear_all_memory)


def _answer(work: Callable[[], str]) -> str:
    try:
        return work()
    except (FileRefused, MycelError) as error:
        raise ToolError(str(error)) from error
