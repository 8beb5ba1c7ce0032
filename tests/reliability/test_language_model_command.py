"""Whatever a command does that is asked as a language model, the caller gets an object or an error, in time."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mycel.app import open_workspace
from mycel.domain.source import Transcript, Turn
from mycel.engine.by_model.extraction import SCHEMA, extract_with_model
from mycel.engine.by_model.summary import summarize_with_model
from mycel.errors import Misconfigured, MycelError, Unavailable
from mycel.providers.breaker import Breaker
from mycel.providers.llms.command import CommandLanguageModel, read_command
from mycel.providers.llms.registry import LanguageModelOptions, make_language_model
from mycel.settings import Settings, environment_of_commands
from tests.squad import wait_until

MATERIAL = "the merger is called bluebird"
# Nothing but what is meant to be slow comes near it, on a busy machine either.
PATIENCE = 60.0
ANSWER = '{"candidates": []}'

Make = Callable[..., CommandLanguageModel]


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Make]:
    """A model that is a Python program of these lines."""
    made: list[CommandLanguageModel] = []

    def build(lines: str, **changes: Any) -> CommandLanguageModel:
        program = tmp_path / f"model-{len(made)}.py"
        program.write_text(f"import os, sys, time, json, subprocess\nHERE = {str(tmp_path)!r}\n{lines}\n", "utf-8")
        options = {"answer_seconds": PATIENCE, "model": "m", "environment": environment_of_commands, **changes}
        made.append(CommandLanguageModel((sys.executable, str(program)), **options))
        return made[-1]

    yield build
    for model in made:
        model.close()


def ask(model: CommandLanguageModel, material: str = MATERIAL) -> Any:
    return model.answer("Find what lasts.", material, schema=SCHEMA, name="candidates")


def failure_of(model: CommandLanguageModel) -> MycelError:
    with pytest.raises(MycelError) as caught:
        ask(model)
    assert MATERIAL not in str(caught.value)
    return caught.value


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_question_comes_on_standard_input_with_its_schema_and_the_material_apart(command: Make) -> None:
    model = command("asked = sys.stdin.read(); print(json.dumps({'candidates': [], 'asked': asked}))")
    asked = ask(model)["asked"]
    assert asked.startswith("Find what lasts.")
    assert json.dumps(SCHEMA) in asked
    before, material, after = asked.partition(MATERIAL)
    assert material
    assert "<material-" in before
    assert "</material-" in after
    assert (model.model, model.max_characters) == ("m", 12_000)


@pytest.mark.parametrize(
    "printed",
    [
        ANSWER,
        f"\n\n  {ANSWER}  \n",
        f"```json\n{ANSWER}\n```",
        f"Sure! I looked at {{all}} of it, {{'really': it}}.\n\n```json\n{ANSWER}\n```\nAnything else? {{}}",
        'First {"thought": 1}, then\n{"thought": {"candidates": 2}}\n' + ANSWER,
        json.dumps({"candidates": []}, indent=2),
        "\ufeff" + ANSWER,
        "\x1b[2K\x1b[1G" + ANSWER + "\x1b[?25h",
    ],
)
def test_the_object_is_found_in_whatever_stands_around_it(command: Make, printed: str) -> None:
    assert ask(command(f"sys.stdin.read(); sys.stdout.buffer.write({printed.encode()!r})")) == {"candidates": []}


@pytest.mark.parametrize(
    "printed",
    [
        b"",
        b"I would rather not.",
        b"[1, 2]",
        b"{" * 200_000,
        b'{"a":' * 100_000,
        b"\xff\xfe\x00",
        b'{"candidates": [',
        b"42",
    ],
    ids=["nothing", "prose", "list", "braces", "nesting", "bytes", "cut off", "number"],
)
def test_what_holds_no_object_is_a_wrong_answer(command: Make, tmp_path: Path, printed: bytes) -> None:
    (tmp_path / "printed").write_bytes(printed)
    error = failure_of(command("sys.stdin.read(); sys.stdout.buffer.write(open(HERE + '/printed', 'rb').read())"))
    assert isinstance(error, Unavailable)
    assert str(error) == "the command m gave a wrong answer: it holds no JSON object"


def test_an_answer_in_pieces_is_put_together(command: Make) -> None:
    model = command(f"for letter in {ANSWER!r}: sys.stdout.write(letter); sys.stdout.flush(); time.sleep(0.005)")
    assert ask(model) == {"candidates": []}


def test_a_command_that_reads_nothing_may_answer(command: Make) -> None:
    assert ask(command(f"print({ANSWER!r})"), "long " * 200_000) == {"candidates": []}


def test_a_command_that_prints_before_it_reads_everything_does_not_hang(command: Make) -> None:
    model = command(f"sys.stdout.write(' ' * 300_000); sys.stdout.flush(); sys.stdin.read(); print({ANSWER!r})")
    assert ask(model, "long " * 200_000) == {"candidates": []}


@pytest.mark.parametrize(
    ("lines", "kind", "text"),
    [
        ("sys.exit(3)", Unavailable, "the command m failed with exit code 3; run it by hand to see why"),
        (f"print({ANSWER!r}); sys.exit(1)", Unavailable, "the command m failed with exit code 1"),
        ("os.kill(os.getpid(), 9)", Unavailable, "the command m was ended by signal 9"),
        ("sys.exit(127)", Misconfigured, "the command m cannot be run (exit code 127): see MYCEL_LLM_COMMAND"),
    ],
)
def test_how_it_ended_is_told_and_not_what_it_said(
    command: Make, lines: str, kind: type[MycelError], text: str
) -> None:
    error = failure_of(command(f"sys.stderr.write(sys.stdin.read()); {lines}"))
    assert type(error) is kind
    assert text in str(error)


def test_a_program_that_is_not_there_is_misconfigured() -> None:
    with closing(CommandLanguageModel(("no-such-program-here", "-p"))) as model:
        error = failure_of(model)
    assert isinstance(error, Misconfigured)
    assert "the command no-such-program-here cannot be run (No such file or directory): see MYCEL_LLM_COMMAND" in str(
        error
    )


def test_a_command_that_hangs_is_ended_with_all_it_has_started(command: Make, tmp_path: Path) -> None:
    model = command(
        "one = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open(HERE + '/pids', 'w').write(f'{os.getpid()} {one.pid}')\n"
        "time.sleep(600)",
        answer_seconds=3.0,
    )
    error = failure_of(model)
    assert isinstance(error, Unavailable)
    assert str(error) == "the command m gave no answer within 3 s"
    own, other = map(int, (tmp_path / "pids").read_text().split())
    wait_until(lambda: not is_running(own) and not is_running(other))


def test_what_it_leaves_behind_ends_with_its_answer(command: Make, tmp_path: Path) -> None:
    """Also where it holds on to the output."""
    model = command(
        "one = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open(HERE + '/pid', 'w').write(str(one.pid)); print({ANSWER!r})"
    )
    assert ask(model) == {"candidates": []}
    wait_until(lambda: not is_running(int((tmp_path / "pid").read_text())))


def test_an_answer_without_end_is_left_at_its_limit(command: Make) -> None:
    error = failure_of(command("sys.stdin.read()\nwhile True: sys.stdout.write('x' * 65536)"))
    assert str(error) == "the command m gave a wrong answer: it is longer than 1,048,576 bytes"


def test_it_runs_in_an_empty_folder_without_our_secrets_and_with_our_hooks_silent(
    command: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MYCEL_TOKEN", "MYCEL_LLM_KEY", "MYCEL_EMBEDDING_KEY", "MYCEL_DATABASE_URL"):
        monkeypatch.setenv(name, "not-for-others")
    monkeypatch.setenv("MYCEL_LLM", "command")
    monkeypatch.setenv("VENDOR_KEY", "its-own")
    model = command("print(json.dumps({'candidates': [], 'here': os.listdir(), 'env': dict(os.environ)}))")
    found = ask(model)
    assert found["here"] == []
    assert "not-for-others" not in found["env"].values()
    assert found["env"]["VENDOR_KEY"] == "its-own"
    assert (found["env"]["MYCEL_HOOK_ACTIVE"], found["env"]["MYCEL_LLM"]) == ("1", "none")


def test_no_shell_reads_it(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    words = read_command(f"{sys.executable} -c 'print(\"{{}}\")' ; touch {mark} $(touch {mark})")
    with closing(CommandLanguageModel(words, environment=environment_of_commands)) as model:
        ask(model)
    assert not mark.exists()


def test_a_failing_command_is_left_alone_for_a_while(command: Make, tmp_path: Path) -> None:
    model = command(
        "open(HERE + '/runs', 'a').write('x'); sys.exit(1)", breaker=Breaker("the command m", first_pause=60.0)
    )
    for _ in range(5):
        failure_of(model)
    assert len((tmp_path / "runs").read_text()) == 3


def test_closing_ends_what_runs(command: Make, tmp_path: Path) -> None:
    model = command("open(HERE + '/pid', 'w').write(str(os.getpid())); time.sleep(600)")
    failed: list[MycelError] = []
    asking = threading.Thread(target=lambda: failed.append(failure_of(model)))
    asking.start()
    pid = tmp_path / "pid"
    wait_until(lambda: pid.exists() and pid.read_text() != "")
    model.close()
    asking.join(PATIENCE)
    assert [type(error) for error in failed] == [Unavailable]
    assert not is_running(int(pid.read_text()))
    assert "is closed" in str(failure_of(model))


@pytest.mark.parametrize("text", [None, "", "  ", "claude -p 'open"])
def test_a_command_that_says_nothing_to_run_is_refused(text: str | None) -> None:
    with pytest.raises(Misconfigured, match="MYCEL_LLM_COMMAND"):
        make_language_model(LanguageModelOptions(llm="command", command=text))


def test_its_name_is_that_of_the_program_unless_told() -> None:
    made = make_language_model(LanguageModelOptions(llm="command", command="/opt/bin/claude -p --model x"))
    assert made is not None
    assert made.model == "claude"
    named = make_language_model(LanguageModelOptions(llm="command", command="claude -p", model="haiku"))
    assert named is not None
    assert named.model == "haiku"


TALK = (
    "We decided to keep all amounts in cents, since floats lose money.",
    "The fix was to use workload identity in the deploy job.",
)
# Answers each sort of question about the talk above, and notes that it was asked.
MODEL = f"""
asked = sys.stdin.read()
open(HERE + "/asked", "a").write(json.dumps(asked) + "\\n")
if '"summary"' in asked and '"candidates"' not in asked:
    print('Here it is: {{"summary": "Amounts are kept in cents; the deploy job uses workload identity."}}')
