"""A breaker: leaves a failing service alone for a while, so that its callers do not wait for it each time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from mycel.errors import MycelError, Unavailable

Answer = TypeVar("Answer")

# One failure is chance; at the third in a row, each further call would only wait for nothing.
FAILURES_TO_OPEN = 3
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0


class Breaker:
    """Opens after some failures in a row; then one call at a time may try, and each that fails doubles the pause.

    Only Mycel's errors are failures: an interrupt or a bug says nothing about the service.
    """

    def __init__(
        self,
        service: str,
        *,
        failures_to_open: int = FAILURES_TO_OPEN,
        first_pause: float = FIRST_PAUSE_SECONDS,
        longest_pause: float = LONGEST_PAUSE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._service = service
        self._failures_to_open = failures_to_open
        self._first_pause = first_pause
        self._longest_pause = longest_pause
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._pause = first_pause
        self._open_until: float | None = None
        self._trying = False
        self._last_problem = ""

    def call(self, attempt: Callable[[], Answer]) -> Answer:
        """The answer of the attempt, or its error; `Unavailable` without trying while the breaker is open."""
        is_trial = self._enter()
        try:
            answer = attempt()
        except MycelError as error:
            self._fail(str(error), is_trial=is_trial)
            raise
        finally:
            if is_trial:
                self._trying = False
        self._succeed()
        return answer

    def _enter(self) -> bool:
        """Whether this call is the one that tries."""
        with self._lock:
            if self._open_until is None:
                return False
            left = self._open_until - self._clock()
            if left > 0 or self._trying:
                raise self._refusal(left if left > 0 else self._first_pause)
            self._trying = True
            return True

    def _refusal(self, seconds: float) -> Unavailable:
        text = f"{self._service} is left alone after {self._failures} failures, for {seconds:.1f} s more"
        return Unavailable(f"{text}; the last was: {self._last_problem}", retry_after=seconds)

    def _fail(self, problem: str, *, is_trial: bool) -> None:
        with self._lock:
            self._failures += 1
            self._last_problem = problem
            # The news of a call from before the breaker opened is late: it must not stretch the pause.
            is_late = self._open_until is not None and not is_trial
            if is_late or self._failures < self._failures_to_open:
                return
            self._pause = min(self._pause * 2, self._longest_pause) if is_trial else self._first_pause
            self._open_until = self._clock() + self._pause

    def _succeed(self) -> None:
        with self._lock:
            self._failures = 0
            self._open_until = None
