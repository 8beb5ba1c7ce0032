"""What a hook hands in: the new part of a session, a file of a memory folder, a task that failed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mycel.engine.transcripts.privacy import PrivateFilter, without_private
from mycel.surfaces.hooks import hook_event as told
from mycel.surfaces.hooks.delivery import Write
from mycel.surfaces.hooks.environment import HookSettings
from mycel.surfaces.hooks.hook_event import Happening, Message
from mycel.surfaces.hooks.place import Place, memory_files
from mycel.surfaces.hooks.session import Session
from mycel.surfaces.hooks.transcript import FileRange, has_words, new_range

SESSION, FILE, TASK = "/api/capture/session", "/api/memory/index", "/api/tasks/after"
MAX_FILE_BYTES = 1024 * 1024
MAX_OUTPUT = 4000
MAX_WHY = 1000


def session_writes(happened: Happening, place: Place, session: Session) -> list[Write]:
    """What is new since the last time, in order; the last of a session that ends closes it."""
    closes = happened.kind in {told.SESSION_ENDED, told.SUBAGENT_ENDED}
    if happened.transcript is None:
        session.keep(without_private_messages(happened.told))
        said = session.take_pending()
        found = [Write(SESSION, {"messages": said}, may_repeat=happened.from_start)] if said else []
    else:
        found = _of_transcript(happened, happened.transcript, session)
    if closes and not found:
        # Nothing more was said: this says that it is over.
        found = [Write(SESSION, {"messages": []}, may_repeat=True)]
    about: dict[str, Any] = {"session_id": happened.session_id, **place.belongings()}
    last = len(found) - 1
    return [
        write._replace(body={**write.body, **about, "closed": closes and number == last})
        for number, write in enumerate(found)
    ]


def _of_transcript(happened: Happening, file: Path, session: Session) -> list[Write]:
    of_subagent = happened.kind == told.SUBAGENT_ENDED
    found = [
        Write(SESSION, {}, part, may_repeat=of_subagent or not part.since)
        for part in _ranges(file, happened.agent, session)
    ]
    if of_subagent and happened.last_words and not has_words(file, happened.last_words):
        said = without_private_messages([{"role": told.ASSISTANT, "content": happened.last_words}])
        found += [Write(SESSION, {"messages": said}, may_repeat=True)] if said else []
    return found


def _ranges(file: Path, agent: str, session: Session) -> list[FileRange]:
    """What a hook was queueing when it ended comes first, exactly as it was: told twice like that, it is kept once."""
    again = [FileRange(str(file), agent, *session.unfinished)] if session.unfinished else []
    found = new_range(file, agent=agent, known=session.offset)
    if found.until == found.since:
        return again
    session.begin(found.since, found.until)
    return [*again, found]


def without_private_messages(messages: Iterable[Message]) -> list[Message]:
    shown = [{"role": one["role"], "content": PrivateFilter().shown(one["content"])} for one in messages]
    return [one for one in shown if one["content"].strip()]


def failure_write(happened: Happening, place: Place, session: Session | None) -> Write:
    asked = PrivateFilter().shown(happened.prompt) if happened.prompt else session.title if session else ""
    words = {
        "title": " ".join(asked.split())[:160],
        "output": PrivateFilter().shown(happened.last_words)[:MAX_OUTPUT],
        "session_id": happened.session_id,
    }
    return Write(
        TASK,
        {
            "task_id": happened.task_id,
            "action": "failed",
            "what_went_wrong": PrivateFilter().shown(happened.failure or "")[:MAX_WHY].strip() or "it did not say what",
            **{name: value for name, value in words.items() if value},
            **place.belongings(),
        },
    )


def file_writes(happened: Happening, place: Place, settings: HookSettings) -> list[Write]:
    about = {"session_id": happened.session_id, **place.belongings()}
    found: list[Write] = []
    for file, named in memory_files(happened, place, settings):
        if content := _content_of(file, happened.written):
            body: dict[str, Any] = {**named, "content": content, **about}
            found.append(Write(FILE, {name: value for name, value in body.items() if value}))
    return found


def _content_of(file: Path, written: str) -> str | None:
    """What the file holds or, for a hook that runs where the file is not, what the tool was given to write."""
    try:
        text = file.read_text("utf-8") if file.stat().st_size <= MAX_FILE_BYTES else ""
    except FileNotFoundError:
        raw = written.encode("utf-8", "replace")
        text = raw.decode() if len(raw) <= MAX_FILE_BYTES else ""
    except (OSError, ValueError):
        return None
    return without_private(text.replace("\0", "")).strip() or None
