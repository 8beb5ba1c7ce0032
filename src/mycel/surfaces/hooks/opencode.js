// Mycel in OpenCode: each event becomes one run of `mycel hook opencode EVENT`, and its answer part of the prompt.
// Written by `mycel install opencode`; what stands here is replaced when that is run again.
import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const COMMAND = ["mycel", "hook", "opencode"];
// A hook answers in a quarter of a second, or waits some seconds for a service that only just starts; whatever takes
// longer than this is not waited for.
const PATIENCE_MS = 8000;
const PATIENCE_AT_EXIT_MS = 2500;
const MOST_CAPTURED = 200;

// OpenCode starts with both hands full: a prompt may wait a little longer there, and nobody waits for what is captured.
const FOR_AN_ANSWER = { MYCEL_HOOK_SECONDS: "0.6", ...process.env };
const UNHURRIED = { MYCEL_HOOK_SECONDS: "2", ...process.env };

function run(event, payload, env = FOR_AN_ANSWER) {
  return new Promise((resolve) => {
    let output = "";
    let timer;
    const done = (text) => {
      clearTimeout(timer);
      resolve(text);
    };
    try {
      const [program, ...words] = [...COMMAND, event];
      const child = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"], windowsHide: true, env });
      timer = setTimeout(() => {
        child.kill();
        done("");
      }, PATIENCE_MS);
      child.on("error", () => done(""));
      child.on("close", () => done(output));
      child.stdin.on("error", () => {});
      child.stdout.on("data", (part) => (output += part));
      child.stdin.end(JSON.stringify(payload));
    } catch {
      done("");
    }
  });
}

// The program ends, and this goes on without it. What it reads is a file: it holds nothing that anybody said.
function runOnItsOwn(event, payload) {
  const folder = mkdtempSync(join(tmpdir(), "mycel-"));
  const path = join(folder, "event.json");
  writeFileSync(path, JSON.stringify(payload), { mode: 0o600 });
  const input = openSync(path, "r");
  const [program, ...words] = [...COMMAND, event];
  spawn(program, words, { stdio: [input, "ignore", "ignore"], detached: true, windowsHide: true, env: UNHURRIED })
    .on("error", () => {})
    .unref();
  closeSync(input);
  rmSync(folder, { recursive: true, force: true });
}

async function ask(event, payload) {
  try {
    const answer = JSON.parse((await run(event, payload)) || "{}");
    return typeof answer.context === "string" ? answer.context : "";
  } catch {
    return "";
  }
}

// What a person or the agent said; what a plugin or the program put in is left out.
function textOf(parts) {
  return (parts ?? [])
    .filter((part) => part?.type === "text" && part.text && !part.synthetic && !part.ignored)
    .map((part) => part.text)
    .join("\n\n");
}

export const MycelPlugin = async ({ client, directory, worktree }) => {
  const cwd = directory || worktree || process.cwd();
  // Of each session: the context that it begins with, and how many of its messages were handed over.
  const sessions = new Map();
  const known = (id) => {
    if (!sessions.has(id)) sessions.set(id, { context: null, source: "startup", handed: 0, handing: null });
    return sessions.get(id);
  };
  // Asked for as soon as the session is there, and told with its next prompt.
  const begin = (id) => {
    const session = known(id);
    session.context ??= ask("session.created", { session_id: id, cwd, source: session.source });
    return session.context;
  };

  async function newMessages(id) {
    try {
      const found = await client.session.messages({ path: { id } });
      const all = (found?.data ?? [])
        .map(({ info, parts }) => ({ role: info?.role, content: textOf(parts) }))
        .filter(({ role, content }) => (role === "user" || role === "assistant") && content);
      const session = known(id);
      const from_start = session.handed === 0;
      const messages = all.slice(Math.min(session.handed, all.length)).slice(-MOST_CAPTURED);
      session.handed = all.length;
      return { messages, from_start };
    } catch {
      return { messages: [] };
    }
  }

  async function capture(event, id, more = {}) {
    const session = known(id);
    session.handing = await newMessages(id);
    await run(event, { session_id: id, cwd, ...session.handing, ...more }, UNHURRIED);
    session.handing = null;
  }

  // The program tells nobody that it ends. What is being handed over then may be cut off, and is told again.
  process.on("exit", () => {
    const ended = "session.deleted";
    for (const [id, { handed, handing }] of sessions) {
      if (!handed) continue;
      const payload = { session_id: id, cwd, messages: handing?.messages ?? [], from_start: true };
      try {
        if (!handing) {
          runOnItsOwn(ended, payload);
          continue;
        }
        const [program, ...words] = [...COMMAND, ended];
        const options = { stdio: ["pipe", "ignore", "ignore"], timeout: PATIENCE_AT_EXIT_MS, env: UNHURRIED };
        spawnSync(program, words, { input: JSON.stringify(payload), ...options });
      } catch {
        // Without it, the session is taken for finished when it has been quiet for a while.
      }
    }
  });

  return {
    "chat.message": async (input, output) => {
      const id = input.sessionID;
      const prompt = textOf(output.parts);
      const texts = [await begin(id)];
      known(id).context = "";
      texts.push(await ask("chat.message", { session_id: id, cwd, prompt }));
      const text = texts.filter(Boolean).join("\n\n");
      if (!text) return;
      output.parts.push({
        id: `prt_mycel${Date.now().toString(36)}${Math.random().toString(36).slice(2, 10)}`,
        sessionID: id,
        messageID: output.message?.id ?? input.messageID,
        type: "text",
        text,
        synthetic: true,
      });
    },
    "tool.execute.after": async (input, output) => {
      if (!["write", "edit", "multiedit", "patch", "apply_patch"].includes(input.tool)) return;
      const args = input.args ?? output?.args ?? { filePath: output?.metadata?.filepath };
      await run("tool.execute.after", { session_id: input.sessionID, cwd, tool: input.tool, args });
    },
    "experimental.session.compacting": async (input) => {
      await capture("experimental.session.compacting", input.sessionID);
      // The context went with the rest: the next prompt brings it back.
      Object.assign(known(input.sessionID), { context: null, source: "compact" });
    },
    event: async ({ event }) => {
      const about = event.properties ?? {};
      const id = about.sessionID ?? about.info?.id;
      if (!id) return;
      if (event.type === "session.created" && !about.info?.parentID) begin(id);
      if (event.type === "session.idle") await capture("session.idle", id);
      if (event.type === "session.error") await capture("session.error", id, { error: about.error });
      if (event.type === "session.deleted") {
        await run("session.deleted", { session_id: id, cwd, messages: [] });
        sessions.delete(id);
      }
    },
  };
};
