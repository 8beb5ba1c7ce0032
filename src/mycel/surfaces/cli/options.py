"""Arguments and options that several commands take, each described once."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Any

import typer

from mycel.domain.memory import MemoryType, Status, Visibility
from mycel.domain.team import Role
from mycel.errors import InvalidInput


def any_of(options: type[StrEnum]) -> str:
    return ", ".join(option.value for option in options)


def given(values: Mapping[str, object]) -> dict[str, Any]:
    """What the line named; an option that was left out is left out of the request too."""
    return {name: value for name, value in values.items() if value is not None and value is not False and value != []}


def clear_fields(fields: dict[str, Any], names: Sequence[str]) -> None:
    """Has the request empty what `--clear` names."""
    for name in names:
        field = _CLEARED_AS.get(name, name)
        if field in fields:
            raise InvalidInput("cannot be both set and cleared", field=name)
        fields[field] = [] if field in {"tags", "allowed_roles"} else None


@contextmanager
def naming(**options: str) -> Generator[None]:
    """Errors about fields of the request, told by the names of the options that set them."""
    try:
        yield
    except InvalidInput as error:
        option = options.get(error.field.partition(".")[0])
        if option is None:
            raise
        raise InvalidInput(error.problem, field=option) from None


# Options are named in the singular where they can be repeated.
_CLEARED_AS = {
    "tag": "tags",
    "alternative": "alternatives",
    "role": "allowed_roles",
    "session": "session_id",
    "task": "task_id",
    "ttl": "expires_at",
}


_ABOUT = "What it says"
_PLACE = "Where it belongs"
_AUDIENCE = "Who reads it, and how long"
_WRITING = "How it is written"
_FILTERS = "Filters"

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The id of the memory.")]

Type = Annotated[str | None, typer.Option(metavar="TYPE", help=f"One of {any_of(MemoryType)}.", rich_help_panel=_ABOUT)]
Title = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="By default the first sentence of the content.", rich_help_panel=_ABOUT),
]
Summary = Annotated[
    str | None, typer.Option(metavar="TEXT", help="A short form of the content.", rich_help_panel=_ABOUT)
]
Tag = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="Repeat it for several.", rich_help_panel=_ABOUT)
]
Category = Annotated[
    str | None, typer.Option(metavar="NAME", help="The category within its project.", rich_help_panel=_ABOUT)
]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Makes it knowledge: one standing value per project, category and key.",
        rich_help_panel=_ABOUT,
    ),
]
Rationale = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Why a decision was taken.", rich_help_panel=_ABOUT)
]
Alternative = Annotated[
    list[str] | None,
    typer.Option(
        "--alternative", metavar="TEXT", help="What was not chosen; repeat it for several.", rich_help_panel=_ABOUT
    ),
]
Confidence = Annotated[
    float | None, typer.Option(metavar="0..1", help="How sure the writer is.", rich_help_panel=_ABOUT)
]

Project = Annotated[str | None, typer.Option(metavar="NAME", help="The project it applies to.", rich_help_panel=_PLACE)]
Repo = Annotated[str | None, typer.Option(metavar="NAME", help="The repo it applies to.", rich_help_panel=_PLACE)]
PathOption = Annotated[
    str | None,
    typer.Option(
        "--path",
        metavar="/PATH",
        help="Its folder, where /projects/NAME says the project; by default one that follows from type and project.",
        rich_help_panel=_PLACE,
    ),
]
AgentSession = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help="The agent session it comes from.", rich_help_panel=_PLACE),
]
Task = Annotated[
    str | None, typer.Option("--task", metavar="ID", help="The task it comes from.", rich_help_panel=_PLACE)
]

VisibilityOption = Annotated[
    str | None,
    typer.Option("--visibility", metavar="WHO", help=f"One of {any_of(Visibility)}.", rich_help_panel=_AUDIENCE),
]
AllowedRole = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        metavar="ROLE",
        help=f"Who reads it with visibility 'role'; repeat it for several of {any_of(Role)}.",
        rich_help_panel=_AUDIENCE,
    ),
]
Ttl = Annotated[
    str | None, typer.Option(metavar="SPAN", help="Forget it after 12h, 7d, 4w …", rich_help_panel=_AUDIENCE)
]

NeedsReview = Annotated[
    bool,
    typer.Option("--needs-review", help="Send it to the inbox for a human first.", rich_help_panel=_WRITING),
]
IdempotencyKey = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="The same call with the same key is done once.", rich_help_panel=_WRITING),
]
Clear = Annotated[
    list[str] | None,
    typer.Option("--clear", metavar="FIELD", help="Empty a field, such as key; repeat it for several."),
]

SessionId = Annotated[
    str | None,
    typer.Option(
        "--session-id", "--session", metavar="ID", help="The agent session it belongs to.", rich_help_panel=_PLACE
    ),
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
    str | None, typer.Option("--project", metavar="NAME", help="Of this project.", rich_help_panel=_FILTERS)
]
RepoFilter = Annotated[
    str | None, typer.Option("--repo", metavar="NAME", help="Of this repo.", rich_help_panel=_FILTERS)
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
PageLimit = Annotated[int | None, typer.Option("--limit", metavar="N", help="At most so many, 50 by default.", min=1)]
Cursor = Annotated[str | None, typer.Option("--cursor", metavar="TEXT", help="The `next_cursor` of the page before.")]


def filters(
    *,
    type: list[str] | None,
    tag: list[str] | None,
    status: list[str] | None,
    **others: str | None,
) -> dict[str, Any]:
    """The filters named on the line, as `FilterFields`."""
    # `any` and `expired` ask for every status, so each stands alone.
    states = status[0] if status and len(status) == 1 else status
    return given({"type": type, "tags": tag, "status": states, **others})
