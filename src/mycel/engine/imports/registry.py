"""The table of forms: what each is called, how it is recognised, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import IO, Any, cast

from mycel.domain import fields
from mycel.engine.imports import (
    agent_files,
    basic_memory,
    chatgpt,
    claude_code,
    claude_export,
    claude_mem,
    graphiti,
    langgraph,
    letta,
    mcp_memory,
    mem0,
    notes,
)
from mycel.engine.imports.json_stream import Cut, Element, elements, json_lines
from mycel.engine.imports.material import Entry, Material, head_of
from mycel.engine.imports.missing_files import missing_files
from mycel.engine.imports.records import Found, Left, Warned
from mycel.engine.imports.values import cut_in

# Enough to know what a folder or file holds; a large one is not read whole for that.
_LOOKED_AT = 200
_VALUES = 20
# So much of each file is read to see what it is, and so much of all of them; each is looked at once for all forms.
_SNIFFED_BYTES, _SNIFFED_IN_ALL = 8 * 1024 * 1024, 64 * 1024 * 1024
_JSON = (".json", ".jsonl", ".ndjson", ".af")


class _Looks:
    """What was read so far to recognise one material."""

    def __init__(self) -> None:
        self.left = _SNIFFED_IN_ALL
        self.known: dict[str, Sniffed] = {}


_LOOKS: ContextVar[_Looks | None] = ContextVar("looks", default=None)


def _sniffed(entry: Entry) -> Sniffed:
    looks = _LOOKS.get()
    if looks is None:
        return Sniffed(entry)
    found = looks.known.get(entry.name)
    if found is None:
        found = looks.known[entry.name] = Sniffed(entry, looks)
    return found


class _Begun:
    """The beginning of a file; whoever reads on is told that it is too long to be looked at."""

    def __init__(self, file: IO[bytes], looks: _Looks) -> None:
        self._file = file
        self._looks = looks
        self._left = _SNIFFED_BYTES

    def read(self, size: int = -1) -> bytes:
        return self._counted(self._file.read(self._most(size)))

    def readline(self, size: int = -1) -> bytes:
        return self._counted(self._file.readline(self._most(size)))

    def _most(self, size: int) -> int:
        left = min(self._left, self._looks.left)
        return min(size, left) if size >= 0 else left

    def _counted(self, part: bytes) -> bytes:
        self._left -= len(part)
        self._looks.left -= len(part)
        return part


class Sniffed:
    """How a JSON file begins."""

    def __init__(self, entry: Entry, looks: _Looks | None = None) -> None:
        self._entry = entry
        self._looks = looks or _Looks()

    def _opened(self, file: IO[bytes]) -> IO[bytes]:
        return cast("IO[bytes]", _Begun(file, self._looks))

    @cached_property
    def head(self) -> bytes:
        return head_of(self._entry)

    @cached_property
    def members(self) -> list[Element]:
        if self.head.lstrip()[:1] not in (b"[", b"{"):
            return []
        found: list[Element] = []
        try:
            with self._entry.open() as file:
                found.extend(islice(elements(self._opened(file)), _VALUES))
        except (Cut, ValueError, OSError):
            pass
        return found

    @cached_property
    def lines(self) -> list[Any]:
        if self.head.lstrip()[:1] != b"{":
            return []
        with self._entry.open() as file:
            return [one.value for one in islice(json_lines(self._opened(file)), _VALUES) if one.problem is None]

    def has_element(self, recognises: Callable[[object], bool]) -> bool:
        return any(recognises(one.value) for one in self.members)

    def has_line(self, recognises: Callable[[object], bool]) -> bool:
        return any(map(recognises, self.lines))

    @property
    def whole(self) -> dict[str, Any]:
        return {one.name: one.value for one in self.members if one.name}


@dataclass(frozen=True, slots=True)
class Form:
    """`own_ids`: what its records are known by is unique everywhere, not only within one file or folder.

    `system` is whose records they are; two forms of one system know each other's.
    """

    name: str
    about: str
    recognises: Callable[[Material], bool]
    read: Callable[[Material], Iterator[Found]]
    own_ids: bool = False
    system: str = ""

    def system_of(self, origin: str) -> str:
        name = self.system or self.name
        return name if self.own_ids else f"{name}:{origin}"[: fields.MAX_LABEL].strip()


def _json_entries(material: Material) -> list[Entry]:
    named = [one for one in material.entries() if one.name.lower().endswith(_JSON) and one.problem is None]
    # A single file is what it is, whatever its name ends in.
    return named if material.is_folder else list(material.entries())


def _by_file(
    name: str,
    about: str,
    recognises: Callable[[Sniffed], bool],
    read: Callable[[Entry], Iterator[Found]],
    *,
    own_ids: bool = True,
) -> Form:
    """A form of which every file stands for itself."""

    def recognises_material(material: Material) -> bool:
        if material.tables() is not None:
            return False
        return any(recognises(_sniffed(entry)) for entry in _json_entries(material)[:_LOOKED_AT])

    def read_material(material: Material) -> Iterator[Found]:
        for entry in material.entries():
            if entry.problem is not None:
                yield Left("file", entry.name, entry.problem, refused=True)
            elif not material.is_folder or (entry.name.lower().endswith(_JSON) and recognises(Sniffed(entry))):
                yield from _guarded(entry, read)
            else:
                yield Left("file", entry.name, "is nothing that this form has")
        if lacking := missing_files(material.entries()) if material.is_folder else []:
            more = f" and {len(lacking) - 1:,} more" if len(lacking) > 1 else ""
            yield Warned(f"{material.name} lacks {lacking[0]}{more}: a part of the export is not here")

    return Form(name, about, recognises_material, read_material, own_ids)


def _guarded(entry: Entry, read: Callable[[Entry], Iterator[Found]]) -> Iterator[Found]:
    """A file that is no such thing, or that cannot be read further, costs only itself."""
    try:
        yield from read(entry)
    except (ValueError, OSError) as error:
        yield Left("file", entry.name, str(error) or "cannot be read", refused=True)


def _by_tables(
    name: str,
    about: str,
    recognises: Callable[[Any], bool],
    read: Callable[[Any], Iterator[Found]],
    *,
    own_ids: bool = False,
    system: str = "",
) -> Form:
    def recognises_material(material: Material) -> bool:
        tables = material.tables()
        return tables is not None and recognises(tables)

    def read_material(material: Material) -> Iterator[Found]:
        tables = material.tables()
        if tables is None or not recognises(tables):
            yield Left("file", material.name, "is no such database", refused=True)
        else:
            yield from read(tables)

    return Form(name, about, recognises_material, read_material, own_ids, system)


def _rows(read_element: Callable[[Element, str], Iterator[Found]], recognises: Callable[[object], bool]) -> Any:
    """A file of lines, or of one list, or of an object with lists."""

    def read(entry: Entry) -> Iterator[Found]:
        is_lines = Sniffed(entry).has_line(recognises)
        with entry.open() as file:
            try:
                for element in json_lines(file) if is_lines else elements(file):
                    if element.problem is not None or isinstance(element.value, dict):
                        yield from read_element(element, f"{entry.name}, record {element.number}")
                    if element.is_cut:
                        raise Cut
            except Cut:
                yield cut_in(entry.name)

    return read


def _is_claude_export(sniffed: Sniffed) -> bool:
    one = claude_export
    parts = (one.recognises, one.is_project, one.is_memories)
    return any(sniffed.has_element(part) for part in parts) or any(part(sniffed.whole) for part in parts)


def _is_rows(recognises: Callable[[object], bool]) -> Callable[[Sniffed], bool]:
    return lambda sniffed: sniffed.has_element(recognises) or sniffed.has_line(recognises)


def _markdown(material: Material) -> list[Entry]:
    return [entry for entry in material.entries() if notes.is_markdown(entry) and entry.problem is None]


def _is_claude_code(material: Material) -> bool:
    if any(entry.base == claude_code.INDEX for entry in material.entries()):
        return True
    lines = [entry for entry in _json_entries(material) if entry.problem is None][:_LOOKED_AT]
    return any(claude_code.is_transcript(Sniffed(entry).lines) for entry in lines)


def _read_claude_code(material: Material) -> Iterator[Found]:
    yield from claude_code.read_memory(_markdown(material))
    for entry in material.entries():
        if entry.problem is not None:
            yield Left("file", entry.name, entry.problem, refused=True)
        elif entry.name.lower().endswith(".jsonl") or (not material.is_folder and not notes.is_markdown(entry)):
            yield from _guarded(entry, claude_code.read_transcript)
        elif not notes.is_markdown(entry):
            yield Left("file", entry.name, "is neither a transcript nor a topic")


FORMS: Sequence[Form] = (
    _by_tables("claude-mem", "claude-mem's database", claude_mem.recognises, claude_mem.read),
    _by_tables(
        "mem0-history",
        "mem0's local history database",
        mem0.has_history,
        mem0.read_history,
        own_ids=True,
        system="mem0",
    ),
    _by_tables(
        "langgraph-sqlite",
        "a SQLite store of LangGraph",
        langgraph.has_store,
        langgraph.read_tables,
        system="langgraph",
    ),
    _by_file(
        "chatgpt",
        "an export of ChatGPT, zip or JSON",
        lambda sniffed: sniffed.has_element(chatgpt.recognises),
        chatgpt.read,
    ),
    _by_file("claude", "an export of Claude, zip or JSON", _is_claude_export, claude_export.read),
    _by_file("letta", "an agent file of Letta", lambda one: letta.recognises(one.head), letta.read, own_ids=False),
    _by_file(
        "graphiti",
        "episodes and facts of Graphiti",
        _is_rows(graphiti.recognises),
        _rows(graphiti.read_element, graphiti.recognises),
    ),
    _by_file("mem0", "memories of mem0", lambda sniffed: sniffed.has_element(mem0.recognises), mem0.read),
    _by_file(
        "langgraph",
        "rows of a LangGraph store, as JSON",
        _is_rows(langgraph.recognises),
        _rows(langgraph.read_element, langgraph.recognises),
        own_ids=False,
    ),
    _by_file(
        "mcp-memory",
        "the official MCP memory server's file",
        lambda sniffed: sniffed.has_line(mcp_memory.recognises),
        mcp_memory.read,
        own_ids=False,
    ),
    Form("claude-code", "Claude Code's memory folder and transcripts", _is_claude_code, _read_claude_code),
    Form(
        "basic-memory",
        "a folder of basic-memory",
        lambda material: any(map(basic_memory.recognises, _markdown(material)[:_LOOKED_AT])),
        lambda material: basic_memory.read(material.entries()),
    ),
    Form(
        "agent-files",
        "CLAUDE.md and AGENTS.md files",
        lambda material: any(map(agent_files.recognises, [one for one in material.entries() if not one.folder])),
        lambda material: agent_files.read(material.entries()),
    ),
    Form(
        "markdown",
        "a folder of markdown, such as an Obsidian vault",
        lambda material: bool(_markdown(material)),
        lambda material: notes.read(material.entries()),
    ),
)
NAMES = tuple(form.name for form in FORMS)


def recognise(material: Material) -> Form | None:
    """Find the form of what is given, from a bounded look at how its files begin."""
    token = _LOOKS.set(_Looks())
    try:
        return next((form for form in FORMS if form.recognises(material)), None)
    finally:
        _LOOKS.reset(token)


def form_of(name: str) -> Form | None:
    return next((form for form in FORMS if form.name == name), None)
