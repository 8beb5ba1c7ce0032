"""Reads Python source without importing it: functions, docstrings, and query-code pairs."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from training.gather.clean import Text, digest, is_code, is_prose, normalise
from training.gather.prose import inline, sentences

MAX_CODE = 1200
MAX_PAIR_CODE = 800
MIN_LINES = 3
MAX_LINES = 120
FIELD = re.compile(
    r"^\s*(?::(?:param|type|return|rtype|raises)|@param|Parameters|Args:|Arguments:|Returns?:?$|Raises:?$|Examples?|Notes?:?$)",
    re.MULTILINE,
)
PLAIN_QUERY = re.compile(r"[a-z0-9 ,'()/_\-.=\"]+")


class Function(NamedTuple):
    """One function: its name, its docstring, and its source with and without that docstring."""

    name: str
    docstring: str
    source: str
    bare: str


def functions(source: str) -> Iterator[Function]:
    """Yield the functions of one module; a file that does not parse gives none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = source.split("\n")
    for node in _defined(tree.body):
        if MIN_LINES <= (node.end_lineno or 0) - node.lineno + 1 <= MAX_LINES:
            yield _function(node, lines)


def _defined(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _defined(node.body)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> Function:
    end = node.end_lineno or node.lineno
    whole = lines[node.lineno - 1 : end]
    docstring = ast.get_docstring(node) or ""
    bare = whole
    if docstring:
        first = node.body[0]
        cut_from, cut_to = first.lineno - node.lineno, (first.end_lineno or first.lineno) - node.lineno + 1
        bare = whole[:cut_from] + whole[cut_to:] if cut_from > 0 and len(node.body) > 1 else []
    return Function(node.name, docstring, _tidy(whole), _tidy(bare))


def _tidy(lines: list[str]) -> str:
    kept = [line.rstrip() for line in lines if line.strip()]
    return textwrap.dedent("\n".join(kept))


def cut(code: str, limit: int) -> str:
    """Keep whole lines up to `limit` characters."""
    if len(code) <= limit:
        return code
    return code[: code.rfind("\n", 0, limit) if "\n" in code[:limit] else limit]


def summary(docstring: str) -> str:
    """The first sentence of a docstring as plain words, or nothing when it is not English prose."""
    head = docstring.strip().split("\n\n")[0]
    field = FIELD.search(head)
    text = inline(head[: field.start()] if field else head)
    first = sentences(text)[0] if text else ""
    return first if is_prose(first) and len(first) < 200 else ""


def query(docstring: str) -> str:
    """A search query: the summary in lower case without its full stop."""
    text = summary(docstring).rstrip(".").lower().strip()
    return text if len(text.split()) >= 3 and PLAIN_QUERY.fullmatch(text) else ""


def texts(source: str) -> Iterator[Text]:
    """Each function gives a pair, a code text or a docstring, never its body twice."""
    for function in functions(source):
        choice = digest(function.source) % 10
        wanted = query(function.docstring)
        body = cut(function.bare, MAX_PAIR_CODE)
        if wanted and body.count("\n") >= 2 and is_code(body) and choice < 9:
            yield Text("pair", body, wanted)
        elif choice >= 3:
            code = cut(function.source if choice % 3 else function.bare or function.source, MAX_CODE)
            if is_code(code):
                yield Text("code", code)
        if function.docstring and choice >= 3:
            yield from _docstring(function)


def _docstring(function: Function) -> Iterator[Text]:
    first = summary(function.docstring)
    if not first or function.name.startswith("test"):
        return
    head = function.docstring.strip().split("\n\n")
    more = inline(head[1]) if len(head) > 1 and not FIELD.search(head[1]) else ""
    text = f"{first} {more}" if more and is_prose(more) and len(more) < 400 and digest(first) % 2 else first
    name = function.name.strip("_")
    yield Text("docstring", normalise(f"{name}: {text}" if digest(text) % 2 else text))
