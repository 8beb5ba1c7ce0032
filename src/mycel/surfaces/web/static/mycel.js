// What must not reload: search as you type, decisions, keys, and changes as they happen. Every page works without it.
"use strict";
(() => {
  const prefix = document.body.dataset.prefix || "";
  const read = (text) => new DOMParser().parseFromString(text, "text/html");

  // Part of the page anew, from the address that a reload would ask for. Later answers win, whatever order they come in.
  let asked = 0;
  async function swap(id, address) {
    const turn = ++asked;
    const answer = await fetch(address, { headers: { accept: "text/html", "x-part": id } });
    const text = await answer.text();
    if (turn !== asked || !answer.ok) return false;
    const fresh = read(text).getElementById(id);
    const old = document.getElementById(id);
    if (!fresh || !old) return false;
    old.replaceWith(document.adoptNode(fresh));
    return true;
  }

  // To whom does not see them: how many there are, and not all of them with each letter.
  function tellHits(id) {
    const words = document.getElementById(id).querySelector("[data-told], .empty h2")?.textContent ?? "";
    document.getElementById("told").textContent = words;
  }
  // Search as you type: a form with data-as-you-type names the part that it refreshes.
  const QUIET = 50;
  for (const form of document.querySelectorAll("form[data-as-you-type]")) {
    let timer = 0;
    const refresh = () => {
      const query = new URLSearchParams();
      for (const [name, value] of new FormData(form)) if (value) query.append(name, value);
      const address = `${form.getAttribute("action")}?${query}`;
      history.replaceState(null, "", address);
      swap(form.dataset.asYouType, address).then((isNew) => isNew && tellHits(form.dataset.asYouType)).catch(() => {});
    };
    form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(refresh, QUIET); });
    form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); refresh(); });
  }

  // Decisions: a form with data-optimistic shows at once what it will do, and what it did when the answer comes. On an
  // answer that says otherwise, or none at all, everything is as it was, and the reader is told.
  const main = () => document.getElementById("main");
  function say(words) {
    const notice = document.createElement("div");
    notice.className = "notice bad";
    notice.setAttribute("role", "alert");
    notice.textContent = words;
    main().prepend(notice);
  }
  function show(text, address) {
    const fresh = read(text);
    // Nor does a page for whoever is signed out fit into this one.
    if (!fresh.querySelector("#main:not(.bare)")) { location.assign(address); return; }
    main().replaceWith(document.adoptNode(fresh.getElementById("main")));
    document.title = fresh.title;
    history.pushState(null, "", address);
    scrollTo(0, 0);
    (document.querySelector("main [autofocus]") || main()).focus();
    // To whom does not see it: what was done, and what stands there now, once.
    const said = [...main().querySelectorAll(".notice[role=status]")];
    for (const notice of said) notice.removeAttribute("role");
    const words = said.map((notice) => notice.querySelector("span").textContent);
    document.getElementById("told").textContent = [...words, main().querySelector("h1")?.textContent].join(" ");
    sendAtOnce();
    keepDrafts();
  }
  // Opening a page changes nothing by itself: a form with data-at-once is sent when its reader is there.
  function sendAtOnce() {
    for (const form of document.querySelectorAll("form[data-at-once]")) {
      fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), redirect: "manual" }).catch(() => {});
    }
  }
  sendAtOnce();
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("form[data-optimistic]")) return;
    event.preventDefault();
    const body = new URLSearchParams(new FormData(form, event.submitter));
    const leaving = [...document.querySelectorAll(form.dataset.optimistic)];
    for (const one of leaving) one.classList.add("leaving");
    main().setAttribute("aria-busy", "true");
    const back = (words) => {
      for (const one of leaving) one.classList.remove("leaving");
      main().removeAttribute("aria-busy");
      if (words) say(words);
    };
    try {
      const answer = await fetch(form.getAttribute("action"), { method: "POST", body, headers: { accept: "text/html" } });
      show(await answer.text(), answer.redirected ? answer.url : location.href);
    } catch {
      back("The service did not answer: nothing was decided. Try again.");
    }
  });
  addEventListener("popstate", () => location.reload());

  // Drafts: what somebody writes in a form with data-draft is kept in this browser until it is saved, for that member
  // alone. It goes when its member signs out, when another one signs in here, and after two weeks.
  const DRAFT = "mycel draft ";
  const MOST_DRAFTS = 20;
  const MOST_CHARACTERS = 200000;
  const KEPT_FOR = 14 * 86400000;
  const reader = document.body.dataset.member;
  const owner = `${DRAFT}${prefix} ${encodeURIComponent(reader || "")} `;
  const drafts = () => {
    const found = [];
    for (const key of Object.keys(localStorage).filter((one) => one.startsWith(DRAFT))) {
      try { found.push({ key, ...JSON.parse(localStorage.getItem(key)) }); } catch { localStorage.removeItem(key); }
    }
    return found.sort((one, other) => other.at - one.at);
  };
  const forget = (isGone) => { for (const one of drafts()) if (isGone(one)) localStorage.removeItem(one.key); };
  const placeOf = (form) => `${owner}${document.body.dataset.team} ${form.getAttribute("action").split("?")[0]} `;
  const valuesOf = (form) => Object.fromEntries([...new FormData(form)].filter(([name]) => !["form_token", "next", "into"].includes(name)));
  const isSame = (some, others) => Object.keys(some).every((name) => name.endsWith("_version") || some[name] === others[name]);
  function keep(form, more = {}) {
    const fields = valuesOf(form);
    const draft = JSON.stringify({ at: Date.now(), fields, from: form.dataset.from, ...more });
    if (draft.length > MOST_CHARACTERS) return;
    try {
      localStorage.setItem(placeOf(form) + tab, draft);
      drafts().slice(MOST_DRAFTS).forEach((one) => localStorage.removeItem(one.key));
    } catch { /* full, or not allowed here: the page works as it did */ }
  }
  function fill(form, fields) {
    for (const [name, value] of Object.entries(fields)) if (form.elements[name]) form.elements[name].value = value;
  }
  function offer(form, draft) {
    const before = valuesOf(form);
    fill(form, draft.fields);
    form.dataset.from = draft.key;
    keep(form);
    const notice = document.createElement("div");
    notice.className = "notice";
    notice.setAttribute("role", "status");
    const words = document.createElement("span");
    words.textContent = `What you wrote here on ${new Date(draft.at).toLocaleString()} and did not save is back.`;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Leave it out";
    button.addEventListener("click", () => {
      fill(form, before);
      delete form.dataset.from;
      forget((one) => one.key.startsWith(placeOf(form)) && isSame(one.fields, draft.fields));
      notice.remove();
      form.elements.content?.focus();
    });
    notice.append(words, button);
    form.before(notice);
  }
  // Each tab has its own, so that two of them on one form overwrite nothing.
  let tab = "";
  function keepDrafts() {
    if (!reader) return;
    try {
      tab = sessionStorage.getItem("mycel tab") || Math.random().toString(36).slice(2);
      sessionStorage.setItem("mycel tab", tab);
      forget((one) => (one.key.startsWith(`${DRAFT}${prefix} `) && !one.key.startsWith(owner)) || Date.now() - one.at > KEPT_FOR);
      // The address says that a form has done its work, and which one this tab had sent.
      const sent = new URLSearchParams(location.search).has("did") && drafts().find((one) => one.sent && one.key.endsWith(tab));
      if (sent) {
        const place = sent.key.slice(0, -tab.length);
        forget((one) => [sent.key, sent.from].includes(one.key) || (one.key.startsWith(place) && isSame(one.fields, sent.fields)));
      }
    } catch { return; }
    for (const form of document.querySelectorAll("form[data-draft]:not([data-draft=on])")) {
      const own = drafts().filter((one) => one.key.startsWith(placeOf(form)));
      const draft = own.find((one) => one.key.endsWith(tab)) || own[0];
      if (form.dataset.draft === "kept") keep(form);
      else if (draft && !isSame(draft.fields, valuesOf(form))) offer(form, draft);
      form.dataset.draft = "on";
      let timer = 0;
      let isChanged = false;
      const now = () => { clearTimeout(timer); if (isChanged) keep(form); isChanged = false; };
      form.addEventListener("input", () => { isChanged = true; clearTimeout(timer); timer = setTimeout(now, 200); });
      addEventListener("pagehide", now);
      document.addEventListener("visibilitychange", now);
      form.addEventListener("submit", (event) => { event.preventDefault(); now(); send(form); });
    }
  }
  // A form is sent once its reader is known to be signed in; who is not signs in right here, and nothing is lost.
  async function send(form) {
    if (form.dataset.sending) return;
    form.dataset.sending = "yes";
    keep(form);
    for (const old of document.querySelectorAll(".unsent")) old.remove();
    const tell = (words) => { say(words); main().querySelector(".notice").classList.add("unsent"); scrollTo(0, 0); };
    try {
      const answer = await fetch(`${prefix}/new`, { headers: { accept: "text/html" }, redirect: "manual" });
      if (answer.type === "opaqueredirect") return signInHere(form);
      if (!answer.ok) return tell("The service does not take it now. What you wrote is kept in this browser.");
      const page = read(await answer.text());
      if (page.body.dataset.member !== reader) {
        return tell(`This browser is signed in as ${page.body.dataset.member} now, and you wrote this as ${reader}: copy what you need.`);
      }
      form.elements.form_token.value = page.querySelector("[name=form_token]").value;
      keep(form, { sent: true });
      form.submit();
    } catch { tell("The service does not answer. What you wrote is kept in this browser: try again."); } finally { delete form.dataset.sending; }
  }
  function signInHere(unsent) {
    const sheet = document.createElement("dialog");
    sheet.setAttribute("aria-label", "Sign in again");
    const form = document.createElement("form");
    form.className = "stack";
    const title = document.createElement("h2");
    title.textContent = "Sign in again";
    const words = document.createElement("p");
    words.setAttribute("role", "status");
    words.textContent = "You were signed out meanwhile. What you wrote is still here, and is sent when you are signed in.";
    const label = document.createElement("label");
    label.textContent = "Token ";
    const token = document.createElement("input");
    token.type = "password";
    token.autocomplete = "off";
    token.required = true;
    label.append(token);
    const button = document.createElement("button");
    button.className = "primary";
    button.textContent = "Sign in and send";
    form.append(title, words, label, button);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const body = JSON.stringify({ token: token.value.trim() });
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${prefix}/api/sign-in`, { method: "POST", body, headers }).catch(() => null);
      if (!answer?.ok) { words.textContent = "This did not work: the token is unknown, expired or revoked."; return; }
      sheet.close();
      send(unsent);
    });
    sheet.append(form);
    sheet.addEventListener("close", () => sheet.remove());
    document.body.append(sheet);
    sheet.showModal();
  }
  document.addEventListener("submit", (event) => {
    if (!event.target.getAttribute("action")?.endsWith("/sign-out")) return;
    try { forget(() => true); } catch { /* nothing is kept where nothing can be */ }
  });
  keepDrafts();

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
    if (event.target.closest("input:not([type=checkbox]), textarea, select, dialog, [contenteditable]")) {
      // Of a search the first one takes the words off, and what they found; the next one leaves the field.
      if (event.key === "Escape" && event.target.type === "search" && event.target.value) {
        event.preventDefault();
        event.target.value = "";
        event.target.dispatchEvent(new Event("input", { bubbles: true }));
      } else if (event.key === "Escape") event.target.blur();
      return;
    }
    const table = keys();
    const joined = event.timeStamp - firstAt < WITHIN ? `${first} ${event.key}` : "";
    const found = table[joined] || table[event.key];
    first = event.key;
    firstAt = event.timeStamp;
    if (!found || main()?.hasAttribute("aria-busy")) return;
    event.preventDefault();
    first = "";
    found[1]();
  });
  for (const button of document.querySelectorAll("[data-sheet]")) {
    button.hidden = false;
    button.addEventListener("click", showKeys);
  }
  // A secret is copied by a button; where a browser keeps its clipboard to itself, it is marked to be copied by hand.
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const place = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(place.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(place);
        button.textContent = "Marked: copy it now";
      }
    });
  }
  for (const here of document.querySelectorAll(".side [aria-current], .tabs [aria-current]")) {
    here.scrollIntoView({ block: "nearest", inline: "center" });
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
      if (message.state?.[1] === "on") document.dispatchEvent(new CustomEvent("mycel:listening"));
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
  // filters of this page, and as far as its reader may know, the page itself says when it is asked once more.
  const SOON = 300;
  let counting = 0;
  const named = (row) => row.dataset.row || row.querySelector("a")?.getAttribute("href") || row.textContent;
  const within = (list) => [...list.querySelectorAll("[data-row]")].map(named);
  async function count() {
    // An empty page has no list yet, and says all the same when its first row is there.
    const place = () => document.querySelector("main [data-rows][id], main .empty");
    if (!place() || document.hidden) return;
    const answer = await fetch(location.href, { headers: { accept: "text/html", "x-part": "rows" } });
    const there = answer.ok && read(await answer.text()).querySelector("[data-rows][id]");
    const shown = place();
    if (!there || !shown) return;
    const known = new Set(within(shown));
    const fresh = within(there).filter((one) => !known.has(one)).length;
    const button = document.querySelector("button.fresh") || document.createElement("button");
    button.type = "button";
    button.className = "fresh primary";
    button.textContent = `${fresh} new`;
    button.onclick = () => { button.remove(); if (shown.id) swap(shown.id, location.href); else location.reload(); };
    if (!fresh) button.remove(); else if (!button.isConnected) shown.before(button);
  }
  const soon = () => { clearTimeout(counting); counting = setTimeout(() => count().catch(() => {}), SOON); };
  document.addEventListener("mycel:change", soon);
  // What came after the page was made and before anybody listened is told by nobody else.
  document.addEventListener("mycel:listening", soon);
  document.addEventListener("visibilitychange", soon);

  // Try it: a call of the API with the reader's own session. Its fields are made when it is first opened.
  function field(form, name, place, about, value) {
    const label = document.createElement("label");
    const input = document.createElement(place === "body" ? "textarea" : "input");
    label.append(place === "body" ? "Body" : name, input);
    input.name = name;
    input.dataset.place = place;
    input.value = value || "";
    if (place === "body") input.rows = 5; else input.placeholder = about;
    form.append(label);
  }
  document.addEventListener("toggle", (event) => {
    const call = event.target.closest("details[data-try]");
    if (!call?.open || !document.body.dataset.member || call.querySelector("form")) return;
    const [method, path] = call.dataset.try.split(" ");
    const form = document.createElement("form");
    form.className = "try stack wide";
    const fields = document.createElement("div");
    fields.className = "fields";
    form.append(fields);
    for (const one of call.querySelectorAll("[data-in]")) field(fields, one.querySelector("b").textContent, one.dataset.in, one.dataset.in);
    if (call.dataset.body) field(form, "body", "body", "", call.dataset.body);
    const button = document.createElement("button");
    button.textContent = `Send ${method} as ${document.body.dataset.member}`;
    const output = document.createElement("pre");
    output.hidden = true;
    output.tabIndex = 0;
    form.append(button, output);
    call.append(form);
    form.addEventListener("submit", async (sent) => {
      sent.preventDefault();
      let address = path;
      let body;
      const query = new URLSearchParams();
      const headers = { accept: "application/json" };
      for (const input of form.querySelectorAll("[data-place]")) {
        const { place } = input.dataset;
        if (place === "path") address = address.replace(`{${input.name}}`, encodeURIComponent(input.value));
        else if (place === "body") { body = input.value; headers["content-type"] = "application/json"; }
        else if (input.value && place === "header") headers[input.name] = input.value;
        else if (input.value) query.append(input.name, input.value);
      }
      output.hidden = false;
      output.textContent = "…";
      try {
        const answer = await fetch(`${prefix}${address}${query.size ? `?${query}` : ""}`, { method, body, headers });
        const text = await answer.text();
        let told = text;
        try { told = JSON.stringify(JSON.parse(text), null, 2); } catch { /* shown as it came */ }
        output.textContent = `${answer.status} ${answer.statusText}\n${told.slice(0, 20000)}`;
      } catch (error) { output.textContent = String(error); }
    });
  }, true);
})();
