"""What has to be well before any agent can use Mycel: data directory, service, who acts, the queue of hooks."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from mycel.errors import AccessDenied, MycelError
from mycel.providers.llms.registry import COMMAND as COMMAND_MODEL
from mycel.providers.llms.registry import NONE as NO_MODEL
from mycel.services.embeddings import LITTLE
from mycel.settings import Settings, environment_of_commands
from mycel.stores.layout import is_unused
from mycel.surfaces.hooks.clock import Deadline, TimeUp, Unreachable
from mycel.surfaces.hooks.delivery import QUEUE, Queue, deliver_all
from mycel.surfaces.hooks.environment import OFF, ON, read_environment
from mycel.surfaces.hooks.files import FOLDER, Log
from mycel.surfaces.hooks.service import Line, Reply, caller_of
from mycel.wire.http1 import read_address

if TYPE_CHECKING:
    from mycel.contracts.memory_api import MemoryApi
    from mycel.contracts.workspace_api import WorkspaceApi


OK, WARNING, PROBLEM = "ok", "warning", "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    state: str
    text: str
    advice: str | None = None


def ok(name: str, text: str) -> Finding:
    return Finding(name, OK, text)


def warning(name: str, text: str, advice: str) -> Finding:
    return Finding(name, WARNING, text, advice)


def problem(name: str, text: str, advice: str) -> Finding:
    return Finding(name, PROBLEM, text, advice)


_MIB = 1024 * 1024
SCARCE_BYTES, TOO_LITTLE_BYTES = 1024 * _MIB, 64 * _MIB
SLOW_SECONDS = 0.5
DELIVERY_SECONDS = 1.0
ANSWER_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A service, and the secret by which one of this machine proves that it is the one."""

    url: str
    secret: str | None = None

    def get(self, path: str, *, token: str | None = None) -> Reply:
        """`TimeUp` where it takes the question and does not answer, `Unreachable` where nothing is there."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        line = Line(read_address(self.url), Deadline(ANSWER_SECONDS), secret=self.secret)
        try:
            return line.ask("GET", path, headers=headers)
        finally:
            line.close()


def check_data(data: Path, *, is_on_files: bool = True) -> Finding:
    known = next(folder for folder in (data.absolute(), *data.absolute().parents) if folder.exists())
    if not known.is_dir() or not os.access(known, os.W_OK | os.X_OK):
        return problem("data", f"{data} cannot be written", "give it to this user, or name another one by MYCEL_DATA")
    free = shutil.disk_usage(known).free
    text = f"{data}, {free // _MIB:,} MB free"
    if free < SCARCE_BYTES:
        make = problem if free < TOO_LITTLE_BYTES else warning
        return make("data", text, "make room on this disk")
    if is_on_files and is_unused(data):
        begin = "`mycel save TEXT` or `mycel install AGENT` begins it; --data or MYCEL_DATA names another folder"
        return warning("data", f"there is nothing in {text.replace(', ', ' yet, ', 1)}", begin)
    return ok("data", text)


def check_sqlite() -> Finding:
    from mycel.stores.sqlite.connection import check_sqlite_version

    try:
        return ok("sqlite", check_sqlite_version())
    except MycelError as error:
        return problem("sqlite", str(error), "install a newer apsw")


def check_service(settings: Settings) -> tuple[Finding, Endpoint | None]:
    """Started where none runs, as by any other command; the way to it where it answers."""
    if settings.url is not None:
        return _check_address(settings.url, has_token=settings.token is not None)
    if settings.daemon == OFF:
        advice = "hooks cannot reach anybody: unset it, or run `mycel serve`"
        return warning("service", "MYCEL_DAEMON is off", advice), None
    from mycel.client.daemon import ensure_daemon, find_daemon, find_hanging

    try:
        runs = find_daemon(settings.data) is not None
        if not runs and (hanging := find_hanging(settings.data)) is not None:
            text = f"runs at {hanging.url}, takes connections and does not answer"
            return problem("service", text, f"end process {hanging.pid}; it is started again"), None
        daemon = ensure_daemon(settings.data)
    except MycelError as error:
        return problem("service", str(error), f"see {settings.data / 'service.log'}"), None
    began = time.perf_counter()
    answers = find_daemon(settings.data) is not None
    took = time.perf_counter() - began
    text = f"{'runs' if runs else 'was started'} at {daemon.url}, version {daemon.version}"
    restart = f"end process {daemon.pid}; it is started again"
    if not answers:
        return problem("service", f"{text}, but does not answer", restart), None
    service = Endpoint(daemon.url, daemon.secret)
    if daemon.note is not None:
        return warning("service", daemon.note, restart), service
    return by_time("service", text, took), service


def _check_address(url: str, *, has_token: bool) -> tuple[Finding, Endpoint | None]:
    """Of another service than that of the data directory."""
    advice = "start the service there, or correct MYCEL_URL; without it, the one of the data directory is used"
    service = Endpoint(url)
    began = time.perf_counter()
    try:
        status = service.get("/health").status
    except TimeUp:
        return problem("service", f"{url} (MYCEL_URL) takes connections and does not answer", advice), None
    except (Unreachable, ValueError):
        return problem("service", f"nothing answers at {url} (MYCEL_URL)", advice), None
    if status != HTTPStatus.OK:
        return problem("service", f"something else than Mycel answers at {url} (MYCEL_URL)", advice), None
    if not has_token:
        return problem("service", f"{url} (MYCEL_URL) wants a token", "set MYCEL_TOKEN to a token of it"), None
    return by_time("service", f"runs at {url}", time.perf_counter() - began), service


def by_time(name: str, text: str, took: float) -> Finding:
    told = f"{text}, answers in {took * 1000:.0f} ms"
    return ok(name, told) if took < SLOW_SECONDS else warning(name, told, "see what keeps the machine busy")


def check_caller(memory: MemoryApi) -> Finding:
    try:
        caller = memory.who_am_i()
    except MycelError as error:
        return problem("member", str(error), "set MYCEL_TOKEN to a valid token, or unset it")
    return ok("member", f"acts as {caller.member_id} of team {caller.team}, role {caller.role}")


def check_index(workspace: WorkspaceApi, memory: MemoryApi) -> Finding:
    try:
        team = memory.who_am_i().team
        count = memory.stats().memories
    except MycelError as error:
        return problem("index", str(error), "see what is said about the member and the service")
    words = f"{team}: {count:,} found by words"
    try:
        made = workspace.embedding_progress(team)
    except AccessDenied:
        return ok("index", words)
    if made.model is None:
        return ok("index", f"{words}; the embedder is `none`")
    text = f"{words}, {made.embedded:,} also by meaning ({made.model})"
    if made.pending > LITTLE:
        advice = "the next search begins with them; `mycel embed` does it now"
        return warning("index", f"{text}, {made.pending:,} wait for their vectors", advice)
    return ok("index", f"{text}, {made.pending:,} more with the next search" if made.pending else text)


def check_stores(workspace: WorkspaceApi) -> list[Finding]:
    """The damaged ones; what a service knows of them is the operator's."""
    try:
        damages = workspace.damages()
    except AccessDenied:
        return []
    except MycelError as error:
        return [problem("stores", str(error), "see what is said about the service")]
    if not damages:
        return [ok("stores", "no store is known to be damaged; `mycel check` looks at all of them in full")]
    return [problem("stores", damage.text, damage.advice) for damage in damages]


