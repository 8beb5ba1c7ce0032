// What must not reload: search as you type, keys, and changes as they happen. Every page works without it.
"use strict";
(() => {
  const prefix = document.body.dataset.prefix || "";

  // Part of the page anew, from the address that a reload would ask for. Later answers win, whatever order they come in.
  let asked = 0;
  async function swap(id, address) {
    const turn = ++asked;
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    const text = await answer.text();
    if (turn !== asked || !answer.ok) return false;
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById(id);
    const old = document.getElementById(id);
    if (!fresh || !old) return false;
    old.replaceWith(document.adoptNode(fresh));
    return true;
  }

  // Search as you type: a form with data-as-you-type names the part that it refreshes.
  const QUIET = 90;
  for (const form of document.querySelectorAll("form[data-as-you-type]")) {
    let timer = 0;
    const refresh = () => {
      const query = new URLSearchParams();
      for (const [name, value] of new FormData(form)) if (value) query.append(name, value);
      const address = `${form.getAttribute("action")}?${query}`;
      history.replaceState(null, "", address);
      swap(form.dataset.asYouType, address).catch(() => {});
    };
    form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(refresh, QUIET); });
    form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); refresh(); });
  }

  // Keys: an element with data-key is clicked, or focused if it is a field; data-does says so on the sheet.
  // Those of the script itself are here. One table makes both the handler and the sheet.
  const rows = () => [...document.querySelectorAll("[data-row]")];
  function move(by) {
    const all = rows();
    if (!all.length) return;
    const at = all.findIndex((row) => row.classList.contains("chosen"));
    const next = all[Math.min(all.length - 1, Math.max(0, at + by))];
    all[at]?.classList.remove("chosen");
    next.classList.add("chosen");
    next.scrollIntoView({ block: "nearest" });
    next.querySelector("a")?.focus({ preventScroll: true });
  }
  const OWN_KEYS = {
    j: ["Next row", () => move(1)],
    k: ["Row before", () => move(-1)],
    "?": ["These keys", showKeys],
  };
  function keys() {
    const table = {};
    for (const element of document.querySelectorAll("[data-key]")) {
      table[element.dataset.key] ??= [element.dataset.does || element.textContent.trim(), () => {
        if (element.matches("input, textarea, select")) { element.focus(); element.select?.(); } else element.click();
      }];
    }
    // What a page says of a key goes first: in the inbox the next row is the next candidate.
    return { ...OWN_KEYS, ...table };
  }
  function showKeys() {
    const sheet = document.createElement("dialog");
    const list = document.createElement("dl");
    list.className = "facts";
    for (const [key, [does]] of Object.entries(keys()).sort()) {
      const name = document.createElement("dt");
      const words = document.createElement("dd");
      for (const part of key.split(" ")) {
        const cap = document.createElement("kbd");
        cap.textContent = part;
        name.append(cap, " ");
      }
      words.textContent = does;
      list.append(name, words);
    }
    const title = document.createElement("h2");
    title.textContent = "Keys";
    sheet.append(title, list);
    sheet.setAttribute("aria-label", "Keys");
    sheet.addEventListener("close", () => sheet.remove());
    document.body.append(sheet);
    sheet.showModal();
  }
  const WITHIN = 900;
  let first = "";
  let firstAt = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("input, textarea, select, dialog, [contenteditable]")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const table = keys();
    const joined = event.timeStamp - firstAt < WITHIN ? `${first} ${event.key}` : "";
    const found = table[joined] || table[event.key];
    first = event.key;
    firstAt = event.timeStamp;
    if (!found) return;
    event.preventDefault();
    first = "";
    found[1]();
  });
  for (const button of document.querySelectorAll("[data-sheet]")) {
    button.hidden = false;
    button.addEventListener("click", showKeys);
  }
  // A menu closes when its reader goes elsewhere.
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.account[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });

  // Changes as they happen. A browser has six connections to a host, so of all tabs one listens and tells the others.
  const light = document.querySelector("[data-live]");
  if (light && window.EventSource && window.BroadcastChannel) {
    const name = `mycel ${prefix} ${document.body.dataset.member} ${document.body.dataset.team}`;
    const channel = new BroadcastChannel(name);
    const state = (words, kind) => {
      light.hidden = false;
      light.textContent = words;
      light.className = `live ${kind}`;
    };
    // Whoever listens next goes on where the last one stopped.
    let last = "";
    let latest = null;
    const told = (message) => {
      if (message.id) last = message.id;
      if (message.state) state(...message.state);
      if (message.change) document.dispatchEvent(new CustomEvent("mycel:change", { detail: message.change }));
    };
    const tell = (message) => { if (message.state) latest = message.state; told(message); channel.postMessage(message); };
    channel.addEventListener("message", (event) => {
      if (!event.data.hello) told(event.data);
      else if (latest) channel.postMessage({ state: latest, id: last });
    });
    const listen = () => new Promise(() => {
      const source = new EventSource(`${prefix}/live/changes${last ? `?after=${encodeURIComponent(last)}` : ""}`);
      source.addEventListener("open", () => tell({ state: ["live", "on"] }));
      source.addEventListener("error", () => tell({ state: ["connecting again", "off"] }));
      source.addEventListener("change", (event) => tell({ change: JSON.parse(event.data), id: event.lastEventId }));
    });
    channel.postMessage({ hello: true });
    if (navigator.locks) navigator.locks.request(name, listen); else listen();
  }

  // Of what is open, its reader is told when somebody else changes it.
  document.addEventListener("mycel:change", (event) => {
    const { memory_id: id, changed_by: by } = event.detail;
    if (by === document.body.dataset.member) return;
    for (const open of document.querySelectorAll("[data-watch]")) {
      if (open.dataset.watch === id) open.querySelector("[data-changed]").hidden = false;
    }
  });

  // A list with data-rows says how many are new instead of jumping; its reader fetches them. What is new under the
  // filters of this page, the rows behind its address say.
  const list = document.querySelector("[data-rows][id]");
  if (list) {
    const SOON = 300;
    let timer = 0;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "fresh primary";
    button.addEventListener("click", () => { button.remove(); swap(list.id, location.href); });
    const count = async () => {
      const address = `${location.pathname === `${prefix}/` ? `${prefix}/index` : location.pathname}.json${location.search}`;
      const answer = await fetch(address, { headers: { accept: "application/json" } });
      const shown = document.getElementById(list.id);
      const { rows } = answer.ok ? await answer.json() : {};
      if (!rows || !shown) return;
      const fresh = rows.filter((row) => !shown.innerHTML.includes((row.memory || row).id)).length;
      button.textContent = `${fresh} new`;
      if (fresh) shown.before(button); else button.remove();
    };
    const soon = () => { clearTimeout(timer); timer = setTimeout(() => count().catch(() => {}), SOON); };
    document.addEventListener("mycel:change", () => { if (!document.hidden) soon(); });
    document.addEventListener("visibilitychange", () => { if (!document.hidden) soon(); });
  }
})();
