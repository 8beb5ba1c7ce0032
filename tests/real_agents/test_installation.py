"""Mycel in the settings of real coding agents: installed, uninstalled, and looked at by the doctor."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real_agents.user_home import MYCEL, UserHome

pytestmark = [pytest.mark.proof, pytest.mark.timeout(1800)]


def test_the_doctor_finds_nothing_wrong_after_installing(user: UserHome) -> None:
    if user.program.trust:
        pytest.skip("this agent runs no new hook before the user has agreed to it")
    assert user.check_of(user.program.agent)["state"] == "ok"


def test_installing_again_changes_nothing(user: UserHome) -> None:
    before = user.settings_files()
    user.install()
    assert user.settings_files() == before


def test_uninstalling_leaves_nothing_of_mycel(user: UserHome) -> None:
    try:
        user.uninstall()
        left = user.settings_files()
        assert [path for path, text in left.items() if MYCEL.encode() in text or b"mycel" in text] == []
        assert not (user.home / ".config/opencode/plugins").exists()
    finally:
        user.install()


def test_the_doctor_tells_that_hooks_are_switched_off(user: UserHome) -> None:
    switch = user.program.hooks_off
    if switch is None:
        pytest.skip("this agent has no switch for hooks")
    with user.changed_settings(*switch):
        assert user.check_of(user.program.agent)["state"] != "ok"


def test_the_doctor_tells_that_hooks_are_not_trusted(user: UserHome) -> None:
    if not user.program.trust:
        pytest.skip("this agent runs new hooks at once")
    cue = f"untrusted-{user.program.agent}"
    user.model.play(cue, answer="Done.")
    user.prompt(f"{cue}: do what you can without hooks", trusted=False)
    assert "stored-notes" not in user.model.asked(cue)[0].text
    check = user.check_of(user.program.agent)
    assert check["state"] != "ok"
    assert "trust" in f"{check}"


def test_the_doctor_tells_that_the_command_is_gone(user: UserHome) -> None:
    files = user.settings_files()
    gone = str(Path("/nowhere/bin/mycel"))
    try:
        for path, text in files.items():
            path.write_bytes(text.replace(MYCEL.encode(), gone.encode()))
        check = user.check_of(user.program.agent)
    finally:
        for path, text in files.items():
            path.write_bytes(text)
    assert check["state"] == "problem"
    assert gone in check["text"]


def test_the_doctor_starts_a_service_that_has_ended(user: UserHome) -> None:
    user.end_service()
    assert user.check_of("service")["state"] == "ok"
    assert user.check_of(user.program.agent)["state"] != "problem"
