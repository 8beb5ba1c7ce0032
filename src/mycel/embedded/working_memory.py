"""The agent's own notes, in its own process: nobody else's are within reach of it."""

from __future__ import annotations

import atexit
import itertools
import json
import logging
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import FrameType, MappingProxyType, TracebackType
from typing import Any, Self

from mycel.contracts.clock import Clock, SystemClock
from mycel.domain import fields
from mycel.domain.working_memory import WorkingChange, WorkingField, WorkingState, read_key, read_value, render
from mycel.embedded.working_snapshot import Loaded, WorkingSnapshot
from mycel.errors import InvalidInput, MycelError, Unavailable
from mycel.services.organisation import read_member_id
from mycel.settings import load_settings

_log = logging.getLogger("mycel.working_memory")


class Endings:
    """One for the process: however many tasks there are, each signal has one handler in its chain."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        # With the process that wants it: a fork must not do the work of its parent.
        self._tasks: dict[int, tuple[int, Callable[[], object]]] = {}
        self._is_registered = False
        self._is_installed = False
        self._previous: Any = None

    def add(self, task: Callable[[], object]) -> Callable[[], None]:
        """Runs the task at the end, until the function it returns is called. SIGTERM needs the main thread."""
        number = next(self._numbers)
        self._tasks[number] = (os.getpid(), task)
        if not self._is_registered:
            self._is_registered = True
            atexit.register(self._run)
        if threading.current_thread() is threading.main_thread():
            self._install()

        def stop() -> None:
            self._tasks.pop(number, None)
            if not self._tasks and threading.current_thread() is threading.main_thread():
                self._uninstall()

        return stop

    def _install(self) -> None:
        # Once only: a handler set after ours may call ours, and calling it back would never end.
        if self._is_installed:
            return
        previous = signal.getsignal(signal.SIGTERM)
        # None: set by something other than Python, which could not be called from here.
        if previous is not None:
            self._previous, self._is_installed = previous, True
            signal.signal(signal.SIGTERM, self._on_signal)

    def _uninstall(self) -> None:
        if self._is_installed and signal.getsignal(signal.SIGTERM) == self._on_signal:
            signal.signal(signal.SIGTERM, self._previous)
            self._is_installed = False

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._run()
        if callable(self._previous):
            self._previous(number, frame)
        elif self._previous == signal.SIG_DFL:
            # So that whoever waits for this process sees what ended it.
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    def _run(self) -> None:
        for process, task in list(self._tasks.values()):
            if process != os.getpid():
                continue
            try:
                task()
            except Exception as error:  # noqa: BLE001 - the other tasks and handlers must have their turn
                _log.error("a working memory was not saved at the end: %s", type(error).__name__)


endings = Endings()


Listener = Callable[[WorkingChange], object]


class Announcements:
    """Whoever changes something while another thread is telling leaves the telling to that thread."""

    def __init__(self) -> None:
        # A signal handler may come in between in the same thread.
        self._lock = threading.RLock()
        self._numbers = itertools.count()
        self._listeners: dict[int, Listener] = {}
        self._waiting: deque[tuple[int, WorkingChange]] = deque()
        self._is_telling = False

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        with self._lock:
            number = next(self._numbers)
            self._listeners[number] = listener

        def stop() -> None:
            with self._lock:
                self._listeners.pop(number, None)

        return stop

    def put(self, change: WorkingChange) -> None:
        """For those who listen now; the order of these calls is the order in which they are told."""
        with self._lock:
            self._waiting.extend((number, change) for number in self._listeners)

    def tell(self) -> None:
        with self._lock:
            if self._is_telling:
                return
            self._is_telling = True
        try:
            while (found := self._next()) is not None:
                _call(*found)
        except BaseException:
            # Ctrl-C and the like: what still waits is told with the next change.
            self._is_telling = False
            raise

    def _next(self) -> tuple[Listener, WorkingChange] | None:
        with self._lock:
            while self._waiting:
                number, change = self._waiting.popleft()
                if (listener := self._listeners.get(number)) is not None:
                    return listener, change
            self._is_telling = False
            return None


def _call(listener: Listener, change: WorkingChange) -> None:
    try:
        listener(change)
    except Exception as error:  # noqa: BLE001 - the writer and the other listeners must go on
        # What the error says may quote a note.
        _log.error("a listener to changes of %s raised %s", change.field, type(error).__name__)


class WorkingMemory:
    """Plan, constraints, task context and notes of one agent in one session; safe to use from any thread.

    Reads take no lock: the state is one value that is only ever replaced. So a signal handler can save it too,
    whatever the thread it interrupts was doing.
    """

    def __init__(
        self,
        agent_id: str,
        *,
        session_id: str = "default",
        data: str | Path | None = None,
        fresh: bool = False,
        clock: Clock | None = None,
    ) -> None:
        """Goes on from the last snapshot of this agent and session, if there is one; `fresh` leaves it alone."""
        self._agent_id = read_member_id(agent_id, field="agent_id")
        self._session_id = fields.label(session_id, field="session_id")
        self._clock = clock or SystemClock()
        self._snapshot = WorkingSnapshot(_folder(data), agent_id=self._agent_id, session_id=self._session_id)
        loaded = Loaded() if fresh else self._snapshot.load()
        self._restored = loaded.state is not None
        self._problem = loaded.problem
        self._state = loaded.state or WorkingState(updated_at=self._clock.now())
        self._discarded: WorkingState | None = None
        # Both can be taken again by a signal handler in the thread that holds them; neither is taken inside the other.
        self._changing = threading.RLock()
        self._saving = threading.RLock()
        self._saves = 0
        self._is_closed = False
        self._announcements = Announcements()
        self._stop_at_exit: Callable[[], None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except MycelError as failure:
            if error is None:
                raise
            error.add_note(f"The working memory was not saved either: {failure}")

    @property
    def agent_id(self) -> str:
        return self._agent_id

    @property
    def session_id(self) -> str:
        return self._session_id

    @property
    def restored(self) -> bool:
        """Whether it began with what a snapshot held."""
        return self._restored

    @property
    def problem(self) -> str | None:
        """Why the snapshot that was there was not loaded, and where it is now."""
        return self._problem

    @property
    def updated_at(self) -> datetime:
        return self._state.updated_at

    @property
    def current_plan(self) -> str | None:
        return self._state.current_plan

    @current_plan.setter
    def current_plan(self, plan: str | None) -> None:
        self._change(lambda state: state.with_plan(plan), field="current_plan")

    @property
    def active_constraints(self) -> tuple[str, ...]:
        return self._state.active_constraints

    def add_constraint(self, text: str) -> bool:
        """At the end; False where it is there already."""
        return self._change(lambda state: state.with_constraint(text), field="active_constraints")

    def remove_constraint(self, text: str) -> bool:
        """False where it is not there."""
        return self._change(lambda state: state.without_constraint(text), field="active_constraints")

    @property
    def task_context(self) -> Mapping[str, Any]:
        """A copy of all of it, as it is now."""
        return MappingProxyType({key: json.loads(value) for key, value in self._state.values.items()})

    def set_context(self, key: str, value: Any) -> bool:
        """Keeps a copy of a JSON value; False where the same is kept already."""
        name, copied = read_key(key), read_value(value)
        return self._change(lambda state: state.with_value(name, copied), field="task_context", key=name)

    def get_context(self, key: str) -> Any:
        """A copy; `NotFound` where nothing is kept under the key."""
        return self._state.value(read_key(key))

    def remove_context(self, key: str) -> bool:
        """False where nothing is kept under the key."""
        name = read_key(key)
        return self._change(lambda state: state.without_value(name), field="task_context", key=name)

    @property
    def scratchpad(self) -> tuple[str, ...]:
        return self._state.scratchpad

    def note(self, text: str) -> None:
        """At the end of the scratchpad; a full one refuses it and drops nothing."""
        self._change(lambda state: state.with_note(text), field="scratchpad")

    def clear_scratchpad(self) -> None:
        self._change(WorkingState.without_notes, field="scratchpad")

    def clear(self) -> None:
        """Empties all of it; the snapshot stays until the next one is taken."""
        self._change(WorkingState.emptied, field="all")

    def to_dict(self) -> dict[str, Any]:
        """Return all of it under the names that JavaScript programs use; `updatedAt` is in milliseconds."""
        return {
            "agentId": self.agent_id,
            "currentPlan": self.current_plan,
            "activeConstraints": list(self.active_constraints),
            "taskContext": dict(self.task_context),
            "scratchpad": list(self.scratchpad),
            "updatedAt": int(self.updated_at.timestamp() * 1000),
        }

    def to_markdown(self) -> str:
        """For a prompt; nothing at all when there is nothing."""
        return render(self._state)

    def on_change(self, callback: Callable[[WorkingChange], object]) -> Callable[[], None]:
        """Calls back after each change that changed something, in order; returns what stops it.

        The callback may write. An error it raises is logged by its type and goes no further. While one thread calls
        back, changes of others are told by that thread as well.
        """
        if not callable(callback):
            raise InvalidInput("must be something to call", field="callback")
        return self._announcements.subscribe(callback)

    def snapshot(self) -> Path:
        """Puts what is there now in place of the last snapshot, durably; returns the file."""
        self._require_open()
        return self._save()

    def snapshot_on_exit(self) -> None:
        """Has a snapshot taken when the process ends, also by SIGTERM if this is called in the main thread."""
        self._require_open()
        if self._stop_at_exit is None:
            self._stop_at_exit = endings.add(self._save_unless_discarded)

    def discard(self) -> None:
        """Removes the snapshot; what is in memory stays, and is saved at the end only if it changes again."""
        with self._saving:
            self._discarded = self._state
            self._snapshot.remove()

    def close(self) -> None:
        """Takes a snapshot and refuses changes from then on. Closing twice is closing once."""
        with self._changing:
            is_first, self._is_closed = not self._is_closed, True
        # Whoever comes second waits for the first.
        with self._saving:
            if not is_first:
                return
            try:
                self._save_unless_discarded()
            except BaseException:
                self._is_closed = False
                raise
        if self._stop_at_exit is not None:
            self._stop_at_exit()

    def _change(
        self, make: Callable[[WorkingState], WorkingState], *, field: WorkingField, key: str | None = None
    ) -> bool:
        with self._changing:
            self._require_open()
            before = self._state
            after = make(before)
            if after is before:
                return False
            self._state = replace(after, updated_at=self._clock.now())
            self._announcements.put(WorkingChange(field, key, self._state.updated_at))
        self._announcements.tell()
        return True

    def _save(self) -> Path:
        with self._saving:
            while True:
                self._saves += 1
                number = self._saves
                path = self._snapshot.save(self._state)
                # Otherwise a signal handler came in between, and what it saved may be newer.
                if number == self._saves:
                    return path

    def _save_unless_discarded(self) -> None:
        if self._state is not self._discarded:
            self._save()

    def _require_open(self) -> None:
        if self._is_closed:
            raise Unavailable("the working memory is closed")


def _folder(data: str | Path | None) -> Path:
    """Absolute, for the process may go elsewhere before it ends."""
    return (load_settings().data if data is None else Path(data)).absolute()