def check_language_model(settings: Settings) -> list[Finding]:
    """Whether it can be asked; it is not, since each answer may cost something."""
    from mycel.app import language_model_of
    from mycel.providers.llms.command import find_program, read_command

    if settings.llm == NO_MODEL:
        return []
    try:
        model = language_model_of(settings)
        name = model.model if model else settings.llm
        found = None
        if settings.llm == COMMAND_MODEL:
            words = read_command(settings.llm_command)
            found = find_program(words, environment_of_commands())
            if found is None:
                advice = "install it, or write its whole path into MYCEL_LLM_COMMAND; a service has its own PATH"
                return [problem("language model", f"{words[0]} cannot be found", advice)]
    except MycelError as error:
        return [problem("language model", str(error), "correct the settings MYCEL_LLM…, then run this again")]
    where = f"{found} answers as {name}" if found else f"{settings.llm} is asked for {name}"
    return [ok("language model", f"{where}; not asked now, rules stand in where it fails")]


def check_queue(settings: Settings, member: str | None) -> Finding:
    """Also sends what waits."""
    found = read_environment(settings.data)
    waiting = sum(1 for _ in Queue(found.data / FOLDER / QUEUE).entries())
    log = Log(found.data, name="doctor")
    left = deliver_all(found, caller_of(found, member), Deadline(DELIVERY_SECONDS), log) if waiting else 0
    if left:
        text = f"{left} of {waiting} writes wait for the service"
        return warning("hooks", text, f"the next hook goes on with it; see {found.data / FOLDER / 'hooks.log'}")
    if found.hooks != ON:
        return warning("hooks", f"MYCEL_HOOKS is {found.hooks}", "unset it to have hooks inject and capture")
    return ok("hooks", f"what waited was delivered: {waiting}" if waiting else "nothing waits to be delivered")
