"""The way of writes to the service: into the queue first, and out of it when the service has them."""

from __future__ import annotations

import time
from collections.abc import Sequence

from mycel.surfaces.hooks.clock import Deadline
from mycel.surfaces.hooks.environment import AUTO, HookSettings
from mycel.surfaces.hooks.faults import TimeUp, Unreachable
from mycel.surfaces.hooks.files import locked, make_folder
from mycel.surfaces.hooks.log import FOLDER, Log
from mycel.surfaces.hooks.queue import Entry, Queue, Write
from mycel.surfaces.hooks.service import HERE, Caller, Service, destination, find_service
from mycel.surfaces.hooks.transcript import read_piece

QUEUE, LOCK = "queue", "queue.lock"
# What will never be taken, however often it is sent: wrong in itself, or with nothing in it to keep.
_FINAL = frozenset({400, 404, 405, 409, 410, 413, 415, 422})
# Less than this is not worth beginning with another write.
LEAST_SECONDS = 0.02
# While a service starts: how often it is looked for, how long until the process that starts it is up, and what the
# first answer may take after that.
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

    def _await_start(self) -> None:
        seconds = self._settings.hook_start_seconds
        self._deadline.extend(seconds)
        began = time.monotonic()
        while (waited := time.monotonic() - began) < seconds and self._service is None:
            time.sleep(_LOOK_SECONDS)
            if waited > _DISPATCH_SECONDS and not self._is_starting():
                return
            self._service = find_service(self._settings, self._caller, self._deadline)
        self._deadline.extend(_ANSWER_SECONDS)

    def _is_starting(self) -> bool:
        from mycel.surfaces.hooks.background_sender import is_at_work

        return is_at_work(self._folder)

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
        from mycel.surfaces.hooks.background_sender import dispatch

        dispatch(self._settings, self._caller, self._log, starts_service=starts_service)

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
        stretch = entry.transcript
        while stretch is not None and stretch.since < stretch.until:
            try:
                piece = read_piece(stretch)
            except OSError:
                self._log.write("a transcript is gone before it was captured")
                return True
            part = entry.with_messages(piece.text, is_last=piece.end >= stretch.until)
            if part is not None and not self._send(service, part):
                return False
            stretch = stretch._replace(since=piece.end)
            entry = self.queue.advance(entry, stretch)
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
