"""`mycel hook AGENT EVENT`: JSON in, JSON or nothing out, and never an error for the agent to stumble over."""

from __future__ import annotations

import _thread
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from mycel.surfaces.hooks import hook_event as told
from mycel.surfaces.hooks.clock import Deadline, TimeUp, Unreachable, age_of_process, read_stdin
from mycel.surfaces.hooks.environment import DEBUG, HookSettings, read_environment
from mycel.surfaces.hooks.files import Log
from mycel.surfaces.hooks.payloads import Answer, kind_of, read_payload
from mycel.surfaces.hooks.place import find_place, memory_files

USAGE = "usage: mycel hook AGENT EVENT [--as MEMBER] [--data DIR] [--reflect], with the event as JSON on standard input"
USAGE_ERROR = 2
_OPTIONS = ("--as", "--data")
# A hook answers in JSON, asked to or not.
_JSON = "--json"
# A disk or a name server may not answer either, and knows no deadline of ours.
_GRACE_SECONDS = 0.15
# However long Python took to start: with less, a hook of a busy machine would never get anything done.
_LEAST_SECONDS = 0.5
# Nobody waits for an answer to these, and no later hook makes up for them; programs allow some 1.5 seconds.
_END_SECONDS = 1.0


class Asked(NamedTuple):
    agent: str
    event: str
    member: str | None = None
    data: str | None = None
    reflects: bool = False


def run(words: Sequence[str]) -> int:
    """The exit code: 0 whatever happens, but for a person who types it wrongly."""
    asked = _read_words(words)
    if asked is None and sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(USAGE + "\n")
        return USAGE_ERROR
    hook(asked or Asked("", ""), ends_process=True)
    return 0


def hook(asked: Asked, *, ends_process: bool = False) -> None:
    """With `ends_process`, whatever still waits after all of its time is over ends with the process."""
    answer = Answer(asked.agent, kind_of(asked.agent, asked.event))
    try:
        settings = read_environment(asked.data)
    except (OSError, RuntimeError):
        # A user without a home: there is no place for a log either.
        answer.give("")
        return
    is_end = kind_of(asked.agent, asked.event) in {told.SESSION_ENDED, told.SUBAGENT_ENDED}
    seconds = max(settings.hook_seconds, _END_SECONDS) if is_end else settings.hook_seconds
    spent = min(age_of_process(), max(0.0, seconds - _LEAST_SECONDS)) if ends_process else 0.0
    deadline = Deadline(seconds, spent=spent)
    if ends_process:
        _thread.start_new_thread(_end_after, (deadline, answer))
    log = Log(settings.data, name=_label(asked), debug=settings.log_level == DEBUG)
    try:
        _act(asked, settings, deadline, log, answer)
        log.debug(f"took {deadline.spent * 1000:.0f} ms")
    except TimeUp:
        log.write("ran out of time")
    except Unreachable as error:
        log.write(f"the service cannot be reached: {error}")
    except Exception as error:  # noqa: BLE001 - whatever it is, the agent must go on
        log.write(f"failed: {type(error).__name__}")
    answer.give()


def _end_after(deadline: Deadline, answer: Answer) -> None:
    """End the process when its time is over, which may be extended meanwhile."""
    while (left := deadline.left + _GRACE_SECONDS) > 0:
        time.sleep(left)
    answer.give()
    os._exit(0)


def _act(asked: Asked, settings: HookSettings, deadline: Deadline, log: Log, answer: Answer) -> None:
    if settings.is_nested or not (settings.injects or settings.captures):
        return
    if kind_of(asked.agent, asked.event) is None:
        log.write("is not known")
        return
    payload = _parsed(read_stdin(deadline))
    if payload is None:
        log.write("standard input is no JSON object")
        return
    happened = read_payload(asked.agent, asked.event, payload)
    if happened is None:
        return
    if settings.wrong:
        log.write(f"cannot be read: {', '.join(settings.wrong)}")
    place = find_place(happened.cwd)
    if not place.hooks or (happened.files and not memory_files(happened, place, settings)):
        return
    # Only now: most hooks end before, and all that follows takes as long to load as all before.
    from mycel.surfaces.hooks.actions import act

    act(
        happened,
        place=place,
        settings=settings,
        member=asked.member,
        deadline=deadline,
        log=log,
        answer=answer,
        reflects=asked.reflects,
    )


def _parsed(raw: bytes) -> dict[str, Any] | None:
    try:
        found: object = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _read_words(words: Sequence[str]) -> Asked | None:
    plain: list[str] = []
    options: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, mark, value = word.partition("=")
        if name in _OPTIONS:
            options[name] = value if mark else next(rest, "")
        elif not word.startswith("-"):
            plain.append(word)
        elif word not in {_JSON, told.REFLECT}:
            return None
    if len(plain) != 2 or not all(options.values()):
        return None
    return Asked(plain[0].lower(), plain[1], options.get("--as"), options.get("--data"), told.REFLECT in words)


def _label(asked: Asked) -> str:
    """What was asked for, as far as it can be a name: it may be anything."""
    shown = [one if one.replace(".", "").replace("-", "").isalnum() else "?" for one in (asked.agent, asked.event)]
    return " ".join(one[:60] or "?" for one in shown)
