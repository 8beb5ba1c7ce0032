"""The way of writes to the service: into the queue first, and out of it when the service has them."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mycel.durable_file import sync_folder
from mycel.surfaces.hooks.clock import Deadline, TimeUp, Unreachable
from mycel.surfaces.hooks.environment import AUTO, HookSettings, child_environment
from mycel.surfaces.hooks.files import FOLDER, OWNER_ONLY, Log, locked, make_folder, write_whole
from mycel.surfaces.hooks.service import HERE, Caller, Service, destination, find_service
from mycel.surfaces.hooks.transcript import FileRange, read_piece

if TYPE_CHECKING:
    # Loaded where a process is sent: most hooks send none.
    import subprocess

MAX_FILES = 1000
MAX_BYTES = 256 * 1024 * 1024
MAX_AGE_SECONDS = 30 * 86_400
_SUFFIX = ".write"
_DIGITS = 20


class Write(NamedTuple):
    """What is to be sent: the path of an operation, and its JSON body.

    One that `may_repeat` holds what was perhaps sent before; any other is new, though it may read the same.

    Of a transcript the queue keeps where it stands, not what it says: a long one need not be copied while an agent
    waits. Its lines are the `messages` when it is sent.
    """

    path: str
    body: dict[str, Any]
    transcript: FileRange | None = None
    may_repeat: bool = False


class Entry(NamedTuple):
    """A write as it lies in the queue. `to` says at which service and as whom it is to arrive: not everybody's writes
    are everybody's to send. `key` is empty where the service is to tell by the text what it knows."""

    file: Path
    path: str
    key: str
    to: str
    body: bytes
    transcript: FileRange | None = None

    def with_messages(self, text: str, *, is_last: bool) -> Entry | None:
        """To be sent for one piece of its transcript; whatever ends a session ends it with its last piece.

        A piece has a key of its own, the same whoever queued it: a hook that was cut off queues it once more.
        """
        told: dict[str, Any] = json.loads(self.body)
        closes = is_last and told.get("closed") is True
        if not (text or closes):
            return None
        body = _json({**told, "messages": text or [], "closed": closes})
        return self._replace(body=body, key=self.key and self._piece_key(text))

    def _piece_key(self, text: str) -> str:
        import hashlib

        place = f"{self.transcript.file}:{self.transcript.since}:" if self.transcript else ""
        return hashlib.sha256((place + text).encode("utf-8", "replace")).hexdigest()


class Queue:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, writes: Sequence[Write], *, to: str) -> int:
        """Durable when it returns; tells how many old ones had to go to make room."""
        make_folder(self.folder)
        names = self._names()
        last = int(names[-1].name[:_DIGITS]) if names else 0
        # Also when the clock was set back: the parts of a session must arrive in order.
        first = max(time.time_ns(), last + 1)
        for number, write in enumerate(writes, start=first):
            file = self.folder / f"{number:0{_DIGITS}d}{_SUFFIX}"
            key = "" if write.may_repeat else os.urandom(16).hex()
            self._keep(Entry(file, write.path, key, to, _json(write.body), write.transcript))
            names.append(file)
        sync_folder(self.folder)
        return self._make_room(names)

    def advance(self, entry: Entry, rest: FileRange) -> Entry:
        """So much of a transcript is left. Lost by a power cut, more is told twice, and kept once."""
        further = entry._replace(transcript=rest)
        self._keep(further, durable=False)
        return further

    def entries(self) -> Iterator[Entry]:
        """In order. What cannot be understood is removed: nobody could send it."""
        for file in self._names():
            try:
                head, _, body = file.read_bytes().partition(b"\n")
                found = json.loads(head)
                part = FileRange(*found["transcript"]) if found.get("transcript") else None
                entry = Entry(file, str(found["path"]), str(found["key"]), str(found["to"]), body, part)
            except FileNotFoundError:
                continue
            except (ValueError, KeyError, TypeError):
                file.unlink(missing_ok=True)
                continue
            yield entry

    def size(self) -> int:
        return len(self._names())

    def _names(self) -> list[Path]:
        try:
            found = sorted(self.folder.iterdir())
        except FileNotFoundError:
            return []
        return [file for file in found if file.suffix == _SUFFIX and file.name[:_DIGITS].isdigit()]

    def _keep(self, entry: Entry, *, durable: bool = True) -> None:
        head = {"path": entry.path, "key": entry.key, "to": entry.to, "transcript": entry.transcript}
        write_whole(entry.file, _json(head), b"\n", entry.body, durable=durable)

    def _make_room(self, names: Sequence[Path]) -> int:
        sizes = [_size(name) for name in names]
        total, oldest = sum(sizes), time.time_ns() - MAX_AGE_SECONDS * 10**9
        dropped = 0
        for name, size in zip(names, sizes, strict=True):
            left = len(names) - dropped
            if left <= MAX_FILES and total <= MAX_BYTES and int(name.name[:_DIGITS]) >= oldest:
                break
            name.unlink(missing_ok=True)
            total -= size
            dropped += 1
        return dropped


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


