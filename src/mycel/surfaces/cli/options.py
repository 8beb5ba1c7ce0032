"""Arguments and options that several commands take, each described once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import wraps
from typing import Annotated, Any, TypeVar, cast, get_args

import typer

from mycel.domain.memory import WRITTEN, MemoryType, Status
from mycel.domain.memory_field import LISTS, FieldRow, Holds, Panel
from mycel.errors import InvalidInput

CommandT = TypeVar("CommandT", bound=Callable[..., None])


def any_of(options: Iterable[StrEnum]) -> str:
    return ", ".join(option.value for option in options)


def given(values: Mapping[str, object]) -> dict[str, Any]:
    """What the line named; an option that was left out is left out of the request too."""
    return {name: value for name, value in values.items() if value is not None and value is not False and value != []}


def option_of(row: FieldRow) -> Any:
    help = row.help.removesuffix(".")
    if row.holds in LISTS:
        help = f"{help}; repeat it for several"
    if row.options is not None:
        help = f"{help}. One of {any_of(row.options)}"
    metavar = None if row.holds is Holds.FLAG else row.metavar or _METAVARS.get(row.holds, "TEXT")
    names = filter(None, (row.option, row.other_option))
    return typer.Option(*names, metavar=metavar, help=f"{help}.", rich_help_panel=row.panel.value)


def with_fields(rows: Iterable[FieldRow]) -> Callable[[CommandT], CommandT]:
    """Gives a command an option for each of these fields; it gets those named on the line as `fields`."""
    return _taking({row.request: _annotated(row) for row in rows if row.option}, into="fields")


def with_filters(options: Mapping[str, Any], *, without: str = "") -> Callable[[CommandT], CommandT]:
    """Gives a command these options; it gets those named on the line as `filters`."""
    return _taking({name: option for name, option in options.items() if name != without}, into="filters")


def _taking(options: Mapping[str, Any], *, into: str) -> Callable[[CommandT], CommandT]:
    """By their names in the request."""
    names = {request: _parameter(option, request) for request, option in options.items()}

    def decorate(command: CommandT) -> CommandT:
        @wraps(command)
        def run(*arguments: Any, **named: Any) -> None:
            values = given({request: named.pop(name) for request, name in names.items()})
            # `any` and `expired` ask for every status, so each stands alone.
            match values.get("status"):
                case [alone]:
                    values["status"] = alone
                case _:
                    pass
            command(*arguments, **named, **{into: values})

        signature = inspect.signature(command, eval_str=True)
        own = [one for one in signature.parameters.values() if one.name != into]
        more = [
            inspect.Parameter(
                names[request],
                inspect.Parameter.KEYWORD_ONLY,
                default=False if get_args(option)[0] is bool else None,
                annotation=option,
            )
            for request, option in options.items()
        ]
        # Typer asks for both.
        vars(run)["__signature__"] = signature.replace(parameters=[*own, *more])
        run.__annotations__ = {one.name: one.annotation for one in (*own, *more)}
        return cast(CommandT, run)

    return decorate


def _parameter(option: Any, request: str) -> str:
    """What the option is called; one that says nothing is called as in the request."""
    # Typer keeps the first name where others have their default.
    name = get_args(option)[1].default
    return name.removeprefix("--").replace("-", "_") if isinstance(name, str) else request


def _annotated(row: FieldRow) -> Any:
    if row.holds is Holds.FLAG:
        return Annotated[bool, option_of(row)]
    kind = list[str] if row.holds in LISTS else _TYPES.get(row.holds, str)
    return Annotated[kind | None, option_of(row)]


_TYPES = {Holds.FRACTION: float, Holds.COUNT: int}
_METAVARS = {Holds.COUNT: "N"}


def clear_fields(fields: dict[str, Any], names: Sequence[str]) -> None:
    """Has the request empty what `--clear` names, by the names of options or of fields."""
    options = {
        option.removeprefix("--"): row
        for row in WRITTEN.values()
        for option in (row.option, row.other_option)
        if option
    }
    for name in names:
        row = options.get(name) or WRITTEN.get(name)
        # No time to live is no end.
        field = "expires_at" if name == "ttl" else name if row is None else row.request
        if field in fields:
            raise InvalidInput("cannot be both set and cleared", field=name)
        fields[field] = [] if row is not None and row.holds in LISTS and not row.emptied else None


@contextmanager
def naming(**options: str) -> Generator[None]:
    """Errors about fields of the request, told by the names of the options that set them."""
    try:
        yield
    except InvalidInput as error:
        option = options.get(error.field.partition(".")[0])
        if option is None:
            raise
        raise type(error)(error.problem, field=option) from None


_FILTERS = "Filters"

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The id of the memory.")]

# Of what is no memory and has the same fields.
Confidence = Annotated[float | None, option_of(WRITTEN["confidence"])]
Project = Annotated[str | None, option_of(WRITTEN["project"])]
Repo = Annotated[str | None, option_of(WRITTEN["repo"])]

IdempotencyKey = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="The same call with the same key is done once.", rich_help_panel=Panel.WRITING),
]
Clear = Annotated[
    list[str] | None,
    typer.Option("--clear", metavar="FIELD", help="Empty a field, such as key; repeat it for several."),
]

TypeFilter = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help=f"Repeat it for several of {any_of(MemoryType)}.",
        rich_help_panel=_FILTERS,
    ),
]
TagFilter = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="Repeat it: every tag must be there.", rich_help_panel=_FILTERS),
]
StatusFilter = Annotated[
    list[str] | None,
    typer.Option(
        "--status",
        metavar="STATUS",
        help=f"By default active; repeat it for several of {any_of(Status)}; or any, or expired.",
        rich_help_panel=_FILTERS,
    ),
]
PathFilter = Annotated[
    str | None, typer.Option("--path", metavar="/PATH", help="At or below this folder.", rich_help_panel=_FILTERS)
]
ProjectFilter = Annotated[
    str | None,
    typer.Option("--project", "--project-id", metavar="NAME", help="Of this project.", rich_help_panel=_FILTERS),
]
RepoFilter = Annotated[
    str | None, typer.Option("--repo", "--repo-id", metavar="NAME", help="Of this repo.", rich_help_panel=_FILTERS)
]
CategoryFilter = Annotated[
    str | None, typer.Option("--category", metavar="NAME", help="Of this category.", rich_help_panel=_FILTERS)
]
AuthorFilter = Annotated[
    str | None, typer.Option("--by", metavar="MEMBER", help="Written by this member.", rich_help_panel=_FILTERS)
]
Since = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Not older, such as 2026-11-15T09:00:00Z.", rich_help_panel=_FILTERS),
]
Until = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Not newer, such as 2026-11-15T09:00:00Z.", rich_help_panel=_FILTERS),
]
ValidAt = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="What holds then, such as 2026-12-24.", rich_help_panel=_FILTERS),
]
PageLimit = Annotated[int | None, typer.Option("--limit", metavar="N", help="At most so many, 50 by default.", min=1)]
Cursor = Annotated[str | None, typer.Option("--cursor", metavar="TEXT", help="The `next_cursor` of the page before.")]


# What lists and searches of memories can be asked for, by the names in the request.
FILTERS: Mapping[str, Any] = {
    "type": TypeFilter,
    "tags": TagFilter,
    "project": ProjectFilter,
    "repo": RepoFilter,
    "path": PathFilter,
    "category": CategoryFilter,
    "agent": AuthorFilter,
    "status": StatusFilter,
    "since": Since,
    "until": Until,
    "valid_at": ValidAt,
}
