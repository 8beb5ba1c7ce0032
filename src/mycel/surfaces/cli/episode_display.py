"""How the ledger looks to a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mycel.domain.episode import Action
from mycel.surfaces.cli.display import labelled, moment, show_done, show_more, when
from mycel.surfaces.cli.output import Column, line, note, print_lines, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mycel.domain.briefing import Briefing
    from mycel.domain.episode import Episode, Record, SimilarEpisode, SuccessRate
    from mycel.domain.query import Page

_STYLES = {Action.COMPLETED: "green", Action.FAILED: "red", Action.RETRIED: "yellow", Action.ATTEMPTED: "cyan"}
_EPISODE = (
    Column("approach", "bold"),
    Column("action"),
    Column("agent"),
    Column("task"),
    Column("when", "dim"),
    Column("id", "dim", below=True),
    Column("outcome", below=True, apart=True),
)


def show_logged(episode: Episode) -> None:
    show_done(episode.id, f"logged: {episode.memory.title}")


def show_briefing(briefing: Briefing) -> None:
    text = briefing.to_markdown()
    if text:
        print_lines([line(text)])
    else:
        note("Nothing is known that would help.")
    if briefing.waiting:
        note(f"{briefing.waiting} for review: `mycel inbox` lists, `mycel inbox approve ID` approves.")


def show_episodes(page: Page[Episode]) -> None:
    if page:
        print_table(_EPISODE, [_row(episode) for episode in page])
    else:
        note("No episodes.")
    show_more(page)


def show_episode(episode: Episode) -> None:
    print_lines([line((episode.approach, "bold"), "  ", (episode.action.value, _STYLES[episode.action]))])
    print_lines(labelled(name, value) for name, value in _fields(episode) if value)


def show_similar(found: Sequence[SimilarEpisode]) -> None:
    if not found:
        note("Nothing like it was done before.")
        return
    columns = (Column("approach", "bold"), Column("relevance"), *_EPISODE[1:])
    print_table(columns, [_with_relevance(one) for one in found])


def show_records(records: Sequence[Record]) -> None:
    if not records:
        note("Nobody has done anything like it.")
        return
    columns = (Column("agent", "bold"), Column("score"), Column("completed"), Column("failed"))
    rows = [(record.agent_id, f"{record.score:.2f}", str(record.completed), str(record.failed)) for record in records]
    print_table(columns, rows)


def show_rates(found: Sequence[SuccessRate], *, by: str) -> None:
    if not found:
        note("No episodes in that time.")
        return
    names = ("rate", "completed", "failed", "episodes", "mean time", "tokens")
    print_table((Column(by, "bold"), *(Column(name) for name in names)), [_rate_row(one) for one in found])


def _row(episode: Episode) -> tuple[str, ...]:
    return (
        episode.approach,
        episode.action,
        episode.agent_id,
        episode.task_id or "",
        when(episode.created_at),
        episode.id,
        episode.outcome or "",
    )


def _with_relevance(one: SimilarEpisode) -> tuple[str, ...]:
    approach, *rest = _row(one.episode)
    return approach, f"{one.relevance:.2f}", *rest


def _fields(episode: Episode) -> list[tuple[str, str]]:
    return [
        ("id", episode.id),
        ("outcome", episode.outcome or ""),
        ("task", episode.task_id or ""),
        ("agent", episode.agent_id),
        ("written by", episode.memory.agent_id),
        ("project", episode.project_id or ""),
        ("took", _time(episode.duration_ms)),
        ("tokens in", _count(episode.tokens_in)),
        ("tokens out", _count(episode.tokens_out)),
        ("created", moment(episode.created_at)),
    ]


def _rate_row(one: SuccessRate) -> tuple[str, ...]:
    tally = one.tally
    tokens = tally.tokens_in + tally.tokens_out
    return (
        one.name,
        "" if tally.rate is None else f"{tally.rate:.0%}",
        str(tally.completed),
        str(tally.failed),
        str(tally.episodes),
        _time(tally.mean_duration_ms),
        _count(tokens or None),
    )


def _time(milliseconds: float | None) -> str:
    if milliseconds is None:
        return ""
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"
