"""The commands about embedders: which there are, whether one works, and which one is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from mycel.errors import Misconfigured
from mycel.surfaces.cli.display import show_done
from mycel.surfaces.cli.invocation import Invocation, add_group, invocation
from mycel.surfaces.cli.output import Column, line, note, print_lines, print_table, whole_list
from mycel.wire.shapes import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mycel.domain.embedding import EmbeddingProgress
    from mycel.domain.ids import TeamName
    from mycel.providers.embeddings.examine import Examination
    from mycel.providers.embeddings.registry import Description
    from mycel.settings import Settings

_LABEL_WIDTH = 15
_STYLES = {"good": "green", "doubtful": "yellow", "bad": "red"}

_CHOICE = "`builtin`, `none`, `openai`, or the folder of a local model"


def add_to(app: typer.Typer) -> None:
    add_group(
        app,
        "model",
        "Run",
        {"list": list_models, "check": check, "use": use},
        help="List, check and choose the models that find memories by meaning.",
    )


def list_models(context: typer.Context) -> None:
    """List the embedders at hand, which of them is in use, and who says so."""
    from mycel.app import describe_embedders
    from mycel.settings import origin_of

    call = invocation(context)
    settings = call.settings()
    found = describe_embedders(settings)
    origin = origin_of("embedder", data=settings.data)
    items = [_item(one, in_use=one.name == settings.embedder, origin=origin) for one in found]
    call.answer(whole_list(items), lambda: _show_list(found, in_use=settings.embedder, origin=origin))


def check(
    context: typer.Context,
    embedder: Annotated[
        str | None, typer.Argument(metavar="NAME_OR_FOLDER", help=f"{_CHOICE}; by default the one in use.")
    ] = None,
) -> None:
    """Check a model: its files, its vectors, what they know of meaning, and how fast it is.

    It fails when the model cannot be used. An endpoint is sent about seventy short sentences that come with Mycel.
    """
    from mycel.app import examine_embedder

    call = invocation(context)
    found = examine_embedder(_settings_for(call, embedder))
    call.answer(found, lambda: _show_examination(found))
    if not found.usable:
        raise Misconfigured(_refusal(found))


def use(
    context: typer.Context,
    embedder: Annotated[str, typer.Argument(metavar="NAME_OR_FOLDER", help=f"{_CHOICE}.")],
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Use it though the check finds that it does not work, now or ever.")
    ] = False,
) -> None:
    """Check a model, then write it into mycel.toml as the embedder of this data directory."""
    from mycel.app import examine_embedder, use_embedder
    from mycel.settings import require_file_decides

    call = invocation(context)
    call.require_operator()
    require_file_decides("embedder")
    settings = _settings_for(call, embedder)
    found = examine_embedder(settings)
    if not found.usable and not force:
        raise Misconfigured(f"{_refusal(found)}; --force uses it all the same")
    file, teams = use_embedder(settings)
    answer = {"embedder": settings.embedder, "file": str(file), "check": found, "teams": teams}
    call.answer(answer, lambda: _show_used(found, settings, file=file, teams=teams))


def _settings_for(call: Invocation, embedder: str | None) -> Settings:
    """A folder is named by its absolute path: whoever reads the setting may stand elsewhere."""
    from mycel.providers.embeddings.registry import NAMES

    if embedder is None or embedder in NAMES or not embedder.strip():
        return call.settings_with(embedder=embedder)
    return call.settings_with(embedder=str(Path(embedder).expanduser().absolute()))


def _refusal(found: Examination) -> str:
    *_, last = found.findings
    return f"{found.embedder} cannot be used ({last.check}): {last.text}"


def _item(one: Description, *, in_use: bool, origin: str) -> dict[str, object]:
    described = cast(dict[str, object], plain(one))
    return {**described, "in_use": in_use, "origin": origin if in_use else None}


def _show_list(found: Sequence[Description], *, in_use: str, origin: str) -> None:
    names = ("in use", "kind", "dimensions", "size")
    columns = (Column("name", "bold"), *map(Column, names), Column("model", "dim", below=True))
    print_table(columns, [_row(one, origin=origin if one.name == in_use else "") for one in found])
    for one in found:
        if one.problem:
            note(f"{one.name} cannot be used: {one.problem}")


def _row(one: Description, *, origin: str) -> tuple[str, ...]:
    dimensions = "" if one.dimensions is None else str(one.dimensions)
    in_use = f"by {origin}" if origin else ""
    return one.name, in_use, one.kind, dimensions, _size(one.size_bytes), one.model or ""


def _size(size_bytes: int | None) -> str:
    if size_bytes is None:
        return ""
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 100_000 else f"{size_bytes / 1e3:.1f} kB"


def _show_examination(found: Examination) -> None:
    if not found.findings:
        note("Nothing to check: with `none`, memories are found by their words.")
        return
    print_lines([line((found.embedder, "bold"), f"  {found.model}")])
    for finding in found.findings:
        outcome = (f"{finding.outcome:<10}", _STYLES[finding.outcome])
        print_lines([line((f"{finding.check:<{_LABEL_WIDTH}}", "dim"), outcome, finding.text, indent=2)])
    print_lines([line((_verdict(found), "bold"))])


def _verdict(found: Examination) -> str:
    if not found.usable:
        return "not usable"
    return "usable, with doubts" if any(_doubts(found)) else "usable"


def _doubts(found: Examination) -> list[str]:
    return [f"{finding.check}: {finding.text}" for finding in found.findings if finding.outcome != "good"]


def _show_used(
    found: Examination, settings: Settings, *, file: Path, teams: Mapping[TeamName, EmbeddingProgress]
) -> None:
    from mycel.settings import variables_behind

    show_done(settings.embedder, f"written to {file}; a service that runs keeps its embedder until it is started again")
    for doubt in _doubts(found):
        note(doubt)
    if found.model is None:
        note("Memories are found by their words. Their vectors stay for the day you come back.")
        return
    if variables := ", ".join(variables_behind(settings, prefix="embedding_")):
        note(f"Set in the environment, and needed wherever Mycel runs: {variables}")
    _show_waiting(teams)


def _show_waiting(teams: Mapping[TeamName, EmbeddingProgress]) -> None:
    waiting = {team: progress.pending for team, progress in teams.items() if progress.pending}
    for team, count in waiting.items():
        note(f"{team}: {count} to embed anew")
    if waiting:
        note("`mycel embed` does it now; otherwise searches do, a few memories at a time.")
