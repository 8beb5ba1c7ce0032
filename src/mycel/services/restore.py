"""Restoring a backup: what it would take away, and what was taken away since and must not come back with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from mycel.access.scope import engine_scope
from mycel.contracts.directory import DirectoryTransaction
from mycel.contracts.store import Store, Transaction
from mycel.domain.archive import BackupNote, Tombstone
from mycel.domain.backup import Backup, RestorePlan, TeamRestored
from mycel.domain.ids import SourceId, TeamName
from mycel.domain.query import Filters
from mycel.domain.receipt import PurgedPassage
from mycel.domain.source import Source
from mycel.domain.team import Member, Token
from mycel.domain.transfer import ORGANISATION
from mycel.engine.purged_passages import title_beside
from mycel.errors import MycelError
from mycel.services.erasure import purge
from mycel.services.transfer import Side

BATCH = 100
_ANYTHING = Filters(statuses=())


def plan_restore(backup: Backup, then: Side, now: Side | None) -> RestorePlan:
    """`then` is a copy of the backup; `now` what it would replace, as far as that can be read."""
    teams = {*then.stores.teams_with_store(), *(() if now is None else now.stores.teams_with_store())}
    lost = [] if now is None else [damage.team for damage in now.stores.damages() if damage.team is not None]
    unreadable = sorted({team for team in lost if team in teams})
    found = tuple(_plan_team(team, then, None if team in unreadable else now) for team in sorted(teams))
    plan = RestorePlan(backup=backup, teams=found, unreadable=tuple(unreadable))
    if now is None:
        return plan
    try:
        return _with_members(plan, then, now)
    except MycelError:
        return replace(plan, unreadable=(ORGANISATION, *plan.unreadable))


def keep_taken_away(then: Side, now: Side) -> None:
    """What was purged, revoked and removed since the backup was made stays so in its copy; bytes are scrubbed."""
    try:
        revoked, removed = _ended(then, now)
        then.directory.transact(lambda transaction: _end(transaction, revoked, removed))
    except MycelError:
        # Named in the plan: whoever restores was told and goes on.
        pass
    damaged = {damage.team for damage in now.stores.damages()}
    for team in then.stores.teams_with_store():
        if team not in damaged and team in now.stores.teams_with_store():
            with then.stores.lease(team) as old, now.stores.lease(team) as present:
                _keep_purged(old, present)
                old.files.scrub()


def note_kept(then: Side, location: str) -> None:
    """That what was replaced is kept there, so that receipts of what is purged from now on name it like a backup."""
    for team in then.stores.teams_with_store():
        with then.stores.lease(team) as store:
            store.transact(
                lambda transaction: transaction.archive.put_backup_note(
                    BackupNote(location, transaction.committed_at, transaction.committed_at)
                )
            )


def empty(side: Side, *, but: Collection[str]) -> None:
    """Of every team but these: a backup of before they were made has none of them."""
    for team in side.stores.teams_with_store():
        if team not in but:
            with side.stores.lease(team) as store:
                store.tables.replace(lambda take: None)


def _plan_team(team: TeamName, then: Side, now: Side | None) -> TeamRestored:
    was_there = team in then.stores.teams_with_store()
    is_there = now is not None and team in now.stores.teams_with_store()
    memories_then, reached = _state(then, team) if was_there else (None, 0)
    memories_now, last = _state(now, team) if now is not None and is_there else (None, None)
    again = len(_purged_since(then, now, team)) if now is not None and was_there and is_there else 0
    return TeamRestored(
        team=team,
        memories_now=memories_now,
        memories_then=memories_then,
        changes_lost=None if last is None else max(0, last - reached),
        purged_again=again,
    )


def _state(side: Side, team: TeamName) -> tuple[int, int]:
    with side.stores.lease(team) as store:
        return store.memories.count(engine_scope(team), _ANYTHING), store.log.last_sequence()


def _purged_since(then: Side, now: Side, team: TeamName) -> list[Tombstone]:
    with then.stores.lease(team) as old, now.stores.lease(team) as present:
        known = {stone.memory_id for stone in old.archive.tombstones()}
        return [stone for stone in present.archive.tombstones() if stone.memory_id not in known]


def _with_members(plan: RestorePlan, then: Side, now: Side) -> RestorePlan:
    revoked, removed = _ended(then, now)
    known = {member.id for member in then.directory.list_members()}
    tokens = {token.id for token in then.directory.list_tokens()}
    return replace(
        plan,
        members_lost=tuple(member.id for member in now.directory.list_members() if member.id not in known),
        members_removed=tuple(member.id for member in removed),
        tokens_lost=sum(token.id not in tokens and token.revoked_at is None for token in now.directory.list_tokens()),
        tokens_revoked=len(revoked),
    )


def _ended(then: Side, now: Side) -> tuple[list[Token], list[Member]]:
    """Tokens revoked and members removed since."""
    over = {token.id for token in now.directory.list_tokens() if token.revoked_at is not None}
    revoked = [token for token in then.directory.list_tokens() if token.id in over and token.revoked_at is None]
    gone = [now.directory.find_member(member.id) for member in then.directory.list_members()]
    return revoked, [member for member in gone if member is not None and member.removed_at is not None]


def _end(transaction: DirectoryTransaction, revoked: Sequence[Token], removed: Sequence[Member]) -> None:
    for token in revoked:
        transaction.revoke_tokens(token_id=token.id)
    for member in removed:
        transaction.put_member(member)
        transaction.revoke_tokens(member_id=member.id)


def _keep_purged(old: Store, present: Store) -> None:
    stones = present.archive.tombstones()
    for start in range(0, len(stones), BATCH):
        batch = stones[start : start + BATCH]
        old.transact(lambda transaction, batch=batch: _purge_again(transaction, old.team, batch))
    _blank_sources(old, present)
    notes = present.archive.backup_notes()
    old.transact(lambda transaction: [transaction.archive.put_backup_note(note) for note in notes])


def _purge_again(transaction: Transaction, team: TeamName, stones: Sequence[Tombstone]) -> None:
    for stone in stones:
        memory = transaction.memories.find(engine_scope(team), stone.memory_id, deleted=True)
        if memory is not None:
            purge(transaction, memory, by=stone.purged_by)
        if memory is not None or not transaction.archive.is_known(stone):
            # The receipt that somebody was given then stays the receipt.
            transaction.archive.put_tombstone(stone)


def _blank_sources(old: Store, present: Store) -> None:
    """What was drawn from a source and purged, all after the backup was made, still stands in the source of then."""
    scope = engine_scope(old.team)
    passages: dict[SourceId, list[PurgedPassage]] = {}
    for one in present.archive.passages():
        passage = PurgedPassage(one.words, one.letters, bytes.fromhex(one.key), bytes.fromhex(one.digest))
        passages.setdefault(one.source_id, []).append(passage)
    for id, purged in passages.items():
        source, blanked = old.sources.find(scope, id), present.sources.find(scope, id)
        if source is not None and blanked is not None:
            old.transact(
                lambda transaction, source=source, blanked=blanked, purged=purged: _blank(
                    transaction, source, blanked, purged
                )
            )


def _blank(transaction: Transaction, source: Source, blanked: Source, passages: Sequence[PurgedPassage]) -> None:
    # A session that has gone on since has more to say than it had then.
    text = blanked.text[: len(source.text)]
    if text != source.text:
        transaction.sources.blank(source.id, text, title=title_beside(blanked.title, text, ()))
    transaction.sources.add_passages(source.id, passages)
