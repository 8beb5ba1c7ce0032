"""`mycel demo` as a visitor meets it: real processes, a real terminal, and a home in which nothing else changes."""

from __future__ import annotations

import html
import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from filelock import FileLock

import mycel
from mycel.client.daemon import find_daemon
from mycel.surfaces.cli.demo import LESSON, STORY
from tests.reliability.test_service_disk_full import mount
from tests.service_process import connected, environment, eventually, is_alive, service, services_below

SCRIPT = Path(sys.executable).with_name("mycel")
PICTURE = Path(__file__).resolve().parents[2] / "docs/images/demo.svg"
SECONDS = 110
# What somebody may have set for a workspace of their own; the first two would break every command.
SET = {"MYCEL_URL": "http://127.0.0.1:9", "MYCEL_TOKEN": "mycel_of-another-service", "MYCEL_EMBEDDER": "none"}
SET |= {"MYCEL_AGENT": "somebody", "MYCEL_HOOKS": "off", "MYCEL_DAEMON": "off", "MYCEL_LLM": "openai"}

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them"),
    pytest.mark.skipif(not SCRIPT.exists(), reason="mycel is not installed beside this Python"),
]


class Home:
    """Somebody's home, with a workspace and settings of their own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = path / ".local/share/mycel"
        self.cache = path / ".cache/mycel"
        self.variables = {**environment(**SET, HOME=str(path), TERM="xterm-256color", COLUMNS="80")}
        for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "NO_COLOR"):
            self.variables.pop(name, None)
        if not path.exists():
            (path / ".claude").mkdir(parents=True)
            (path / ".claude/settings.json").write_text('{"theme": "dark"}')
            with mycel.open(self.data) as workspace:
                workspace.as_operator().save("We deploy on Tuesdays.")
            (self.data / "mycel.toml").write_text('llm = "none"\n')

    def mycel(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [SCRIPT, *words],
            env={**self.variables, **variables},
            cwd=self.path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def told(self, *words: str) -> Any:
        done = self.mycel(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def files(self) -> dict[str, tuple[bytes, int]]:
        """All but what the demo keeps in the cache."""
        found = [file for file in self.path.rglob("*") if file.is_file() and not file.is_relative_to(self.cache)]
        return {str(file): (file.read_bytes(), file.stat().st_mtime_ns) for file in found}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, Any]:
    """A home in which the demo has run once, and what it told."""
    home = Home(tmp_path_factory.mktemp("played") / "home")
    before = home.files()
    told = home.told("demo")
    assert home.files() == before
    assert services_below(home.path) == []
    return home, told


@pytest.fixture
def home_after(played: tuple[Home, Any], tmp_path: Path) -> Home:
    """A copy of that home, to keep or delete what the demo has left."""
    shutil.copytree(played[0].path, tmp_path / "home")
    return Home(tmp_path / "home")


def test_it_tells_its_story_as_data(played: tuple[Home, Any]) -> None:
    home, told = played
    assert told["folder"] == str(home.cache / "demo")
    steps = {step["name"]: [done["answer"] for done in step["commands"]] for step in told["steps"]}
    assert list(steps) == [step.name for step in STORY[:-1]]

    team, *members = steps["team"]
    assert (team["name"], {member["team"] for member in members}) == ("shop", {"shop"})
    assert [(member["kind"], member["role"]) for member in members] == [("agent", "agent")] * 3 + [("human", "lead")]
    [lesson] = steps["lesson"]
    [hook] = steps["prompt"]
    assert hook["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert lesson["id"] in hook["hookSpecificOutput"]["additionalContext"]
    assert LESSON in hook["hookSpecificOutput"]["additionalContext"]
    always, never, report, inbox = steps["contradiction"]
    assert [(one["memory_id"], one["other_id"]) for one in report["actions"]] == [(never["id"], always["id"])]
    [waiting] = inbox["items"]
    assert waiting["memory"]["id"] == never["id"]
    assert always["content"] in waiting["reason"]
    [recall] = steps["search"]
    best = recall["hits"][0]
    assert (best["memory"]["id"], best["breakdown"]["words"]) == (lesson["id"], 0)
    assert "meaning" in best["why"]


def test_the_commands_it_shows_are_those_that_work(played: tuple[Home, Any], home_after: Home) -> None:
    told = played[1]
    shown = [done["command"] for step in told["steps"] for done in step["commands"]]
    assert len(shown) == 12
    words = re.findall(r"\w+", shown[-1].split('"')[1])
    assert not {word for word in words if re.search(rf"\b{word}\b", shown[5].split('"')[1], re.IGNORECASE)}
    # As a shell reads them, and no wider than a terminal.
    assert all(len(row) <= 78 for command in shown for row in command.splitlines())
    for command in shown:
        assert subprocess.run(["sh", "-n", "-c", command], check=False).returncode == 0
    in_a_shell = f"mycel() {{ '{SCRIPT}' \"$@\"; }}\n{shown[6]}"
    folder = home_after.cache / "demo"
    own = {"MYCEL_DATA": str(folder), "MYCEL_HOOK_SECONDS": "10"}
    with service(folder, MYCEL_EMBEDDER="builtin"):
        done = subprocess.run(
            ["sh", "-c", in_a_shell], env=environment(**own), capture_output=True, text=True, check=True
        )
    assert LESSON in done.stdout


def test_what_it_made_can_be_kept(home_after: Home, tmp_path: Path) -> None:
    kept = tmp_path / "work" / "my memory"
    told = home_after.told("demo", "--keep", str(kept))
    assert told == {"kept": str(kept), "look": f"mycel --data {shlex.quote(str(kept))} --as you open"}
    with mycel.open(kept) as workspace:
        assert len(workspace.as_operator("shop").list()) == 3
    assert not home_after.cache.exists(), sorted(home_after.cache.rglob("*"))
    again = home_after.mycel("demo", "--keep", str(tmp_path / "other"))
    assert (again.returncode, again.stderr) == (3, "mycel: there is no demo to keep: `mycel demo` makes one\n")


def test_it_is_kept_in_a_new_folder_alone(home_after: Home, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    done = home_after.mycel("demo", "--keep", str(tmp_path / "taken"))
    assert (done.returncode, done.stderr) == (
        2, f"mycel: keep: {tmp_path / 'taken'} is there already: name a new folder\n"
    )  # fmt: skip
    assert (home_after.cache / "demo/workspace.sqlite").exists()


def test_what_it_made_can_be_deleted_and_nothing_is_left(home_after: Home) -> None:
    before = home_after.files()
    assert home_after.mycel("demo", "--delete").stdout == "~/.cache/mycel/demo is deleted.\n"
    assert not home_after.cache.exists(), sorted(home_after.cache.rglob("*"))
    assert home_after.mycel("demo", "--delete").stdout == "There is no demo to delete.\n"
    assert home_after.files() == before


def test_a_cache_that_cannot_be_written_is_said_in_a_sentence(home: Home, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = home.mycel("demo", XDG_CACHE_HOME=str(tmp_path / "file"))
    assert done.returncode == 9
    assert re.fullmatch(r"mycel: the demo cannot use \S+/file\S*: Not a directory; make room .*\n", done.stderr)


def test_two_demos_do_not_write_over_each_other(home: Home) -> None:
    home.cache.mkdir(parents=True)
    with FileLock(home.cache / "demo.lock"):
        done = home.mycel("demo")
    assert (done.returncode, done.stdout) == (5, "")
    assert "another `mycel demo` is running" in done.stderr


@pytest.mark.parametrize("words", [("--data", "elsewhere"), ("--as", "swe-1"), ("--team", "shop")])
def test_it_takes_no_folder_member_or_team(home: Home, words: tuple[str, str]) -> None:
    before = home.files()
    done = home.mycel("demo", *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"mycel: {words[0].lstrip('-')}: does not go with the demo")
    assert home.files() == before


def test_the_picture_shows_the_demo_as_it_is() -> None:
    """When this fails, make it anew: `python -m scripts.demo_picture`."""
    picture = PICTURE.read_text("utf-8")
    texts = html.unescape(picture)
    for number, step in enumerate(STORY, start=1):
        assert f">{number}. {step.says}<" in texts
        assert all(f">{row.strip()}<" in texts for row in step.commands.splitlines())
        assert f">{step.then}<" in texts or not step.then
    assert len(picture.encode()) < 150_000
    assert set(re.findall(r"https?://[\w.]+", picture)) == {"http://www.w3.org", "http://127.0.0.1"}
    assert not re.search(r"<script|@import|url\((?!#)", picture)


class Terminal:
    """The demo on a terminal of 80 columns."""

    def __init__(self, home: Home, *words: str, **variables: str) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self.text = ""
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            os.chdir(home.path)
            os.execve(SCRIPT, ["mycel", "demo", *words], {**home.variables, **variables})
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def until(self, words: str) -> None:
        self._read(lambda: words in self.text)
        assert words in self.text, self.text

    def press(self, keys: bytes) -> None:
        os.write(self._terminal, keys)

    def kill(self, number: signal.Signals) -> None:
        os.kill(self._process, number)

    def ends(self) -> int:
        """The exit code, or the signal below zero."""
        self._read(lambda: False)
        _, status = os.waitpid(self._process, 0)
        os.close(self._terminal)
        return os.waitstatus_to_exitcode(status)

    def _read(self, is_enough: Callable[[], bool]) -> None:
        deadline = time.monotonic() + SECONDS
        while not is_enough() and time.monotonic() < deadline:
            if select.select([self._terminal], [], [], 1.0)[0]:
                try:
                    came = os.read(self._terminal, 65536)
                except OSError:
                    return
                self.text += came.decode("utf-8", "replace")


COLOUR = re.compile(r"\x1b\[(?:[\d;]*;)?3[0-7](?:;[\d;]*)?m")


@pytest.mark.proof
def test_on_a_terminal_it_ends_with_a_page_that_stays_until_enter(home: Home) -> None:
    before = home.files()
    terminal = Terminal(home, "--fast")
    # Pressed too early, it does not close the page.
    terminal.until("1. Three agents")
    terminal.press(b"\n")
    terminal.until("until you press Enter")
    assert COLOUR.search(terminal.text)
    plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", terminal.text).replace("\r", "")
    assert [row for row in plain.splitlines() if len(row) > 80 and "http" not in row] == []
    found = re.search(r"http://\S+/sign-in\?code=\S+", plain)
    assert found
    page = httpx2.get(found[0], follow_redirects=True)
    assert page.status_code == 200
    running = find_daemon(home.cache / "demo")
    assert running is not None
    terminal.press(b"\n")
    assert terminal.ends() == 0
    assert not is_alive(running.pid)
    assert services_below(home.path) == []
    assert home.files() == before


@pytest.mark.proof
def test_it_pauses_to_be_read_keeps_to_half_a_minute_and_ends_by_ctrl_c(home: Home) -> None:
    terminal = Terminal(home, NO_COLOR="1")
    terminal.until("until you press Enter")
    assert not COLOUR.search(terminal.text)
    terminal.press(b"\x03")
    assert terminal.ends() == 0
    assert services_below(home.path) == []


@pytest.mark.proof
@pytest.mark.parametrize("at", ["type along", "team add", "swe-1 save", "UserPromptSubmit", "consolidate", "search"])
@pytest.mark.parametrize("how", ["ctrl-c", "terminated", "killed"])
def test_broken_off_anywhere_it_leaves_no_process_and_runs_again(home: Home, at: str, how: str) -> None:
    terminal = Terminal(home, "--fast")
    terminal.until(at)
    if how == "ctrl-c":
        terminal.press(b"\x03")
    else:
        terminal.kill(signal.SIGTERM if how == "terminated" else signal.SIGKILL)
    assert terminal.ends() == {"ctrl-c": 130, "terminated": 128 + signal.SIGTERM, "killed": -signal.SIGKILL}[how]
    if how != "killed":
        eventually(lambda: services_below(home.path) == [])
    if at in {"swe-1 save", "consolidate"}:
        assert len(home.told("demo")["steps"]) == 5
    assert home.mycel("demo", "--delete").returncode == 0
    eventually(lambda: services_below(home.path) == [])


@pytest.mark.proof
def test_it_runs_twice_and_beside_a_service_that_goes_on(home: Home) -> None:
    with service(home.data) as own:
        process = own.process.pid
        for _ in range(2):
            told = home.told("demo")
            assert told["address"] != own.url
        assert find_daemon(home.data).pid == process  # pyright: ignore[reportOptionalMemberAccess]
        with connected(own) as workspace:
            assert [team.name for team in workspace.teams()] == ["executive"]
            assert len(workspace.as_operator().list()) == 1
        assert services_below(home.path) == [process]


@pytest.mark.proof
def test_it_needs_no_network(home: Home) -> None:
    alone = ["unshare", "--net", "sh", "-c", f"ip link set lo up && exec '{SCRIPT}' demo --json"]
    try:
        done = subprocess.run(alone, env=home.variables, capture_output=True, text=True, timeout=SECONDS, check=False)
    except FileNotFoundError:
        pytest.skip("there is no unshare")
    if "unshare" in done.stderr or "ip:" in done.stderr:
        pytest.skip("no network of one's own can be made here")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["steps"]) == 5


@pytest.mark.proof
@pytest.mark.parametrize("size", ["8k", "1m", "33m"])
def test_a_full_disk_is_said_in_a_sentence(home: Home, tmp_path: Path, size: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or not mount(disk, f"size={size}"):
        pytest.skip("nothing can be mounted here")
    try:
        if size == "33m":
            # Room at the beginning, and none soon after.
            later = f"sleep 1.5; exec cat /dev/zero > {disk}/filler"
            filler = subprocess.Popen(["sh", "-c", later], stderr=subprocess.DEVNULL)
        done = home.mycel("demo", "--json", XDG_CACHE_HOME=str(disk))
        if size == "33m":
            filler.wait(SECONDS)
        assert done.returncode in {7, 8, 9}, done.stderr
        assert set(json.loads(done.stderr)["error"]) == {"code", "message", "field"}
        assert "Traceback" not in done.stderr
        assert services_below(home.path) == []
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
