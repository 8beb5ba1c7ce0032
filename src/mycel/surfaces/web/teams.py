"""Teams: members and their tokens, the policy and what it does, what goes to other teams, and the engine's queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mycel.access.rules import may_curate
from mycel.domain.memory import MadeBy, Status
from mycel.domain.policy import LeadsBelow, Policy, Promote, Secrets, policy_values
from mycel.domain.source import EventState
from mycel.domain.team import Kind, Role, Token, Trust
from mycel.errors import AccessDenied, MycelError, NotFound
from mycel.surfaces.web.memory_page import title_of
from mycel.surfaces.web.page import Form, Page, PageRequest, SeeOther, Shown

HERE = "/teams"
ISSUED = "/teams/issued"
ENDED_SHOWN = 20
EVENTS = 20
CASCADES = 20
# Of each, a few counts; the menu of whoever is signed in has the rest.
GLANCES = 100
# What each part of a policy does, for whoever is about to change it.
EFFECTS: Mapping[str, str] = {
    "least_trust": "Whoever is trusted less writes into the inbox, and a person decides.",
    "review": "What is of these types waits for a person, whoever wrote it: types, all or none.",
    "promote": "reviewed: what a rule alone has found waits for a person. grounded: not where it is sure enough.",
    "promote_from": "How sure a candidate must be to become active without a person, from 0 to 1.",
    "consolidate_every": "How often duplicates are merged and contradictions linked; never waits until somebody asks.",
    "inbox_kept": "Candidates that nobody looked at for so long are archived.",
    "episodes_kept": "How long the ledger keeps what was tried; after that only the counts of each month.",
    "purge_after": "Deleted and archived memories are purged after so long; never keeps them.",
    "secrets": "What looks like a secret is masked, or the write is refused.",
    "leads_below": "Which leads of the teams below read what is for the whole team.",
    "decisions_need_rationale": "Whether a decision that does not say why it was made waits for a person.",
}
# Parts that take one of a few words.
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "least_trust": tuple(Trust),
    "promote": tuple(Promote),
    "secrets": tuple(Secrets),
    "leads_below": tuple(LeadsBelow),
    "decisions_need_rationale": ("false", "true"),
}
_STATES = (EventState.DEAD, EventState.FAILED, EventState.RUNNING, EventState.PENDING)


def show(asked: PageRequest) -> Shown:
    return shown(asked)


def shown(asked: PageRequest, *, error: str | None = None, status: int = 200) -> Shown:
    """Show the team of the reader."""
    caller, policy = asked.caller, asked.memory.policy()
    cascades = list(asked.memory.cascades(limit=CASCADES))
    tokens, ended = _tokens(asked)
    facts: dict[str, object] = {
        "team": caller.team,
        "members": asked.workspace.members(team=caller.team),
        "tokens": tokens,
        "ended_tokens": ended,
        "policy": policy_values(policy) | {"decisions_need_rationale": str(policy.decisions_need_rationale).lower()},
        "cascades": cascades,
        "events": _events(asked),
        "teams_at_a_glance": _at_a_glance(asked) if caller.is_operator else [],
    }
    beside = {
        "effects": EFFECTS,
        "options": OPTIONS,
        "lives": lives_of(policy),
        "error": error,
        "filled": asked.form,
        "roles": tuple(Role),
        "kinds": tuple(Kind),
        "trusts": tuple(Trust),
        "sent_titles": {one.memory_id: title_of(asked, one.memory_id) for one in cascades},
        "issues_for": _issues_for(asked),
        "may_manage": may_curate(caller),
        "may_admit": caller.is_operator or caller.role is Role.ADMIN,
    }
    return Shown(facts, beside, title=f"Team {caller.team}", status=status)


def _issues_for(asked: PageRequest) -> list[str]:
    """Return whose tokens the reader may issue: its own, and for the operator those of the whole team."""
    own = [str(asked.caller.member_id)]
    if not asked.caller.is_operator:
        return own
    members = asked.workspace.members(team=asked.caller.team)
    return own + [str(one.id) for one in members if one.removed_at is None and one.id not in own]


def lives_of(policy: Policy) -> list[tuple[str, str]]:
    values = policy_values(policy)["lives"]
    return [(made_by.value, values[made_by.value]) for made_by in MadeBy]


def _tokens(asked: PageRequest) -> tuple[list[Token], list[Token]]:
    """Return the tokens of whoever the reader has a say over: those that work, and the last ones that do no more."""
    members = {one.id for one in asked.workspace.members(team=asked.caller.team)} | {asked.caller.member_id}
    try:
        tokens = asked.workspace.tokens()
    except AccessDenied:
        tokens = asked.workspace.tokens(member_id=asked.caller.member_id)
    own = sorted((one for one in tokens if one.member_id in members), key=_created, reverse=True)
    ended = [one for one in own if not one.works_at(asked.now)]
    return [one for one in own if one.works_at(asked.now)], ended[:ENDED_SHOWN]


def _created(token: Token) -> datetime:
    return token.created_at


def _events(asked: PageRequest) -> list[Any]:
    """What did not work first: it waits for somebody."""
    return [one for state in _STATES for one in asked.memory.sources.events(state=state, limit=EVENTS)][:EVENTS]


def _at_a_glance(asked: PageRequest) -> list[dict[str, Any]]:
    members = Counter(member.team for member in asked.workspace.members() if member.removed_at is None)
    return [
        {"name": team.name, "parent": team.parent, "members": members[team.name], **_counted(asked, team.name)}
        for team in asked.workspace.teams()[:GLANCES]
    ]


def _counted(asked: PageRequest, team: str) -> dict[str, Any]:
    """What a team keeps and what waits there; of a damaged store, that it is one."""
    try:
        counts = asked.memory_of(team).stats()
    except MycelError:
        return {"is_damaged": True}
    return {
        "is_damaged": False,
        "memories": counts.memories,
        "waiting": counts.by_status.get(Status.INBOX, 0),
        "given_up": counts.events.get(EventState.DEAD, 0),
        "last_day": max(counts.by_day, default=None),
    }


def add_member(asked: PageRequest) -> SeeOther | Shown:
    try:
        asked.workspace.add_member(
            asked.form.get("member", "").strip(),
            team=asked.caller.team,
            role=asked.filled("role"),
            kind=asked.filled("kind"),
            trust=asked.filled("trust") or Trust.NORMAL,
        )
    except MycelError as error:
        return _refused(asked, error)
    return SeeOther(HERE, did="member_added" if asked.caller.is_operator else "member_awaits")


def update_member(asked: PageRequest) -> SeeOther | Shown:
    id = _teammate(asked)
    try:
        asked.workspace.update_member(id, role=asked.filled("role"), trust=asked.filled("trust"))
    except MycelError as error:
        return _refused(asked, error)
    return SeeOther(HERE, did="member_changed")


def remove_member(asked: PageRequest) -> SeeOther | Shown:
    id = _teammate(asked)
    try:
        asked.workspace.remove_member(id)
    except MycelError as error:
        return _refused(asked, error)
    return SeeOther(HERE, did="member_removed")


def issue_token(asked: PageRequest) -> SeeOther | Shown:
    """Lead to the page that shows the secret: to load that page again issues nothing, and no address has the secret."""
    id = _teammate(asked)
    try:
        issued = asked.workspace.new_token(id, label=asked.filled("label"), ttl=asked.filled("ttl"))
    except MycelError as error:
        return _refused(asked, error)
    return SeeOther(ISSUED, shown_once=f"{issued.token.id} {issued.secret}")


def show_issued(asked: PageRequest) -> Shown:
    """Show a token that this browser has just issued; nothing where that was some minutes ago, or it was revoked."""
    id, _, secret = (asked.shown_once or "").partition(" ")
    token = next((one for one in _tokens(asked)[0] if one.id == id), None)
    return Shown({"token": token}, {"secret": secret if token else None})


def forget_issued(_asked: PageRequest) -> SeeOther:
    return SeeOther(HERE, shown_once="")


def revoke_token(asked: PageRequest) -> SeeOther:
    asked.workspace.revoke_token(asked.form.get("token_id", ""))
    return SeeOther(HERE, did="revoked")


def set_policy(asked: PageRequest) -> SeeOther | Shown:
    given: dict[str, Any] = {name: asked.form[name].strip() for name in EFFECTS if name in asked.form}
    if "review" in given and given["review"] not in {"all", "none"}:
        given["review"] = [part.strip() for part in given["review"].split(",") if part.strip()]
    lives = {one.value: asked.form[f"lives.{one}"].strip() for one in MadeBy if asked.filled(f"lives.{one}")}
    try:
        if "promote_from" in given:
            given["promote_from"] = float(given["promote_from"])
        asked.memory.set_policy(**given, **({"lives": lives} if lives else {}))
    except ValueError:
        return shown(asked, error="promote_from: must be a number from 0 to 1", status=422)
    except MycelError as error:
        return _refused(asked, error)
    return SeeOther(HERE, did="policy_changed")


def withdraw(asked: PageRequest) -> SeeOther:
    """Takes the copies of a memory back from other teams."""
    asked.memory.withdraw(asked.form.get("memory", ""))
    return SeeOther(HERE, did="withdrawn")


def retry(asked: PageRequest) -> SeeOther:
    asked.memory.sources.retry(asked.form.get("event", ""))
    return SeeOther(HERE, did="retried")


def _teammate(asked: PageRequest) -> str:
    """A member of the team that the page shows: those of others are looked after on their own page."""
    id = asked.form.get("member", "").strip()
    if not any(one.id == id for one in asked.workspace.members(team=asked.caller.team)):
        raise NotFound("no member of this name in the team")
    return id


def _refused(asked: PageRequest, error: MycelError) -> Shown:
    status = 403 if isinstance(error, AccessDenied) else 422
    return shown(asked, error=str(error), status=status)


PAGES = (
    Page(address=HERE, template="teams.html", show=show, title="Team", label="Team", key="m"),
    Page(address=ISSUED, template="issued.html", show=show_issued, title="New token"),
)
FORMS = tuple(
    Form(address=f"{HERE}/{name}", act=act, template="teams.html")
    for name, act in (
        ("add-member", add_member),
        ("update-member", update_member),
        ("remove-member", remove_member),
        ("issue-token", issue_token),
        ("forget-token", forget_issued),
        ("revoke-token", revoke_token),
        ("policy", set_policy),
        ("retry", retry),
        ("withdraw", withdraw),
    )
)
