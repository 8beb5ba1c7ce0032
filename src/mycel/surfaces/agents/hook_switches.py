"""What keeps an agent from running its hooks though they stand in its files: its own switches, and missing trust."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from mycel.surfaces.agents import codex_trust
from mycel.surfaces.agents.setups import Setup, claude_settings, gemini_settings, read_json, read_toml
from mycel.surfaces.agents.shapes import SERVER
from mycel.surfaces.agents.toml_settings import FEATURES, HOOKS
from mycel.surfaces.hooks import hook_event as told


class Hindrance(NamedTuple):
    """`is_certain`: no hook runs. Otherwise nothing is wrong yet, and the text is worth a word."""

    text: str
    advice: str
    is_certain: bool = True


def hindrance_of(setup: Setup, data: Path) -> Hindrance | None:
    look = _LOOKS.get(setup.site.agent.name)
    return None if look is None else look(setup, data)


def _of_claude(setup: Setup, _data: Path) -> Hindrance | None:
    for path in claude_settings(setup.site):
        value = read_json(path).get("disableAllHooks")
        if value is True:
            return Hindrance(f"it runs no hooks: {path} says disableAllHooks", "take that out of the file")
        if value is not None:
            return None
    return None


def _of_gemini(setup: Setup, _data: Path) -> Hindrance | None:
    enabled: object = None
    for path in gemini_settings(setup.site):
        found = read_json(path).get("hooksConfig")
        config = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
        enabled = config.get("enabled") if enabled is None else enabled
        if enabled is False:
            return Hindrance(f"it runs no hooks: {path} says hooksConfig.enabled = false", "take that out of the file")
        disabled = config.get("disabled")
        if isinstance(disabled, list) and SERVER in disabled:
            advice = f"`/hooks enable {SERVER}` in gemini, or take it out of the list"
            return Hindrance(f"its hooks are switched off: {path} has {SERVER} in hooksConfig.disabled", advice)
    return None


def _of_codex(setup: Setup, data: Path) -> Hindrance | None:
    home = codex_trust.codex_home(setup)
    features = read_toml(home / "config.toml").get(FEATURES)
    if isinstance(features, dict) and cast("dict[str, Any]", features).get(HOOKS) is False:
        return Hindrance(f"it runs no hooks: {home / 'config.toml'} says [features] hooks = false", "set it to true")
    if codex_trust.are_switched_off(setup, home):
        return Hindrance("some of its hooks are switched off", "start codex, open /hooks, and switch those of mycel on")
    if codex_trust.are_trusted(setup, home):
        return None
    if codex_trust.ran_without_hooks(setup, home, data):
        text = "a session has run without its hooks: they are not trusted"
        return Hindrance(text, "start codex, open /hooks, and trust those of mycel")
    return Hindrance("its hooks wait to be trusted", "trust them at the next start, by /hooks", is_certain=False)


_LOOKS: Mapping[str, Callable[[Setup, Path], Hindrance | None]] = {
    told.CLAUDE_CODE: _of_claude,
    told.GEMINI: _of_gemini,
    told.CODEX: _of_codex,
}
