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

// Shows the time and the number of a graph's point: under the pointer, and by the arrow keys.
const graphs = (() => {
  const ready = new WeakSet();
  // The picture's own measures.
  const [width, top, height] = [480, 12, 150];

  function points(plot) {
    const found = [];
    for (const line of plot.querySelectorAll(".line")) {
      for (const pair of line.getAttribute("d").slice(1).split("L")) found.push(pair.split(" ").map(Number));
    }
    return found;
  }

  function text(plot, [x, y]) {
    const { from, to, low, high, digits, unit, offset } = plot.dataset;
    const time = Number(from) + (Number(to) - from) * (x - 48) / 420;
    const clock = new Date((time + Number(offset)) * 1000).toISOString().slice(0, 16).replace("T", " ");
    const number = Number(low) + (Number(high) - low) * (top + height - y) / height;
    return `${to - from > 86400 ? clock : clock.slice(11)}: ${number.toFixed(digits)} ${unit}`.trim();
  }

  function add(figure) {
    ready.add(figure);
    const own = (name, kind) => {
      const element = document.createElement(name);
      element.className = "own " + kind;
      figure.append(element);
      return element;
    };
    const plot = () => figure.querySelector(".plot");
    const slider = own("input", "cursor");
    const mark = own("div", "hair");
    const output = own("p", "readout");
    slider.type = "range";
    slider.min = 0;
    slider.setAttribute("aria-label", "Read out: " + figure.querySelector("figcaption").textContent);
    mark.hidden = true;
    function show(index) {
      const all = points(plot());
      const point = all[index];
      if (!point) return;
      slider.max = all.length - 1;
      slider.value = index;
      const box = plot().getBoundingClientRect();
      mark.hidden = false;
      mark.style.left = `${point[0] / width * 100}%`;
      mark.style.top = `${plot().offsetTop || box.top - figure.getBoundingClientRect().top}px`;
      mark.style.height = `${box.height * (top + height) / 190}px`;
      output.textContent = text(plot(), point);
      slider.setAttribute("aria-valuetext", output.textContent);
    }
    function clear() {
      mark.hidden = true;
      output.textContent = "";
    }
    figure.addEventListener("pointermove", (event) => {
      const box = plot()?.getBoundingClientRect();
      if (!box || event.clientY < box.top) return clear();
      const x = (event.clientX - box.left) / box.width * width;
      const all = points(plot());
      let best = 0;
      all.forEach((point, index) => { if (Math.abs(point[0] - x) < Math.abs(all[best][0] - x)) best = index; });
      show(best);
    });
    figure.addEventListener("pointerleave", clear);
    slider.addEventListener("focus", () => {
      const last = points(plot()).length - 1;
      slider.max = last;
      show(last);
    });
    slider.addEventListener("input", () => show(Number(slider.value)));
    slider.addEventListener("blur", clear);
  }

  return () => {
    for (const figure of document.querySelectorAll("figure")) if (figure.querySelector(".plot") && !ready.has(figure)) add(figure);
  };
})();
graphs();

// Updates the page by server-sent events. Without this script the page is loaded again now and then.
(() => {
  let address = document.body.dataset.events;
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
    // What the reader has unfolded stays so.
    for (const name of old.getAttributeNames()) if (name !== "open" && !next.hasAttribute(name)) old.removeAttribute(name);
    for (const name of next.getAttributeNames()) {
      const value = next.getAttribute(name);
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    // What this script has added stays.
    const before = [...old.childNodes].filter((node) => !node.classList?.contains("own"));
    const after = [...next.childNodes];
    const end = before.length > 0 ? before[before.length - 1].nextSibling : old.firstChild;
    after.forEach((node, index) => before[index] ? morph(before[index], node) : old.insertBefore(node, end));
    before.slice(after.length).forEach((node) => node.remove());
  }

  function part(event) {
    // A template holds lines of a table, too.
    const holder = document.createElement("template");
    holder.innerHTML = event.data;
    const next = holder.content.firstElementChild;
    if (!next) return;
    const old = document.getElementById(next.id);
    if (old) morph(old, next);
    else if (list) list.append(next);
    if (next.id === "graphs" || old?.id === "graphs") graphs();
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

  // Finds, sorts and groups without loading the page.
  const choice = document.getElementById("choice");
  if (choice) {
    const usual = new URLSearchParams(new FormData(choice)).get("view");
    let pause = 0;
    const choose = () => {
      const chosen = new URLSearchParams(new FormData(choice));
      if (chosen.get("view") !== usual) return choice.submit();
      for (const [name, value] of [...chosen]) if (!value) chosen.delete(name);
      const query = chosen.size > 0 ? "?" + chosen : "";
      history.replaceState(null, "", query || "./");
      address = address.replace(/\?.*/, "") + query;
      open();
    };
    choice.addEventListener("submit", (event) => {
      event.preventDefault();
      choose();
    });
    choice.addEventListener("input", () => {
      clearTimeout(pause);
      pause = setTimeout(choose, 200);
    });
  }

  // A hidden page needs no events.
  document.addEventListener("visibilitychange", () => document.hidden ? close() : open());
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", (event) => { if (event.persisted) open(); });
  if (!document.hidden) open();
})();
