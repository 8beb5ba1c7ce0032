"""The commands about a team's policy: what it is, and changing parts of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from mycel.domain.memory import MadeBy, MemoryType
from mycel.domain.policy import ALL, NEVER, NONE, LeadsBelow, Promote, Secrets, policy_values
from mycel.domain.team import Trust
from mycel.errors import InvalidInput
from mycel.surfaces.cli.invocation import ListingGroup, add_group, invocation
from mycel.surfaces.cli.options import any_of, given, naming
from mycel.surfaces.cli.output import line, note, print_lines

if TYPE_CHECKING:
    from mycel.domain.policy import Policy

_SPAN = "SPAN|never"
_MEANINGS = {
    "least_trust": "whoever is below it writes into the inbox",
    "review": "types that wait for a person, whoever wrote them",
    "promote": "what becomes active by itself: grounded lets what was said outright, or by two sources",
    "promote_from": "confidence from which a candidate becomes active by itself",
    "consolidate_every": "how often the engine consolidates",
    "inbox_kept": "how long candidates wait that nobody looks at",
    "episodes_kept": "how long the ledger of what was tried is kept",
    "purge_after": "when deleted and archived memories are purged",
    "secrets": "what happens to text that holds a secret",
    "leads_below": "which leads of the teams below read this team",
    "decisions_need_rationale": "whether a decision that does not say why waits for a person",
}
_LABEL_WIDTH = 26
_VALUE_WIDTH = 9


def add_to(app: typer.Typer) -> None:
    add_group(
        app,
        "policy",
        "Organise",
        {"show": show, "set": change},
        help="Show or change the policy of a team. Alone it shows it.",
        cls=ListingGroup,
    )


def show(context: typer.Context) -> None:
    """Show what waits for a person in the team, what becomes active by itself, and how long things live."""
    call = invocation(context)
    with call.memory() as memory:
        policy = memory.policy()
    call.answer(policy_values(policy), lambda: _show(policy))


def change(
    context: typer.Context,
    *,
    least_trust: Annotated[
        str | None, typer.Option(metavar="TRUST", help=f"Whoever is below it writes into the inbox: {any_of(Trust)}.")
    ] = None,
    review: Annotated[
        str | None,
        typer.Option(
            metavar="TYPES|all|none",
            help=f"What waits for a person, whoever wrote it, such as decision,profile: {any_of(MemoryType)}.",
        ),
    ] = None,
    promote: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help=f"What becomes active by itself: {any_of(Promote)}; grounded: what was said outright, or by two.",
        ),
    ] = None,
    promote_from: Annotated[
        float | None, typer.Option(metavar="0..1", help="From this confidence a candidate becomes active by itself.")
    ] = None,
    consolidate_every: Annotated[
        str | None, typer.Option(metavar=_SPAN, help="How often the engine consolidates, such as 1h.")
    ] = None,
    life: Annotated[
        list[str] | None,
        typer.Option(
            "--life",
            metavar=f"MADE_BY={_SPAN}",
            help=f"How long memories live, by what made them; repeat it for several of {any_of(MadeBy)}.",
        ),
    ] = None,
    inbox_kept: Annotated[
        str | None, typer.Option(metavar=_SPAN, help="How long candidates wait that nobody looks at.")
    ] = None,
    episodes_kept: Annotated[
        str | None, typer.Option(metavar=_SPAN, help="How long the ledger of what was tried is kept.")
    ] = None,
    purge_after: Annotated[
        str | None, typer.Option(metavar=_SPAN, help="Purge deleted and archived memories after this time.")
    ] = None,
    secrets: Annotated[
        str | None, typer.Option(metavar="WHAT", help=f"What happens to text that holds a secret: {any_of(Secrets)}.")
    ] = None,
    leads_below: Annotated[
        str | None,
        typer.Option(metavar="WHICH", help=f"Which leads of the teams below read this team: {any_of(LeadsBelow)}."),
    ] = None,
    decisions_need_rationale: Annotated[
        bool | None,
        typer.Option(
            "--decisions-need-rationale/--decisions-need-no-rationale",
            help="Whether a decision that does not say why it was made waits for a person.",
        ),
    ] = None,
) -> None:
    """Change parts of the policy; what is not named stays. For leads and admins."""
    parts = given(
        {
            "least_trust": least_trust,
            "review": None if review is None else _types(review),
            "promote": promote,
            "promote_from": promote_from,
            "consolidate_every": consolidate_every,
            "lives": _lives(life) if life else None,
            "inbox_kept": inbox_kept,
            "episodes_kept": episodes_kept,
            "purge_after": purge_after,
            "secrets": secrets,
            "leads_below": leads_below,
        }
    )
    if decisions_need_rationale is not None:
        parts["decisions_need_rationale"] = decisions_need_rationale
    call = invocation(context)
    with naming(lives="life"), call.memory() as memory:
        policy = memory.set_policy(**parts)
        team = memory.team
    call.answer(policy_values(policy), lambda: _show(policy, team=team))


def _types(review: str) -> str | list[str]:
    if review in {ALL, NONE}:
        return review
    return [type.strip() for type in review.split(",") if type.strip()] or NONE


def _lives(given: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in given:
        made_by, equals, span = one.partition("=")
        if not equals:
            raise InvalidInput(f"must be MADE_BY={_SPAN}, such as session_summary=3d", field="life")
        found[made_by.strip()] = span.strip()
    return found


def _show(policy: Policy, *, team: str | None = None) -> None:
    for name, value, meaning in _rows(policy_values(policy)):
        print_lines([line((f"{name:<{_LABEL_WIDTH}}", "dim"), f"{value:<{_VALUE_WIDTH}}", (f"  {meaning}", "dim"))])
    if team is not None:
        note(f"changed for team {team}")


def _rows(values: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """By the options that set them."""
    for name, value in values.items():
        if name == "lives":
            lives = cast(dict[str, str], value)
            yield from (("life", span, f"of what {made_by} made") for made_by, span in lives.items() if span != NEVER)
            continue
        shown = ",".join(cast(list[str], value)) if isinstance(value, list) else str(value)
        if isinstance(value, bool):
            shown = "yes" if value else "no"
        yield name.replace("_", "-"), shown, _MEANINGS[name]
