"""Every pattern of the package, and how it is used."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from inspect import getsource
from types import ModuleType
from typing import Any

import mycel
from mycel import settings
from mycel.engine.english import people
from mycel.engine.poison import clues
from mycel.engine.transcripts import privacy
from mycel.providers.embeddings import tokens
from mycel.retrieval import analysis

# These look at one place of a text; all others go through it from place to place.
_AT_ONE_PLACE = frozenset({"match", "fullmatch"})
_METHODS = _AT_ONE_PLACE | {"search", "finditer", "findall", "sub", "subn", "split"}
_DEEPEST = 5

# Functions that make patterns, and what they make. Those of module level need none: what they made is found there.
MADE_BY_FUNCTIONS: Mapping[str, Callable[[], Iterable[re.Pattern[Any]]]] = {
    "mycel.engine.english.outright._marks": lambda: (),
    "mycel.engine.english.people.name_pattern": lambda: filter(None, [people.name_pattern(["swe-1", "qa lead"])]),
    "mycel.engine.poison.clues._any_in_letters": lambda: [clues._any_in_letters()],
    "mycel.engine.poison.clues._patterns": lambda: (
        pattern
        for patterns in (clues.certain_patterns(), clues.weighted_patterns())
        for _, _, pattern in patterns.by_number
    ),
    "mycel.engine.transcripts.privacy._Tags.__init__": lambda: (
        tags.pattern for tags in (privacy._IN_TEXTS, privacy._IN_MESSAGES)
    ),
    "mycel.providers.embeddings.tokens.WordPiece.__init__": lambda: [
        tokens.WordPiece({}, special={"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}, max_tokens=8)._special_words
    ],
    "mycel.retrieval.analysis._word_pattern": lambda: [
        analysis._word_pattern(ascii=True),
        analysis._word_pattern(ascii=False),
    ],
    # What an operator sets; few and short.
    "mycel.settings._matching": lambda: (),
    "mycel.settings._assignment": lambda: [settings._assignment("llm_model")],
}


@dataclass(frozen=True)
class Used:
    """A pattern, where it stands, and whether it is tried at one place of a text only."""

    pattern: re.Pattern[Any]
    place: str
    at_one_place: bool

    def read(self, text: str) -> None:
        given: Any = text if isinstance(self.pattern.pattern, str) else text.encode("utf-8", "replace")
        if self.at_one_place:
            self.pattern.match(given)
            self.pattern.fullmatch(given)
        else:
            for _ in self.pattern.finditer(given):
                pass

    def __str__(self) -> str:
        return f"{self.place} {self.pattern.pattern!r:.80}"


@cache
def package_modules() -> tuple[ModuleType, ...]:
    found = (importlib.import_module(one.name) for one in pkgutil.walk_packages(mycel.__path__, "mycel."))
    return (mycel, *found)


@cache
def all_patterns() -> tuple[Used, ...]:
    """Those of modules, in whatever holds them there, and those that functions make."""
    found: dict[tuple[Any, int], Used] = {}
    for module in package_modules():
        if not any(_patterns_in(list(vars(module).values()), depth=-1)):
            continue
        called = _methods_called(module)
        tables = frozenset().union(*(methods for name, methods in called.items() if name not in vars(module)))
        for name, value in vars(module).items():
            methods = called.get(name, tables)
            for pattern in _patterns_in(value):
                is_at_one_place = bool(methods) and methods <= _AT_ONE_PLACE
                known = found.get((pattern.pattern, pattern.flags))
                if known is None or (known.at_one_place and methods and not is_at_one_place):
                    place = f"{module.__name__}.{name}"
                    found[pattern.pattern, pattern.flags] = Used(pattern, place, is_at_one_place)
    for place, make in MADE_BY_FUNCTIONS.items():
        for pattern in make():
            found[pattern.pattern, pattern.flags] = Used(pattern, place, at_one_place=False)
    return tuple(found.values())


def uses_within_functions(module: ModuleType) -> Iterator[str]:
    """The functions that call `re` themselves, by name and by what they call."""
    source = getsource(module)
    # Reading all modules as Python takes seconds; most of them make no pattern.
    if re.search(r"\bre\.", source):
        yield from _uses(ast.parse(source), module.__name__, within=False)


def _uses(node: ast.AST, place: str, *, within: bool) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield from _uses(child, place if within else f"{place}.{name}", within=True)
            case ast.Lambda():
                yield from _uses(child, place, within=True)
            case ast.ClassDef(name=name):
                yield from _uses(child, f"{place}.{name}", within=within)
            case _:
                match child:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=called)) if within:
                        if called != "escape":
                            yield place
                    case _:
                        pass
                yield from _uses(child, place, within=within)


def _methods_called(module: ModuleType) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for node in ast.walk(ast.parse(getsource(module))):
        match node:
            case ast.Attribute(value=ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)), attr=method):
                if method in _METHODS and name != "re":
                    found[name] = found.get(name, frozenset()) | {method}
            case _:
                pass
    return found


def _patterns_in(value: object, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < _DEEPEST:
        for inner in _held_by(value):
            yield from _patterns_in(inner, depth + 1)


def _held_by(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, tuple | list | set | frozenset):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name, None) for field in fields(value)]
    return ()