else:
    print(json.dumps({{"candidates": [
        {{"type": "decision", "title": "Amounts in cents", "content": "Amounts are kept in cents.",
          "quote": {TALK[0]!r}, "turn": 1, "confidence": 0.9,
          "category": "decision", "rationale": "Floats lose money.", "alternatives": []}},
    ]}}))
"""


def a_transcript() -> Transcript:
    first, second = TALK
    text = f"{first}\n\n{second}"
    return Transcript(text, (Turn("user", 0, len(first), "swe-1"), Turn("assistant", len(first) + 2, len(text))))


def test_extraction_and_summary_by_a_command(command: Make) -> None:
    model = command(MODEL)
    found = extract_with_model(model, a_transcript())
    assert [one.content for one in found.candidates] == ["Amounts are kept in cents."], found
    assert "cents" in summarize_with_model(model, a_transcript())


@pytest.mark.parametrize("lines", [MODEL, "print('no idea')", "sys.exit(2)"], ids=["answers", "garbage", "fails"])
def test_a_captured_session_is_worked_on_by_a_command_or_by_rules_when_it_fails(tmp_path: Path, lines: str) -> None:
    program = tmp_path / "model.py"
    program.write_text(f"import os, sys, json\nHERE = {str(tmp_path)!r}\n{lines}\n", "utf-8")
    settings = Settings(
        data=tmp_path / "data", embedder="none", llm="command", llm_command=f"{sys.executable} {program}", llm_model="m"
    )
    with open_workspace(settings.data, settings=settings) as workspace:
        workspace.add_team("squad")
        workspace.add_member("swe-1", team="squad", role="agent")
        memory = workspace.as_member("swe-1")
        talk = [{"role": role, "content": said} for role, said in zip(("user", "assistant"), TALK, strict=True)]
        event = memory.capture_session(talk, project="web")
        workspace.run_pending()
        outcome = memory.sources.event(event.id).outcome or ""
        found = [one.content for one in memory.list(status="any", type="decision")]
    if lines == MODEL:
        assert "Amounts are kept in cents." in found
        assert "by m" in outcome
        assert MATERIAL not in (tmp_path / "asked").read_text()
    else:
        assert any("cents" in one for one in found)
        assert "rules, since m failed: the command m" in outcome
