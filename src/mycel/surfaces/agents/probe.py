"""Runs what an agent would run, as it stands in the settings: a hook, and an MCP server."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mycel import __version__
from mycel.settings import environment_with

PATIENCE_SECONDS = 3.0
# It has a library to import, which takes longer where there is little to run it.
SERVER_SECONDS = 15.0
_PROTOCOL = "2025-11-25"


@dataclass(frozen=True, slots=True)
class Server:
    """A server that an agent starts."""

    line: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]


def server_of(entry: Mapping[str, Any], *, variables: str) -> Server | None:
    """None for one that is spoken to over HTTP; `variables` is what the agent calls those that it starts it with.

    References to other variables are the agent's to fill in.
    """
    command = entry.get("command")
    line = [command, *entry.get("args", ())] if isinstance(command, str) else command
    given = cast("Mapping[str, str]", entry.get(variables) or {})
    if not isinstance(line, list) or not line:
        return None
    plain = {name: value for name, value in given.items() if "{" not in value}
    return Server(tuple(map(str, cast("list[object]", line))), tuple(sorted(plain.items())))


def ask_hook(line: str, *, folder: Path) -> float:
    """How many seconds the hook of a session's start took; OSError or ValueError where it does not run."""
    began = time.perf_counter()
    ran = subprocess.run(
        _words(line),
        input=json.dumps({"cwd": str(folder), "source": "startup"}).encode(),
        capture_output=True,
        cwd=folder,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    if ran.returncode:
        raise ValueError(f"it ended with code {ran.returncode}")
    return time.perf_counter() - began


def list_tools(server: Server) -> list[str]:
    """The names of the tools; OSError or ValueError where the server does not run."""
    process = subprocess.Popen(
        server.line,
        env=environment_with(dict(server.variables)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    timer = threading.Timer(SERVER_SECONDS, process.kill)
    timer.start()
    try:
        client = {"name": "mycel doctor", "version": __version__}
        hello = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client}
        _ask(process, {"id": 1, "method": "initialize", "params": hello})
        _send(process, {"method": "notifications/initialized"})
        found = _ask(process, {"id": 2, "method": "tools/list"})
        return [str(tool["name"]) for tool in found["tools"]]
    except (KeyError, TypeError):
        raise ValueError("its answer is none of MCP") from None
    finally:
        timer.cancel()
        process.kill()
        process.communicate()


def _ask(process: subprocess.Popen[bytes], request: dict[str, Any]) -> dict[str, Any]:
    _send(process, request)
    lines = process.stdout or ()
    for line in lines:
        found = json.loads(line)
        if found.get("id") == request["id"]:
            return found["result"]
    raise ValueError("it ends without an answer")


def _send(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    if process.stdin is None:
        return
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def program_of(line: str | Sequence[str]) -> str:
    return _words(line)[0] if isinstance(line, str) else line[0]


def option_of(line: str | Sequence[str], name: str) -> str | None:
    words = _words(line) if isinstance(line, str) else list(line)
    return words[words.index(name) + 1] if name in words[:-1] else None


def _words(line: str) -> list[str]:
    return shlex.split(line, posix=os.name != "nt")
