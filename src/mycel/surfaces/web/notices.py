"""What a page says after a form has done its work; an address names one, and can make a page say nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """`undo` is the address below a memory's own that takes it back, where there is one."""

    words: str
    undo: str | None = None


NOTICES: Mapping[str, Notice] = {
    "saved": Notice("Saved as a new version."),
    "written": Notice("Written down: agents are given it from now on, where it fits.", undo="delete"),
    "unchanged": Notice("Nothing was different, so nothing was written."),
    "replaced": Notice("The new memory stands; the one before is superseded."),
    "archived": Notice("Archived: it is out of searches and lists, and can be brought back.", undo="activate"),
    "activated": Notice("Active again.", undo="archive"),
    "deleted": Notice("Deleted. It can be restored until it is purged.", undo="restore"),
    "reverted": Notice("Taken back: what stood before stands again, as a new version."),
    "run_undone": Notice("Undone: what stood before the run stands again, but what was changed since."),
    "action_reverted": Notice("Taken back; that left a row of its own."),
    "restored": Notice("Restored."),
    "change_waits": Notice("This change waits in the inbox. What stood stays until it is approved."),
    "purged": Notice("Purged for good."),
    "member_added": Notice("The member is there. Issue it a token to let it in."),
    "member_awaits": Notice(
        "The member is there. The operator issues the token that lets it in, here or by `mycel token issue`."
    ),
    "member_changed": Notice("The member is changed; it holds from the next request on."),
    "member_removed": Notice("Removed: its tokens work no more, and what it wrote stays."),
    "revoked": Notice("Revoked: the token and all that was issued with it stop working within a second."),
    "policy_changed": Notice("The policy holds from now on."),
    "sent_down": Notice("Sent: every team below gets it soon. The page Team lists what is sent.", undo="withdraw"),
    "sent_up": Notice("Sent: the team above gets it soon. The page Team lists what is sent.", undo="withdraw"),
    "withdrawn": Notice("The copies in other teams are taken back; each team does so soon."),
    "retried": Notice("It is done again."),
    "rated": Notice("Thank you: your rating counts from now on."),
    "approved": Notice("Approved: it stands from now on."),
    "approved_but_warned": Notice(
        "Approved, but not what has a warning: it still waits. Open each of these and read what it asks for."
    ),
    "all_warned": Notice("Nothing was approved: each of these has a warning. Open it and read what it asks for."),
    "rejected": Notice("Rejected. Its text stays readable under Rejected."),
    "merged": Notice("Merged: the other one stands, and its evidence grew."),
    "settled": Notice("Settled: one of the two holds."),
    "snoozed": Notice("Put off, for you alone."),
    "woken": Notice("Back in your inbox."),
    "reopened": Notice("Taken back: it waits again."),
    "unlinked": Notice("The link is gone."),
}
