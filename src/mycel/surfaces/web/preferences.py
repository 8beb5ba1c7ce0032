"""What a browser keeps for its reader in cookies: light or dark, the operator's team, and when it was last here."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from starlette.responses import Response

from mycel.surfaces.web.forms import own_address
from mycel.surfaces.web.page import PageRequest, SeeOther

THEME = "mycel_theme"
TEAM = "mycel_team"
VISIT = "mycel_visit"
# The secret of a token that was just issued, for its page alone (`PageRequest.shown_once`).
SHOWN_ONCE = "mycel_shown_once"
SHOWN_ONCE_PATH = "/teams/issued"
SHOWN_ONCE_SECONDS = 120
THEMES = ("auto", "light", "dark")
YEAR_SECONDS = 365 * 86_400
# Whoever comes back after so long comes anew, and wants to know what has changed since.
VISIT_ENDS_AFTER = timedelta(minutes=30)


class Visits(NamedTuple):
    """When this browser's visit before this one ended, and when it was last seen in this one."""

    before: datetime | None
    seen: datetime

    @classmethod
    def read(cls, given: str | None, *, now: datetime) -> Visits:
        """What somebody else wrote into the cookie is a first visit."""
        try:
            before, seen = (
                datetime.fromtimestamp(int(part), UTC) if part else None for part in (given or "").split(".")
            )
        except (ValueError, OverflowError, OSError):
            return cls(None, now)
        if seen is None or seen > now:
            return cls(None, now)
        return cls(before, now) if now - seen < VISIT_ENDS_AFTER else cls(seen, now)

    def written(self) -> str:
        return f"{'' if self.before is None else int(self.before.timestamp())}.{int(self.seen.timestamp())}"


def theme_of(given: str | None) -> str:
    return given if given in THEMES else THEMES[0]


def keep(answer: Response, name: str, value: str, *, path: str, secure: bool, max_age: int = YEAR_SECONDS) -> None:
    """Set a cookie; an empty value deletes it."""
    if value:
        answer.set_cookie(name, value, max_age=max_age, path=path, secure=secure, httponly=True, samesite="strict")
    else:
        answer.delete_cookie(name, path=path, secure=secure, httponly=True, samesite="strict")


def keep_shown_once(answer: Response, value: str, *, path: str, secure: bool) -> None:
    """Keep what one page shows for two minutes, and send it to that page alone; an empty value deletes it."""
    place = f"{path.rstrip('/')}{SHOWN_ONCE_PATH}"
    keep(answer, SHOWN_ONCE, value, path=place, secure=secure, max_age=SHOWN_ONCE_SECONDS)


def choose_theme(asked: PageRequest) -> SeeOther:
    return SeeOther(own_address(asked.form.get("next")), cookies={THEME: theme_of(asked.form.get("theme"))})


def choose_team(asked: PageRequest) -> SeeOther:
    """For the operator, who is an admin of every team; whoever else sends it stays where it is."""
    named = asked.form.get("team", "")
    known = any(team.name == named for team in asked.workspace.teams()) if asked.caller.is_operator else False
    return SeeOther("/", cookies={TEAM: named if known else ""})
