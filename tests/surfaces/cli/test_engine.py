"""Having the engine work from the command line: once, and until it is stopped."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.usefixtures("words_only"), pytest.mark.each_database(slow=True)]

SCRIPT = Path(sys.executable).with_name("mycel")
SAID = "Lesson learned: never run migrations before the backup has finished."


def test_working_once_does_what_waits_and_tells_of_it(mycel) -> None:
    id = mycel.ok("capture", "conversation", "-", input=SAID).strip()
    told, counted = mycel.ok("work", "--once").splitlines()
    assert told.endswith("  executive  extract done  1 candidate, by rules")
    assert counted == "1 piece of work done"
    assert mycel.ok("work", "--once") == "0 pieces of work done\n"
    mycel.ok("capture", "conversation", "-", input="Nothing.")
    done = mycel.json("work", "--once")
    assert (done["done"], done["failed"]) == (1, 0)
    assert [(event["team"], event["state"]) for event in done["events"]] == [("executive", "done")]
    assert id not in [event["id"] for event in done["events"]]


def test_working_once_tells_of_what_failed(mycel, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_settings: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("mycel.engine.extraction.extract.extract", fail)
    mycel.ok("capture", "conversation", "-", input=SAID)
    result = mycel.run("work", "--once")
    assert "executive  extract failed  RuntimeError" in result.stdout
    assert result.stderr.startswith("1 failed: `mycel events show ID` says more")
    mycel.ok("capture", "conversation", "-", input="Something else.")
    assert mycel.json("work", "--once")["failed"] == 1


def test_where_nothing_was_written_there_is_nothing_to_maintain(unwritten) -> None:
    assert unwritten.ok("maintain") == "0 pieces of work done\n"


def test_maintaining_archives_what_has_expired(mycel) -> None:
    id = mycel.save("soon gone", "--ttl", "1s")
    time.sleep(1.1)
    assert mycel.json("maintain")["done"] == 1
    assert mycel.json("get", id)["status"] == "archived"


def test_only_the_operator_maintains(mycel) -> None:
    mycel.ok("member", "add", "swe-1", "--team", "executive")
    assert mycel.run("--as", "swe-1", "maintain").exit_code == 4


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    if not SCRIPT.exists():
        pytest.skip("mycel is not installed beside this Python")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MYCEL_")}
    with subprocess.Popen(
        [SCRIPT, "work", "--json"],
        env={**kept, "MYCEL_DATA": str(tmp_path / "data"), "MYCEL_EMBEDDER": "none", "MYCEL_DAEMON": "off"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What runs in the background of a script is deaf to interrupts, and hands that down.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stderr
        assert process.stderr.readline() == "The engine works; Ctrl-C ends it.\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.files_only
@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_working_beside_tells_of_each_event_until_it_is_stopped(
    mycel, worker: subprocess.Popen[str], number: signal.Signals, exit_code: int
) -> None:
    id = mycel.ok("capture", "conversation", "-", input=SAID).strip()
    assert worker.stdout
    told = json.loads(worker.stdout.readline())
    assert (told["team"], told["id"], told["state"]) == ("executive", id, "done")
    worker.send_signal(number)
    assert worker.communicate(timeout=30) == ("", "")
    assert worker.returncode == exit_code
