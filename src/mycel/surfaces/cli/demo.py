"""`mycel demo`: a team of agents at work in a folder of its own, in half a minute.

`STORY` is the demo: sentences, and commands as anybody would type them. Each command runs as a process of its own, as
from a shell, and answers in its own words.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn

import typer
from platformdirs import user_cache_path

from mycel.client.daemon import stop_daemon
from mycel.errors import Conflict, InvalidInput, Misconfigured, NotFound, StorageFull, Unavailable
from mycel.settings import environment_with_only
from mycel.surfaces.agents.registry import find_command
from mycel.surfaces.cli.invocation import Invocation, add_commands, invocation
from mycel.surfaces.cli.output import line, print_lines


class Step(NamedTuple):
    name: str
    says: str
    # As in a shell: a line that ends in \ or | goes on in the next.
    commands: str
    then: str = ""


STORY = (
    Step(
        "team",
        "Three agents build a shop. You lead them.",
        """mycel team add shop
mycel member add swe-1 --team shop
mycel member add swe-2 --team shop
mycel member add reviewer-1 --team shop
mycel member add you --team shop --kind human --role lead""",
    ),
    Step(
        "lesson",
        "swe-1 learns something the hard way, and saves it.",
        r"""mycel --as swe-1 save --type lesson \
    "The staging deploy needs a warm cache, or the first request times out." """,
    ),
    Step(
        "prompt",
        "Somebody gives swe-2 a task in Claude Code. Mycel's hook reads the prompt.",
        """echo '{"prompt": "Deploy the new checkout to staging."}' |
    mycel hook claude-code UserPromptSubmit --as swe-2""",
        "Claude Code gives this to swe-2 with the prompt. Nobody had to search.",
    ),
    Step(
        "contradiction",
        "Two agents disagree. Mycel picks no winner: it asks you.",
        r"""mycel --as swe-1 save --type lesson "Always retry a failed payment."
mycel --as reviewer-1 save --type lesson \
    "Never retry a failed payment. Some pay twice."
