"""The first day with Mycel, from the README's example to a colleague's lesson in a prompt of the real Claude Code.

    python -m tests.real_agents.first_day

Runs the commands of the README in a home that is gone afterwards, connects Claude Code, and asks it a question. Its
model is a scripted one, so that no key and no network is needed; what that was given is printed.
"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from mycel.domain.envelope import ENVELOPE
from tests.real_agents.npm_programs import NotHere, folder_of
from tests.real_agents.programs import CLAUDE_CODE
from tests.real_agents.scripted_model import ScriptedModel
from tests.real_agents.user_home import MYCEL, UserHome
from tests.service_process import started_on_demand

README = Path(__file__).parents[2] / "README.md"
QUESTION = "why does the first request time out"
_CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
_NOTES = re.compile(rf"<{ENVELOPE}>.*?</{ENVELOPE}>", re.DOTALL)


def first_day(root: Path, tell: Callable[[str], object]) -> str:
    """What Claude Code's model was given of the team's memory, with all that led to it told."""
    with ScriptedModel() as model:
        user = UserHome(root, CLAUDE_CODE, folder_of(CLAUDE_CODE), model)
        user.prepare()
        with started_on_demand(user.data):
            for line in [*readme_commands(), ".venv/bin/mycel install claude-code --yes"]:
                tell(f"$ {line}")
                tell(user.run(*shlex.split(line.replace(".venv/bin/mycel", MYCEL))).rstrip())
            model.play(QUESTION, answer="The cache has to be warm.")
            tell(f"$ claude -p {shlex.quote(QUESTION)}")
            tell(user.prompt(QUESTION).stdout.rstrip())
            return "\n".join(_NOTES.findall(model.asked(QUESTION)[0].text))


def readme_commands() -> list[str]:
    """Of the first example: a team, its members, and the lesson that one of them saves for the other."""
    example = _CONSOLE.findall(README.read_text("utf-8"))[0]
    return [line.removeprefix("$ ") for line in example.splitlines() if line.startswith("$ ")]


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            given = first_day(Path(folder), lambda text: sys.stdout.write(f"{text}\n"))
        except NotHere as missing:
            sys.exit(str(missing))
    sys.stdout.write(f"\nWhat the model of Claude Code was given:\n\n{given}\n")


if __name__ == "__main__":
    main()
