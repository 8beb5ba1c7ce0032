"""Turns at something of which there is little: teams take them in rotation, and none can hold all of it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable

# Begins what has its turn; False when nobody wants it any more, and the next one may begin.
Begin = Callable[[], bool]


class Turns:
    """Belongs to the event loop. So many have their turn at the same time, and so many of one team."""

    def __init__(self, *, at_once: int, of_a_team: int) -> None:
        self._at_once = at_once
        self._of_a_team = of_a_team
        self._total = 0
        self._held: Counter[Hashable] = Counter()
        self._waiting: dict[Hashable, deque[Begin]] = {}
        # When each team had its last turn, counted in turns.
        self._count = 0
        self._last: dict[Hashable, int] = {}

    def try_take(self, team: Hashable) -> bool:
        """Take a turn where one is free and nobody of the team waits for it; `leave` gives it back."""
        if self._total >= self._at_once or self._held[team] >= self._of_a_team or team in self._waiting:
            return False
        self._take(team)
        return True

    def wait(self, team: Hashable, begin: Begin) -> None:
        """Have it begin when the team has its turn, which may be now."""
        self._waiting.setdefault(team, deque()).append(begin)
        self._hand_out()

    def leave(self, team: Hashable) -> None:
        self._total -= 1
        self._held[team] -= 1
        if not self._held[team]:
            del self._held[team]
        if self._waiting:
            self._hand_out()

    def _take(self, team: Hashable) -> None:
        self._total += 1
        self._held[team] += 1
        self._count += 1
        self._last[team] = self._count

    def _hand_out(self) -> None:
        """Give turns to those that wait, first to the team whose last turn is the longest ago."""
        while self._total < self._at_once:
            able = [one for one in self._waiting if self._held[one] < self._of_a_team]
            if not able:
                return
            team = min(able, key=lambda one: self._last.get(one, 0))
            queue = self._waiting[team]
            begin = queue.popleft()
            if not queue:
                del self._waiting[team]
            # Counted first: what begins may end at once.
            self._take(team)
            if not begin():
                self._total -= 1
                self._held[team] -= 1
                if not self._held[team]:
                    del self._held[team]