QUEUE, LOCK = "queue", "queue.lock"
# The lock that the background sender holds, and when one was last sent to start a service.
SENDER_LOCK, STAMP = "courier.lock", "courier.stamp"
START, SEND = "start", "send"
# A service that does not start is not started again before.
REST_SECONDS = 15.0
# What will never be taken, however often it is sent: wrong in itself, or with nothing in it to keep.
_FINAL = frozenset({400, 404, 405, 409, 410, 413, 415, 422})
# Less than this is not worth beginning with another write.
LEAST_SECONDS = 0.02
# While a service starts: how often it is looked for, how long until the process that starts it is there, and what
# the first answer may take after that.
_LOOK_SECONDS = 0.05
_DISPATCH_SECONDS = 1.0
_ANSWER_SECONDS = 1.5


def deliver_all(settings: HookSettings, caller: Caller, deadline: Deadline, log: Log) -> int:
    """Also what the hooks of other members have left, where the operator may act for them; tells how much is left."""
    queue = Queue(settings.data / FOLDER / QUEUE)
    callers = {destination(settings, caller): caller}
    if settings.url is None and not settings.token:
        names = {entry.to.removeprefix(HERE) for entry in queue.entries() if entry.to.startswith(HERE)}
        callers |= {f"{HERE}{name}": Caller(None, name) for name in sorted(names)}
    for each in callers.values():
        delivery = Delivery(settings, each, deadline, log)
        delivery.drain()
        delivery.close()
    return queue.size()


