"""The plugin that hands OpenCode's events to `mycel hook`: a file that is ours as a whole."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

from mycel.surfaces.agents.json_text import NotEditable
from mycel.surfaces.agents.shapes import Connection, Entry
from mycel.surfaces.hooks import happening as told
from mycel.surfaces.hooks.events import name_of

MARK = "// Written by `mycel install opencode`"
_PROGRAM = """
import { spawn } from "node:child_process"

const COMMAND = $COMMAND
const WORDS = $WORDS
const PATIENCE_MS = 10000

// Whatever goes wrong, the agent goes on without Mycel.
function hook(event, payload) {
  return new Promise((resolve) => {
    try {
      const words = ["hook", "opencode", event, ...WORDS]
      const child = spawn(COMMAND, words, { cwd: payload.cwd, stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => child.kill(), PATIENCE_MS)
      let answer = ""
      child.stdout.on("data", (chunk) => (answer += chunk))
      child.on("error", () => { clearTimeout(timer); resolve({}) })
      child.on("close", () => {
        clearTimeout(timer)
        try { resolve(answer ? JSON.parse(answer) : {}) } catch { resolve({}) }
      })
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload))
    } catch { resolve({}) }
  })
}

function textOf(parts) {
  return (parts ?? []).filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\\n")
}

export const Mycel = async ({ client, directory }) => {
  const known = new Set()
  const compacted = new Set()
  const sent = new Set()

  // What was said since the last time.
  async function news(id) {
    try {
      const found = await client.session.messages({ path: { id } })
      const done = (info) => info.role === "user" || info.time?.completed
      const fresh = (found.data ?? []).filter(({ info }) => !sent.has(info.id) && done(info))
      fresh.forEach(({ info }) => sent.add(info.id))
      return fresh.map(({ info, parts }) => ({ role: info.role, content: textOf(parts) }))
    } catch { return [] }
  }

  async function tell(event, id, more) {
    return hook(event, { session_id: id, cwd: directory, ...more })
  }

  return {
    $PROMPTED: async (input, output) => {
      const id = input.sessionID
      const contexts = []
      if (!known.has(id)) {
        known.add(id)
        const source = compacted.delete(id) ? "compact" : "startup"
        contexts.push((await tell($SESSION_STARTED, id, { source })).context)
      }
      contexts.push((await tell($PROMPTED, id, { prompt: textOf(output.parts) })).context)
      for (const text of contexts.filter(Boolean)) {
        const part = "prt_mycel" + Math.random().toString(36).slice(2)
        const belongs = { id: part, sessionID: id, messageID: output.message.id }
        output.parts.push({ ...belongs, type: "text", text, synthetic: true })
      }
    },
    $TOOL_USED: async (input, output) => {
      const args = input.args ?? { filePath: output?.metadata?.filepath }
      await tell($TOOL_USED, input.sessionID, { tool: input.tool, args })
    },
    $COMPACTING: async (input) => {
      const id = input.sessionID
      known.delete(id)
      compacted.add(id)
      await tell($COMPACTING, id, { messages: await news(id) })
    },
    event: async ({ event }) => {
      const about = event.properties ?? {}
      const id = about.sessionID ?? about.info?.id
      if (event.type === $TURN_ENDED) await tell(event.type, id, { messages: await news(id) })
      if (event.type === $TASK_FAILED) await tell(event.type, id, { error: about.error, messages: await news(id) })
      if (event.type === $SESSION_ENDED) await tell(event.type, id, { messages: [] })
    },
  }
}
"""
_KINDS = {
    "SESSION_STARTED": told.SESSION_STARTED,
    "PROMPTED": told.PROMPTED,
    "TOOL_USED": told.TOOL_USED,
    "COMPACTING": told.COMPACTING,
    "TURN_ENDED": told.TURN_ENDED,
    "TASK_FAILED": told.TASK_FAILED,
    "SESSION_ENDED": told.SESSION_ENDED,
}


def plugin_text(connection: Connection) -> str:
    command, _, agent, _, *words = connection.hook_words(told.OPENCODE, "")
    program = _PROGRAM.replace("$COMMAND", json.dumps(command)).replace("$WORDS", json.dumps(words))
    for name, kind in _KINDS.items():
        program = program.replace(f"${name}", json.dumps(name_of(agent, kind)))
    return f"{MARK}; `mycel uninstall opencode` removes it.\n{program.lstrip()}"


@dataclass(frozen=True, slots=True)
class PluginFile:
    wanted: str

    def merged(self, text: str) -> str:
        if text.strip() and not text.startswith(MARK):
            raise NotEditable("it is somebody else's plugin")
        return self.wanted

    def without_own(self, text: str, *, before: str | None) -> str:
        return "" if text.startswith(MARK) else text

    def present(self, text: str) -> tuple[Entry | None, list[str]]:
        """The line that the plugin runs when a session starts."""
        if not text.startswith(MARK):
            return None, []
        lines = text.splitlines()
        command, words = (
            next((json.loads(line.removeprefix(start)) for line in lines if line.startswith(start)), None)
            for start in ("const COMMAND = ", "const WORDS = ")
        )
        event = name_of(told.OPENCODE, told.SESSION_STARTED)
        return None, [shlex.join([command, "hook", told.OPENCODE, event, *words])] if command and words else []
