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
    const table = { ...OWN_KEYS };
    for (const element of document.querySelectorAll("[data-key]")) {
      table[element.dataset.key] ??= [element.dataset.does || element.textContent.trim(), () => {
        if (element.matches("input, textarea, select")) { element.focus(); element.select?.(); } else element.click();
      }];
    }
    return table;
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
    const told = (message) => {
      if (message.state) state(...message.state);
      if (message.change) document.dispatchEvent(new CustomEvent("mycel:change", { detail: message.change }));
    };
    const tell = (message) => { told(message); channel.postMessage(message); };
    channel.addEventListener("message", (event) => told(event.data));
    const listen = () => new Promise(() => {
      const source = new EventSource(`${prefix}/live/changes`);
      source.addEventListener("open", () => tell({ state: ["live", "on"] }));
      source.addEventListener("error", () => tell({ state: ["connecting again", "off"] }));
      source.addEventListener("change", (event) => tell({ change: JSON.parse(event.data) }));
    });
    if (navigator.locks) navigator.locks.request(name, listen); else listen();
  }

  // A list with data-rows says how many are new instead of jumping; its reader fetches them.
  const list = document.querySelector("[data-rows][id]");
  if (list) {
    let count = 0;
    const button = document.createElement("button");
    button.className = "fresh primary";
    button.addEventListener("click", () => { button.remove(); count = 0; swap(list.id, location.href); });
    document.addEventListener("mycel:change", (event) => {
      const below = document.getElementById(list.id)?.dataset.below || "/";
      const path = event.detail.path || "/";
      if (below !== "/" && path !== below && !path.startsWith(`${below}/`)) return;
      count += 1;
      button.textContent = `${count} new`;
      document.getElementById(list.id)?.before(button);
    });
  }
})();
