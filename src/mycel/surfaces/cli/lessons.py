"""The commands that write for somebody else: a lesson for a worker, a fact about a person."""

from __future__ import annotations

from typing import Annotated

import typer

from mycel.surfaces.cli.display import show_written
from mycel.surfaces.cli.invocation import Command, Group, invocation
from mycel.surfaces.cli.material import content_of
from mycel.surfaces.cli.options import naming


def add_to(app: typer.Typer) -> None:
    app.command("learn", cls=Command, rich_help_panel="Write")(learn)
    group = typer.Typer(cls=Group, help="Keep facts about the people of a team.")
    group.command("set", cls=Command)(set_fact)
    app.add_typer(group, name="profile", rich_help_panel="Write")


def learn(
    context: typer.Context,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The member who should learn it.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The lesson; `-` reads it from standard input.")],
    *,
    category: Annotated[
        str, typer.Option("--category", metavar="NAME", help="What it is about, such as mistake-pattern.")
    ],
    private: Annotated[bool, typer.Option("--private", help="For this member alone, not for the team.")] = False,
) -> None:
    """Teach a member of the team a lesson that the whole team may read. For leads and admins."""
    call = invocation(context)
    lesson = content_of(text, field="text")
    with naming(agent_id="agent", content="text"), call.memory() as memory:
        taught = memory.inject_learning(agent, lesson, category, private=private)
    call.answer(taught, lambda: show_written(taught, done="saved"))


def set_fact(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="What the fact is about, such as editor.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The fact; `-` reads it from standard input.")],
    *,
    about: Annotated[
        str | None, typer.Option(metavar="MEMBER", help="The person; by default whoever runs this.")
    ] = None,
    confirmed: Annotated[
        bool, typer.Option("--confirmed", help="An admin vouches for it; otherwise it waits for the person.")
    ] = False,
) -> None:
    """Set a fact about a person; what stood under the key is replaced."""
    call = invocation(context)
    fact = content_of(value, field="value")
    with naming(content="value"), call.memory() as memory:
        stored = memory.upsert_profile_fact(key, fact, about=about, confirmed=confirmed)
    call.answer(stored, lambda: show_written(stored, done="saved"))
