"""Team policies: read often, changed by leads and admins."""

from __future__ import annotations

import time
from collections.abc import Mapping

from mycel.access.rules import may_curate
from mycel.contracts.directory import Directory, DirectoryTransaction
from mycel.domain.ids import TeamName
from mycel.domain.policy import Policy, changed_policy, policy_values
from mycel.domain.team import Caller
from mycel.errors import AccessDenied, InvalidInput

# A changed policy takes effect within this time, in every process.
FRESH_SECONDS = 0.5


class Policies:
    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._known: dict[TeamName, tuple[float, Policy]] = {}

    def of(self, team: TeamName) -> Policy:
        known = self._known.get(team)
        now = time.monotonic()
        if known is None or now >= known[0]:
            known = self._known[team] = (now + FRESH_SECONDS, self._directory.find_policy(team))
        return known[1]

    def change(self, caller: Caller, given: Mapping[str, object]) -> Policy:
        if not may_curate(caller):
            raise AccessDenied("a lead or admin of the team decides on its policy")
        if not given:
            raise InvalidInput("give at least one part to change", field="policy")

        def work(transaction: DirectoryTransaction) -> Policy:
            before = transaction.find_policy(caller.team)
            policy = changed_policy(before, given)
            transaction.put_policy(caller.team, policy)
            old, new = policy_values(before), policy_values(policy)
            differing = [name for name in new if old[name] != new[name]]
            transaction.note(
                "set_policy",
                by=caller.member_id,
                team=caller.team,
                subject=caller.team,
                before={name: old[name] for name in differing},
                after={name: new[name] for name in differing},
            )
            return policy

        policy = self._directory.transact(work)
        self._known.pop(caller.team, None)
        return policy
