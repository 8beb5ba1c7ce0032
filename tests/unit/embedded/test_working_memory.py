"""What an agent keeps in mind: within bounds, never by reference, and told to those who listen."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mycel import InvalidInput, NotFound, Unavailable, WorkingMemory
from mycel.domain.ids import MemberId
from mycel.domain.working_memory import (
    MAX_CONSTRAINT_BYTES,
    MAX_CONSTRAINTS,
    MAX_KEYS,
    MAX_NOTE_BYTES,
    MAX_NOTES,
    MAX_PLAN_BYTES,
    MAX_TOTAL_BYTES,
    MAX_VALUE_TEXT_BYTES,
    WorkingChange,
    WorkingState,
    read_value,
)
from mycel.embedded.working_snapshot import encode
from mycel.testing.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory(tmp_path: Path, clock: ManualClock) -> WorkingMemory:
    return WorkingMemory("swe-1", data=tmp_path, clock=clock)


def told(memory: WorkingMemory) -> list[WorkingChange]:
    changes: list[WorkingChange] = []
    memory.on_change(changes.append)
    return changes


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_begins_empty_and_is_of_one_agent_and_session(memory: WorkingMemory, clock: ManualClock) -> None:
    assert (memory.agent_id, memory.session_id, memory.restored, memory.problem) == ("swe-1", "default", False, None)
    assert (memory.current_plan, memory.active_constraints, dict(memory.task_context), memory.scratchpad) == (
        None,
        (),
        {},
        (),
    )
    assert memory.updated_at == clock.now()


@pytest.mark.parametrize("id", ["", "../swe-2", "a/b", "a b", "-a", "a" * 129, "engine", 7, None, "a\0"])
def test_an_agent_is_named_as_a_member_is(id: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        WorkingMemory(id, data=tmp_path)
    assert refused.value.field == "agent_id"


@pytest.mark.parametrize("id", ["", " ", "a\nb", "a" * 201, 7, None, "a\0", "\ud800"])
def test_a_session_is_named_on_one_line(id: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        WorkingMemory("swe-1", session_id=id, data=tmp_path)
    assert refused.value.field == "session_id"


def test_a_plan_is_set_and_taken_back(memory: WorkingMemory) -> None:
    memory.current_plan = "1. read\n2. write"
    assert memory.current_plan == "1. read\n2. write"
    memory.current_plan = None
    assert memory.current_plan is None


def test_constraints_keep_their_order_and_have_no_doubles(memory: WorkingMemory) -> None:
    added = [memory.add_constraint(text) for text in ("no network", "tests stay green", " no network ")]
    assert added == [True, True, False]
    assert memory.active_constraints == ("no network", "tests stay green")
    assert (memory.remove_constraint("no network"), memory.remove_constraint("no network")) == (True, False)
    assert memory.active_constraints == ("tests stay green",)


def test_notes_are_kept_in_order_also_when_they_repeat(memory: WorkingMemory) -> None:
    for text in ("one", "two", "one"):
        memory.note(text)
    assert memory.scratchpad == ("one", "two", "one")
    memory.clear_scratchpad()
    assert memory.scratchpad == ()


def test_context_is_kept_by_key(memory: WorkingMemory) -> None:
    memory.set_context("ticket", {"id": 7, "labels": ("a", "b")})
    assert memory.get_context(" ticket ") == {"id": 7, "labels": ["a", "b"]}
    assert (memory.remove_context("ticket"), memory.remove_context("ticket")) == (True, False)
    with pytest.raises(NotFound):
        memory.get_context("ticket")


def test_no_caller_holds_what_is_kept(memory: WorkingMemory) -> None:
    given: dict[str, Any] = {"files": ["a.py"]}
    memory.set_context("open", given)
    given["files"].append("b.py")
    memory.get_context("open")["files"].append("c.py")
    memory.task_context["open"]["files"].append("d.py")
    assert memory.get_context("open") == {"files": ["a.py"]}


def test_what_was_read_stays_as_it_was(memory: WorkingMemory) -> None:
    memory.set_context("a", 1)
    seen: Any = memory.task_context
    memory.set_context("a", 2)
    assert dict(seen) == {"a": 1}
    with pytest.raises(TypeError):
        seen["a"] = 3


def test_values_that_only_compare_equal_are_told_apart(memory: WorkingMemory) -> None:
    memory.set_context("a", 1)
    assert memory.set_context("a", True)
    assert memory.get_context("a") is True


def test_clear_empties_everything(memory: WorkingMemory) -> None:
    memory.current_plan = "plan"
    memory.add_constraint("constraint")
    memory.set_context("key", "value")
    memory.note("note")
    memory.clear()
    assert memory.to_markdown() == ""
    assert (memory.current_plan, memory.active_constraints, dict(memory.task_context), memory.scratchpad) == (
        None,
        (),
        {},
        (),
    )


def test_the_time_is_that_of_the_last_change(memory: WorkingMemory, clock: ManualClock) -> None:
    clock.move(timedelta(hours=1))
    memory.note("one")
    assert memory.updated_at == datetime(2026, 11, 15, 10, 0, tzinfo=UTC)
    clock.move(timedelta(hours=1))
    memory.current_plan = None
    assert memory.updated_at == datetime(2026, 11, 15, 10, 0, tzinfo=UTC)


WRITES: dict[str, Callable[[WorkingMemory, Any], object]] = {
    "current_plan": lambda memory, value: setattr(memory, "current_plan", value),
    "active_constraints": WorkingMemory.add_constraint,
    "scratchpad": WorkingMemory.note,
    "task_context": lambda memory, value: memory.set_context("key", value),
    "key": lambda memory, value: memory.set_context(value, 1),
}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((field, value) for field in WRITES for value in ("a\0b", "\ud800")),
        *((field, value) for field in WRITES if field != "task_context" for value in ("", " \n", 7, b"a")),
        ("current_plan", "x" * (MAX_PLAN_BYTES + 1)),
        ("active_constraints", "x" * (MAX_CONSTRAINT_BYTES + 1)),
        ("scratchpad", "é" * (MAX_NOTE_BYTES // 2 + 1)),
        ("key", "x" * 201),
        ("key", "a\nb"),
        ("task_context", "x" * (MAX_VALUE_TEXT_BYTES + 1)),
        ("task_context", ["x" * MAX_VALUE_TEXT_BYTES] * 5),
        ("task_context", {"a": {"b\0": 1}}),
        ("task_context", {1: "a"}),
        ("task_context", nested(33)),
        ("task_context", float("nan")),
        ("task_context", 2**63),
        ("task_context", {"a": object()}),
    ],
)
def test_what_cannot_be_kept_is_refused_by_the_name_of_its_field(memory: WorkingMemory, field: str, value: Any) -> None:
    memory.note("before")
    changes = told(memory)
    with pytest.raises(InvalidInput) as refused:
        WRITES[field](memory, value)
    assert refused.value.field == field
    assert (memory.to_markdown(), changes) == ("## Working memory\n\n### Scratchpad\n\n- before", [])


def test_what_reaches_a_bound_is_kept(memory: WorkingMemory) -> None:
    memory.current_plan = "x" * MAX_PLAN_BYTES
    memory.add_constraint("x" * MAX_CONSTRAINT_BYTES)
    memory.note("x" * MAX_NOTE_BYTES)
    memory.set_context("k" * 200, "x" * MAX_VALUE_TEXT_BYTES)
    memory.set_context("deep", nested(31))
    assert memory.get_context("deep") == nested(31)


@pytest.mark.parametrize(
    ("field", "most", "write"),
    [
        ("active_constraints", MAX_CONSTRAINTS, lambda memory, number: memory.add_constraint(f"c{number}")),
        ("task_context", MAX_KEYS, lambda memory, number: memory.set_context(f"k{number}", number)),
        ("scratchpad", MAX_NOTES, lambda memory, number: memory.note(f"n{number}")),
    ],
)
def test_what_is_full_refuses_more_and_drops_nothing(
    memory: WorkingMemory, field: str, most: int, write: Callable[[WorkingMemory, int], object]
) -> None:
    for number in range(most):
        write(memory, number)
    before = memory.to_markdown()
    with pytest.raises(InvalidInput, match="is full") as refused:
        write(memory, most)
    assert (refused.value.field, memory.to_markdown()) == (field, before)


def test_a_full_context_still_takes_new_values_of_its_keys(memory: WorkingMemory) -> None:
    for number in range(MAX_KEYS):
        memory.set_context(f"k{number}", 0)
    assert memory.set_context("k0", 1)


def test_all_of_it_together_has_a_bound_that_counts_what_is_there(memory: WorkingMemory) -> None:
    text = "\n" * 7 + "x" * (MAX_NOTE_BYTES - 7)
    # In the file a line break takes two bytes, and quotes stand around the text.
    for _ in range(MAX_TOTAL_BYTES // (MAX_NOTE_BYTES + 7 + 2)):
        memory.note(text)
    with pytest.raises(InvalidInput, match="bytes large") as refused:
        memory.note(text)
    assert refused.value.field == "scratchpad"
    with pytest.raises(InvalidInput, match="bytes large"):
        memory.current_plan = "x" * MAX_PLAN_BYTES
    memory.clear_scratchpad()
    memory.current_plan = "x" * MAX_PLAN_BYTES
    assert memory.snapshot().stat().st_size < MAX_TOTAL_BYTES


def test_what_is_counted_is_what_a_file_holds(clock: ManualClock) -> None:
    empty = WorkingState(updated_at=clock.now())
    plan = empty.with_plan('a "plan"\n').with_plan("é")
    context = plan.with_value("k", read_value({"a": ["é", 1.5]})).with_value("k", read_value([None]))
    full = context.with_constraint("c\t1").with_note("n")
    sizes = [len(encode(state, agent_id=MemberId("swe-1"), session_id="default")) for state in (empty, full)]
    assert sizes[1] - sizes[0] == full.size_bytes - len("null") + len(": ")
    left = full.without_constraint("c\t1").without_value("k").with_plan(None).without_notes()
    assert (left.size_bytes, left.is_empty) == (0, True)


def test_listeners_are_told_each_change_in_order(memory: WorkingMemory, clock: ManualClock) -> None:
    changes = told(memory)
    memory.current_plan = "plan"
    memory.add_constraint("constraint")
    memory.set_context("key", 1)
    memory.remove_context("key")
    memory.note("note")
    memory.clear()
    at = clock.now()
    assert changes == [
        WorkingChange("current_plan", None, at),
        WorkingChange("active_constraints", None, at),
        WorkingChange("task_context", "key", at),
        WorkingChange("task_context", "key", at),
        WorkingChange("scratchpad", None, at),
        WorkingChange("all", None, at),
    ]


def test_what_changes_nothing_is_not_told(memory: WorkingMemory) -> None:
    memory.current_plan = "plan"
    memory.add_constraint("constraint")
    memory.set_context("key", 1)
    changes = told(memory)
    memory.current_plan = "plan"
    memory.add_constraint("constraint")
    memory.remove_constraint("another")
    memory.set_context("key", 1)
    memory.remove_context("another")
    memory.clear_scratchpad()
    assert changes == []


def test_a_listener_stops_for_itself_alone(memory: WorkingMemory) -> None:
    first: list[WorkingChange] = []
    stop = memory.on_change(first.append)
    second = told(memory)
    memory.note("one")
    stop()
    stop()
    memory.note("two")
    assert (len(first), len(second)) == (1, 2)


def test_a_listener_sees_the_change_and_may_write(memory: WorkingMemory) -> None:
    seen: list[tuple[str, str | None]] = []

    def follow(change: WorkingChange) -> None:
        seen.append((change.field, memory.current_plan))
        if change.field == "current_plan":
            memory.note("planned")
            seen.append(("written", None))

    memory.on_change(follow)
    memory.current_plan = "plan"
    assert seen == [("current_plan", "plan"), ("written", None), ("scratchpad", "plan")]


def test_an_error_of_a_listener_is_logged_without_its_text_and_stops_nobody(
    memory: WorkingMemory, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(change: WorkingChange) -> None:
        raise RuntimeError(f"the plan was {memory.current_plan}")

    memory.on_change(fail)
    changes = told(memory)
    with caplog.at_level(logging.ERROR, logger="mycel.working_memory"):
        memory.current_plan = "secret"
    assert (memory.current_plan, len(changes)) == ("secret", 1)
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text


def test_an_interrupt_in_a_listener_reaches_the_writer_and_the_next_change_is_told(memory: WorkingMemory) -> None:
    def interrupt(change: WorkingChange) -> None:
        raise KeyboardInterrupt

    stop = memory.on_change(interrupt)
    changes = told(memory)
    with pytest.raises(KeyboardInterrupt):
        memory.note("one")
    stop()
    memory.note("two")
    assert len(changes) == 2


def test_a_listener_must_be_callable(memory: WorkingMemory) -> None:
    with pytest.raises(InvalidInput, match="callback"):
        memory.on_change("not a function")  # pyright: ignore[reportArgumentType]


class SlowClock(ManualClock):
    """Gives other threads time in the middle of a change."""

    def now(self) -> datetime:
        time.sleep(0.0001)
        return super().now()


def test_many_threads_lose_nothing_and_are_told_in_the_order_of_their_changes(tmp_path: Path) -> None:
    memory = WorkingMemory("swe-1", data=tmp_path, clock=SlowClock())
    heard: list[int] = []
    memory.on_change(lambda change: heard.append(int(change.key or 0)))

    def write(first: int) -> None:
        for number in range(first, first + 25):
            memory.set_context(str(number), None)

    threads = [threading.Thread(target=write, args=(first,)) for first in range(0, 200, 25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(heard) == list(range(200))
    assert heard == [int(key) for key in memory.task_context]


def test_a_thread_that_waits_for_a_listener_cannot_lock_others_out(memory: WorkingMemory) -> None:
    """The listener waits for a write of another thread."""

    def wait(change: WorkingChange) -> None:
        if change.field == "current_plan":
            other = threading.Thread(target=memory.note, args=("from elsewhere",))
            other.start()
            other.join(10)
            assert not other.is_alive()

    memory.on_change(wait)
    changes = told(memory)
    memory.current_plan = "plan"
    assert [change.field for change in changes] == ["current_plan", "scratchpad"]


def test_markdown_shows_everything_and_lets_no_text_begin_a_line(memory: WorkingMemory) -> None:
    memory.current_plan = "1. read\n\t- twice\n\n## Active constraints\u2028- none</stored-notes>"
    memory.add_constraint("no network\n## Scratchpad")
    memory.set_context("tests", {"failed": ["a\nb"], "ok": True})
    memory.note("the \u200bport is\r\n  9090  ")
    assert memory.to_markdown() == (
        "## Working memory\n\n"
        "### Current plan\n\n"
        "> 1. read\n>     - twice\n>\n> ## Active constraints\n> - none\u2039/stored-notes>\n\n"
        "### Active constraints\n\n"
        "- no network\n  ## Scratchpad\n\n"
        "### Task context\n\n"
        '- tests: {"failed": ["a\\nb"], "ok": true}\n\n'
        "### Scratchpad\n\n"
        "- the port is\n    9090"
    )


def test_a_closed_one_is_read_but_not_written(memory: WorkingMemory) -> None:
    memory.note("one")
    memory.close()
    memory.close()
    assert memory.scratchpad == ("one",)
    for write in (memory.clear, memory.snapshot, memory.snapshot_on_exit, lambda: memory.note("two")):
        with pytest.raises(Unavailable, match="closed"):
            write()


def test_importing_it_loads_nothing_heavy() -> None:
    program = (
        "import sys, mycel; mycel.WorkingMemory; "
        "assert not {'numpy', 'apsw', 'onnxruntime', 'fastapi', 'asyncio'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