class Delivery:
    def __init__(self, settings: HookSettings, caller: Caller, deadline: Deadline, log: Log) -> None:
        self._settings = settings
        self._caller = caller
        self._deadline = deadline
        self._log = log
        self._folder = settings.data / FOLDER
        self._to = destination(settings, caller)
        self._service: Service | None = None
        self._looked = False
        self._sender: subprocess.Popen[bytes] | None = None
        self.queue = Queue(self._folder / QUEUE)

    def service(self) -> Service | None:
        """Looked for once; where none answers and one may be started, that is begun and not waited for."""
        if not self._looked:
            self._looked = True
            self._service = find_service(self._settings, self._caller, self._deadline)
            if self._service is None and self._settings.url is not None:
                self._log.write("MYCEL_URL names a service: MYCEL_TOKEN must be a token of it")
            elif self._service is None:
                self._log.debug("no service answers")
                if self._settings.daemon == AUTO:
                    # On a busy machine even that takes longer than a hook may have left.
                    self._deadline.extend(_DISPATCH_SECONDS)
                    self._send_courier(starts_service=True)
        return self._service

    def awaited_service(self) -> Service | None:
        """Also one that is only just starting, for as long as the settings let an agent wait for it."""
        if self._settings.url is not None or self._settings.daemon != AUTO:
            return self.service()
        if self.service() is None:
            self._await_start()
        elif self._is_starting():
            # What it answers first takes it longer than later.
            self._deadline.extend(self._settings.hook_start_seconds)
        return self._service

    def forget_service(self) -> None:
        """Look for the service anew with the next question."""
        self.close()
        self._service, self._looked = None, False

    def _await_start(self) -> None:
        seconds = self._settings.hook_start_seconds
        self._deadline.extend(seconds)
        began = time.monotonic()
        while time.monotonic() - began < seconds and self._service is None:
            time.sleep(_LOOK_SECONDS)
            if not self._is_starting():
                return
            self._service = find_service(self._settings, self._caller, self._deadline)
        self._deadline.extend(_ANSWER_SECONDS)

    def _is_starting(self) -> bool:
        if self._sender is not None and self._sender.poll() is not None:
            self._sender = None
        return self._sender is not None or is_at_work(self._folder) or _is_being_sent(self._folder)

    def stage(self, writes: Sequence[Write]) -> None:
        if writes and (dropped := self.queue.put(writes, to=self._to)):
            self._log.write(f"the queue is full: {dropped} old writes are lost")

    def drain(self) -> bool:
        """Whether all that is ours to send was taken. What is not stays, in order, for the next one who comes by."""
        if not self.queue.size():
            return True
        service = self.service()
        if service is None:
            return False
        make_folder(self._folder)
        with locked(self._folder / LOCK, self._deadline) as is_ours:
            return is_ours and self._send_all(service)

    def close(self) -> None:
        if self._service is not None:
            self._service.close()

    def hand_over(self) -> None:
        """What is left goes to somebody who has more time."""
        if self.service() is not None:
            self._send_courier(starts_service=False)

    def _send_courier(self, *, starts_service: bool) -> None:
        sent = dispatch(self._settings, self._caller, self._log, starts_service=starts_service)
        self._sender = sent or self._sender

    def _send_all(self, service: Service) -> bool:
        try:
            for entry in self.queue.entries():
                if entry.to == self._to:
                    send = self._send if entry.transcript is None else self._send_transcript
                    if not send(service, entry):
                        return False
                    entry.file.unlink(missing_ok=True)
        except (TimeUp, Unreachable) as error:
            self._log.debug(f"the queue waits: {type(error).__name__}")
            return False
        return True

    def _send_transcript(self, service: Service, entry: Entry) -> bool:
        left = entry.transcript
        while left is not None and left.since < left.until:
            try:
                piece = read_piece(left)
            except OSError:
                self._log.write("a transcript is gone before it was captured")
                return True
            part = entry.with_messages(piece.text, is_last=piece.end >= left.until)
            if part is not None and not self._send(service, part):
                return False
            left = left._replace(since=piece.end)
            entry = self.queue.advance(entry, left)
        return True

    def _send(self, service: Service, entry: Entry) -> bool:
        """Whether it is done with: taken, or refused for good."""
        self._deadline.seconds(least=LEAST_SECONDS)
        reply = service.post(entry.path, entry.body, key=entry.key)
        if reply.status >= 300 and reply.status not in _FINAL:
            self._log.write(f"{entry.path} was answered {reply.status}: the queue waits")
            return False
        if reply.status >= 300:
            self._log.debug(f"{entry.path} was answered {reply.status}: it will not be sent again")
        return True


def is_at_work(folder: Path) -> bool:
    """Whether a background sender is starting the service, or bringing it what waits."""
    if not folder.exists():
        return False
    with locked(folder / SENDER_LOCK, Deadline(0)) as is_free:
        return not is_free


def dispatch(
    settings: HookSettings, caller: Caller, log: Log, *, starts_service: bool
) -> subprocess.Popen[bytes] | None:
    """Sends one, in a session of its own and with nothing of the agent's: its pipes end with the hook."""
    folder = settings.data / FOLDER
    make_folder(folder)
    if is_at_work(folder) or (starts_service and not _is_due(folder)):
        return None
    import subprocess

    # Without -P a module of the folder it runs in could take the place of one that it imports.
    command = [sys.executable, "-P", "-m", "mycel.surfaces.hooks.background_sender", str(settings.data.resolve())]
    command += [START if starts_service else SEND]
    try:
        sent = subprocess.Popen(
            [*command, *([caller.member] if caller.member else [])],
            cwd=settings.data,
            env=child_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        log.write(f"nothing could be started: {type(error).__name__}")
        return None
    if starts_service:
        with suppress(OSError):
            (folder / STAMP).write_text(str(sent.pid))
    return sent


def _is_being_sent(folder: Path) -> bool:
    """Whether another hook has sent a process to start the service that lives, though it may have done nothing yet."""
    stamp = folder / STAMP
    try:
        age = abs(time.time() - stamp.stat().st_mtime)
        process_id = stamp.read_text("ascii")
        if age < REST_SECONDS and process_id and sys.platform != "win32":
            os.kill(int(process_id), 0)
            return True
    except (OSError, ValueError):
        return False
    return age < _DISPATCH_SECONDS


def _is_due(folder: Path) -> bool:
    stamp = folder / STAMP
    with suppress(OSError):
        if abs(time.time() - stamp.stat().st_mtime) < REST_SECONDS:
            return False
    with suppress(OSError):
        os.close(os.open(stamp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY))
        os.utime(stamp)
    return True