mycel --as you consolidate
mycel --as you inbox""",
        "Both stay until you decide. The judge is built in and runs here.",
    ),
    Step(
        "search",
        "swe-2 asks in words of its own, and sees why the answer was found.",
        'mycel --as swe-2 search --explain "why is our site slow right after we ship"',
        "No word of the question is in the answer: it was found by meaning, offline.",
    ),
    Step(
        "look",
        "You see all of it in a browser, and decide there.",
        "mycel --as you open --print",
        "Open the link: it signs you in, once, within ten minutes.",
    ),
)
# What the hook has to find.
LESSON = "needs a warm cache"

WIDTH = 78
# A command may go on in the next line.
_COMMAND_ENDS = re.compile(r"(?<![\\|])\n")
# On a terminal, to read what a step has shown.
PAUSE_SECONDS = 2.0
# A hook gives up early, so that no agent waits; but a first search loads the model, and a visitor waits for that. The
# service logs to a pipe that is read when it fails, which must not fill up.
SETTINGS = {"MYCEL_HOOK_SECONDS": "10", "MYCEL_LOG_LEVEL": "error"}
# Longer than anybody leaves the pages alone; the service of a demo that was killed ends then.
IDLE_SPAN = "1h"
STOP_SECONDS = 20.0
NEEDED_BYTES = 32 * 1024**2
ELSEWHERE = "make room there, or name another place by XDG_CACHE_HOME"


def add_to(app: typer.Typer) -> None:
    add_commands(app, "Begin", {"demo": demo})


def demo(
    context: typer.Context,
    *,
    fast: Annotated[bool, typer.Option("--fast", help="Do not pause between the steps.")] = False,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Move what the last demo made to a new folder, to go on there."),
    ] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete what the last demo made.")] = False,
) -> None:
    """See Mycel at work in half a minute: three agents, one memory, no network and no key.

    It runs in a scratch folder in your cache, and leaves your own data, settings and services alone. On a terminal it
    ends with pages to look at, which stay up until you press Enter.
    """
    call = invocation(context)
    own = {"data": call.data, "as": call.member, "team": call.team, "create": call.create or None}
    if given := [name for name, value in own.items() if value is not None]:
        raise InvalidInput("does not go with the demo, which has a folder and a team of its own", field=given[0])
    if delete and keep is not None:
        raise InvalidInput("does not go with --keep", field="delete")
    folder = user_cache_path("mycel") / "demo"
    with hold(folder):
        if delete:
            deleted = clear(folder)
            said = f"{in_shell(folder)} is deleted." if deleted else "There is no demo to delete."
            call.answer({"deleted": deleted, "folder": str(folder)}, lambda: say(said))
        elif keep is not None:
            keep_demo(call, folder, keep.expanduser().absolute())
        else:
            play(call, folder, stays=not call.as_json and sys.stdin.isatty() and sys.stdout.isatty(), fast=fast)


@contextmanager
def hold(folder: Path) -> Generator[None]:
    """Keep every other demo of this user out of the folder, and say so where a folder cannot be used."""
    from filelock import FileLock, Timeout

    lock = folder.with_name("demo.lock")
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(lock, mode=0o600, fallback_to_soft=False).acquire(timeout=0):
            yield
        if not folder.exists():
            with suppress(OSError):
                lock.unlink(missing_ok=True)
                folder.parent.rmdir()
    except Timeout:
        raise Conflict("another `mycel demo` is running: end it with Enter or Ctrl-C first") from None
    except BrokenPipeError:
        raise
    except OSError as error:
        where, why = error.filename or folder, error.strerror or error
        raise Misconfigured(f"the demo cannot use {where}: {why}; {ELSEWHERE}") from None


def keep_demo(call: Invocation, folder: Path, target: Path) -> None:
    """Make it a data directory like any other, in a folder of the user's choice."""
    if not folder.exists():
        raise NotFound("there is no demo to keep: `mycel demo` makes one")
    if target.exists() or target.is_relative_to(folder):
        raise InvalidInput(f"{target} is there already: name a new folder", field="keep")
    stop_daemon(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.rename(target)
    except OSError:
        # On another disk: nothing goes before all of it is there.
        target.mkdir(mode=0o700)
        try:
            shutil.copytree(folder, target, dirs_exist_ok=True)
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            raise
        shutil.rmtree(folder)
    look = f"mycel --data {in_shell(target)} --as you open"
    call.answer({"kept": str(target), "look": look}, lambda: say(f"It is yours. Look at it with: {look}"))


def clear(folder: Path) -> bool:
    """Delete what an earlier demo left, with the service of one that was killed; False where there is nothing."""
    if not folder.exists():
        return False
    stop_daemon(folder)
    shutil.rmtree(folder)
    return True


def play(call: Invocation, folder: Path, *, stays: bool, fast: bool) -> None:
    """Tell the story from its beginning, then show the pages to whoever is there to look at them."""
    clear(folder)
    folder.mkdir(mode=0o700)
    if (free := shutil.disk_usage(folder).free) < NEEDED_BYTES:
        needed, left = NEEDED_BYTES >> 20, free >> 20
        raise StorageFull(f"the demo needs {needed} MB in {folder}, where {left} MB are free; {ELSEWHERE}")
    for name in ("SIGTERM", "SIGHUP"):
        # As Ctrl-C does, so that a closed terminal leaves no process either.
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
    began = time.monotonic()
    stage = Stage(folder, as_json=call.as_json)
    if not call.as_json:
        introduce(folder, stage.program)
    with stage.service() as address:
        story = STORY if stays else STORY[:-1]
        steps: list[dict[str, Any]] = []
        for number, step in enumerate(story, start=1):
            steps.append(stage.play(number, step))
            if stays and not fast and step is not story[-1]:
                time.sleep(PAUSE_SECONDS)
        look = {} if stays else {"look": f"mycel --data {in_shell(folder)} --as you open"}
        ways = {**look, "keep": "mycel demo --keep DIR", "delete": "mycel demo --delete"}
        told = {"folder": str(folder), "address": address, "seconds": round(time.monotonic() - began, 2)}
        call.answer({**told, "steps": steps, **ways}, lambda: show_ways(ways))
        if stays:
            wait_for_enter()
    if stays:
        say("The page is closed and nothing runs any more. The folder is there until you keep or delete it.")


class Stage:
    """Runs commands in the folder of the demo, where nothing that the user has set for Mycel holds."""

    def __init__(self, folder: Path, *, as_json: bool) -> None:
        self.program = find_command()
        self._folder = folder
        self._as_json = as_json
        self._environment = environment_with_only({"MYCEL_DATA": str(folder), **SETTINGS})

    @contextmanager
    def service(self) -> Generator[str]:
        """Run the service on a free port of this machine until the demo ends, in whatever way."""
        words = ["serve", "--port", "0", "--stop-when-idle", IDLE_SPAN, "--json"]
        # Ctrl-C is for the demo, which then ends the service.
        with self._process(words, quiet=True, start_new_session=True) as service:
            announced = service.stdout.readline() if service.stdout else ""
            if not announced:
                self._give_up("mycel serve", service.communicate()[1], service.returncode)
            yield json.loads(announced)["url"]

    def play(self, number: int, step: Step) -> dict[str, Any]:
        """Show a step of the story, and return it as data."""
        if not self._as_json:
            print_lines([line(""), line((f"{number}. {step.says}", "bold cyan"))])
        done = [self._run(command) for command in _COMMAND_ENDS.split(step.commands.rstrip())]
        if not self._as_json and step.then:
            say(step.then, "cyan")
        return {"name": step.name, "says": step.says, "commands": done, "then": step.then}

    def _run(self, command: str) -> dict[str, Any]:
        """Run one command with what is piped into it; its answer goes straight to the terminal, or into the data."""
        piped, _, typed = command.replace("\\\n", "").rpartition("|")
        words = shlex.split(typed)[1:]
        is_hook = words[0] == "hook"
        if not self._as_json:
            # Line by line: one text of several lines is filled up with blanks, which must not come after a \.
            first, *more = command.splitlines()
            print_lines([line(("$ ", "dim"), (first, "bold")), *(line((part, "bold")) for part in more)])
            sys.stdout.flush()
        began = time.monotonic()
        with self._process([*words, *(["--json"] if self._as_json else [])], quiet=self._as_json or is_hook) as process:
            output, errors = process.communicate(shlex.split(piped)[1] if piped else "")
        seconds = round(time.monotonic() - began, 2)
        if process.returncode:
            self._give_up(command, errors, process.returncode)
        answer: dict[str, Any] = json.loads(output) if output else {}
        given: str = answer.get("hookSpecificOutput", {}).get("additionalContext", "") if is_hook else ""
        if is_hook and LESSON not in given:
            raise Unavailable("the hook did not find the lesson in time: this machine is busy, try again")
        if not self._as_json:
            for text in given.splitlines():
                print_lines(line(("| ", "dim"), part) for part in textwrap.wrap(text, WIDTH - 2) or [""])
            for text in errors.splitlines():
                say(text, "dim")
        return {"command": command, "seconds": seconds, "answer": answer}

    @contextmanager
    def _process(self, words: list[str], *, quiet: bool, **given: Any) -> Generator[subprocess.Popen[str]]:
        """Start `mycel`, and end it with the block; a signal that comes while it starts waits until it can be ended."""
        came: list[int] = []
        numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
        handlers = {number: signal.signal(number, lambda number, _: came.append(number)) for number in numbers}
        process = None
        try:
            process = subprocess.Popen(
                [self.program, *words],
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if quiet else None,
                # Not a terminal, so that no progress bar is left between the lines.
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                **given,
            )
            for number, handler in handlers.items():
                signal.signal(number, handler)
            if came:
                signal.raise_signal(came[0])
            yield process
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            if process is not None:
                process.terminate()
                try:
                    process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()

    def _give_up(self, command: str, errors: str, code: int) -> NoReturn:
        """End as a command has ended, in its own words."""
        if not self._as_json:
            say(f"The demo ends here. What failed is: {command}")
        sys.stderr.write(errors)
        raise typer.Exit(max(code, 1))


def introduce(folder: Path, program: str) -> None:
    print_lines([line(("Mycel in half a minute: three agents, one memory.", "bold"))])
    say(f"It runs in {in_shell(folder)}, without network or key. Your own data and settings are left alone.")
    print_lines([line(""), line("To type along, in another terminal:")])
    print_lines([line(f"export MYCEL_DATA={in_shell(folder)}", indent=2)])
    on_path = shutil.which("mycel")
    if on_path is None or Path(on_path).resolve() != Path(program).resolve():
        print_lines([line(f"alias mycel={in_shell(Path(program))}", indent=2)])


def show_ways(ways: dict[str, str]) -> None:
    """Say how to go on."""
    own = {"your agent": "mycel install claude-code"}
    print_lines([line(""), *(line((f"{name:<12}", "dim"), typed) for name, typed in {**ways, **own}.items())])


def wait_for_enter() -> None:
    with suppress(ImportError):
        import termios

        # Keys that were pressed during the story were not meant for this.
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    with suppress(KeyboardInterrupt):
        print_lines([line(""), line(("The page stays up until you press Enter.", "bold"))])
        sys.stdout.flush()
        sys.stdin.readline()


def say(text: str, style: str = "") -> None:
    wrapped = textwrap.wrap(text, WIDTH, break_on_hyphens=False, break_long_words=False)
    print_lines(line((part, style)) for part in wrapped)


def in_shell(path: Path) -> str:
    """Write a path as one would type it: short, and as one word."""
    quoted = shlex.quote(str(path))
    is_plain = quoted == str(path) and path.is_relative_to(Path.home())
    return f"~/{path.relative_to(Path.home()).as_posix()}" if is_plain else quoted
