// SPDX-License-Identifier: Apache-2.0
// Sends the forms of commands without loading the page again, and shows their outcomes. Without this script they are ordinary
// forms.
"use strict";
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches(".command")) return;
  event.preventDefault();
  const button = form.querySelector("button");
  const outcome = form.querySelector("output");
  const body = new URLSearchParams(new FormData(form));
  button.disabled = true;
  outcome.className = "";
  outcome.textContent = "It is sent …";
  try {
    // An address with a name and a password in it can't be fetched; the browser sends those by itself.
    const address = new URL(form.action);
    address.username = address.password = "";
    const reply = await fetch(address, { method: "POST", headers: { Accept: "text/plain" }, body });
    outcome.textContent = (await reply.text()).trim();
    outcome.className = reply.ok ? "done" : "failed";
    const confirm = form.elements.namedItem("confirm");
    if (reply.ok && confirm) confirm.value = "";
  } catch {
    outcome.textContent = "The page's server can't be reached, so nobody knows whether it was performed.";
    outcome.className = "failed";
  }
  button.disabled = false;
});

// Updates the page by server-sent events. Without this script the page is loaded again now and then.
(() => {
  const address = document.body.dataset.events;
  if (!address || !window.EventSource) return;
  const offline = document.getElementById("offline");
  const list = document.getElementById("list");
  let source = null;
  let timer = 0;

  // Changes `old` into `next` in place, so that the focus, a selection and the place on the screen stay.
  function morph(old, next) {
    if (old.nodeType !== next.nodeType || old.nodeName !== next.nodeName) return old.replaceWith(next);
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue;
      return;
    }
    for (const name of old.getAttributeNames()) if (!next.hasAttribute(name)) old.removeAttribute(name);
    for (const name of next.getAttributeNames()) {
      const value = next.getAttribute(name);
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    const before = [...old.childNodes];
    const after = [...next.childNodes];
    after.forEach((node, index) => before[index] ? morph(before[index], node) : old.append(node));
    before.slice(after.length).forEach((node) => node.remove());
  }

  function part(event) {
    const next = new DOMParser().parseFromString(event.data, "text/html").body.firstElementChild;
    if (!next) return;
    const old = document.getElementById(next.id);
    if (old) morph(old, next);
    else if (list) list.append(document.adoptNode(next));
  }

  function order(event) {
    if (!list) return;
    const names = event.data.split(" ").filter(Boolean);
    const known = new Set(names);
    for (const item of [...list.children]) if (!known.has(item.id)) item.remove();
    names.forEach((name, index) => {
      const item = document.getElementById(name);
      if (!item || list.children[index] === item) return;
      const focused = item.contains(document.activeElement) ? document.activeElement : null;
      list.insertBefore(item, list.children[index] || null);
      if (focused) focused.focus({ preventScroll: true });
    });
  }

  function open() {
    clearTimeout(timer);
    if (source) source.close();
    source = new EventSource(address);
    source.addEventListener("open", () => { offline.hidden = true; });
    source.addEventListener("part", part);
    source.addEventListener("order", order);
    source.addEventListener("title", (event) => { document.title = event.data; });
    source.addEventListener("error", () => {
      offline.hidden = false;
      // The browser tries again by itself, except after a refusal.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, 10000);
    });
  }

  function close() {
    clearTimeout(timer);
    if (source) source.close();
    source = null;
  }

  // A hidden page needs no events.
  document.addEventListener("visibilitychange", () => document.hidden ? close() : open());
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", (event) => { if (event.persisted) open(); });
  if (!document.hidden) open();
})();
