// Cells that the reader changes and runs in the page; a reset brings the printed page back.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const bar = document.querySelector(".ntp-run");
  if (!bar) return;
  const status = bar.querySelector(".ntp-run-status");
  let progress = bar.querySelector("progress");
  const fresh = progress.cloneNode();
  const buttons = Object.fromEntries(
    [...bar.querySelectorAll("button")].map((button) => [button.dataset.run, button])
  );
  const HOUR = 3600; // seconds: whoever does not want to wait presses Stop
  let engine = null;
  let data = null; // the cells of the page, and how its claims are called
  let live = []; // the cells that can be run, in their order
  let running = null;
  let stopped = false;

  const el = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const say = (text) => {
    if (status.textContent !== text) status.textContent = text;
  };

  function cannot() {
    if (location.protocol === "file:") {
      return (
        "This page was opened as a file, and browsers do not let files start Python. In the folder " +
        "of the project run make serve; on any web server the cells run as well."
      );
    }
    const needed = ["Worker", "WebAssembly", "DecompressionStream", "TransformStream"];
    const missing = needed.filter((name) => !(name in window));
    return missing.length ? `This browser cannot run Python: it lacks ${missing.join(" and ")}.` : "";
  }

  const reason = cannot();
  if (reason) {
    buttons.start.disabled = true;
    say(reason);
    return;
  }
  buttons.start.disabled = false;

  const script = (address) =>
    new Promise((resolve, reject) => {
      const one = el("script", { src: address });
      one.onload = resolve;
      one.onerror = () => reject(new Error(`${address} could not be loaded`));
      document.head.append(one);
    });

  // What is loaded on first use: the cells, what talks to the worker, and what sets formulas.
  async function load() {
    const { folder, page } = bar.dataset;
    if (!window.ntpPlayground) await script(`${folder}engine.js`);
    if (!window.temml) await script(`${folder}cells/temml.min.js`);
    const response = await fetch(`${folder}cells/${page}.json`, { cache: "no-cache" });
    if (!response.ok) throw new Error(`${page}.json: ${response.status}`);
    data = await response.json();
    engine = new window.ntpPlayground.Engine(bar.dataset.worker, heard);
  }

  function heard({ kind, done, total }) {
    if (kind !== "load") {
      progress.hidden = true;
      say(running ? `Running cell ${running.number} of ${live.length} …` : "");
      return;
    }
    progress.max = total;
    progress.value = Math.min(done, total);
    progress.hidden = false;
    const percent = Math.floor((4 * done) / total) * 25; // told in quarters, not to babble
    say(
      done < total
        ? `Loading Python into your browser, the first time only: ${percent} % of ${(total / 1e6).toFixed(1)} MB`
        : "Starting Python …"
    );
  }

  // Cells that can be changed

  function open(place, number, count) {
    const cell = document.querySelector(`.ntp-cell-${place}`);
    const printed = cell.querySelector(".cell_input > *");
    const name = `Cell ${number} of ${count}`;
    const area = el("textarea", {
      class: "ntp-run-code", wrap: "off", spellcheck: "false", autocapitalize: "off",
      autocomplete: "off", "aria-label": `${name}: code. Control and Enter run it.`,
    });
    area.value = data.cells[place].code;
    const button = el("button", { type: "button" }, "Run");
    button.setAttribute("aria-label", `Run ${name.toLowerCase()}`);
    const note = el("span", { class: "ntp-run-note" }, name);
    const editor = el(
      "div", { class: "ntp-run-cell" }, area, el("div", { class: "ntp-run-row" }, button, note)
    );
    const one = { place, number, name, cell, printed, editor, area, button, note, output: null, shown: null };
    const size = () => area.setAttribute("rows", String(Math.max(1, area.value.split("\n").length)));
    area.addEventListener("input", () => {
      size();
      note.textContent = `${name}, changed`;
    });
    area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.shiftKey)) {
        event.preventDefault();
        if (!running) runAll([one]);
      }
    });
    button.addEventListener("click", () => (running === one ? stop() : running || runAll([one])));
    size();
    printed.replaceWith(editor);
    return one;
  }

  function close(one) {
    one.editor.replaceWith(one.printed);
    if (one.shown && one.output) one.shown.replaceWith(one.output);
    else if (one.shown) one.shown.remove();
  }

  // Results

  function drawn({ kind, text }) {
    if (kind === "html") {
      const place = el("div", { class: "output text_html" });
      place.innerHTML = text;
      // Formulas of a card come in plain letters with their TeX, and are set as the book sets them.
      for (const one of place.querySelectorAll(".ntp-tex")) {
        one.classList.add("math");
        window.temml.render(one.dataset.tex, one, { throwOnError: false });
      }
      return place;
    }
    if (kind === "latex") {
      const place = el("div", { class: "math notranslate nohighlight" });
      const tex = text.trim().replace(/^\$+/, "").replace(/\$+$/, "").replace(/^\\displaystyle/, "");
      window.temml.render(tex, place, { displayMode: true, throwOnError: false });
      return place;
    }
    const wide = { tabindex: "0", role: "region", "aria-label": kind === "error" ? "Error" : "Result" };
    const pre = el("pre", wide, text.replace(/\n$/, ""));
    const look = kind === "error" ? "output ntp-run-error" : "output text_plain notranslate";
    return el("div", { class: look }, el("div", { class: "highlight" }, pre));
  }

  function show(one, outputs) {
    const place = el("div", { class: "cell_output docutils container" }, ...outputs.map(drawn));
    const old = one.shown || one.cell.querySelector(".cell_output");
    if (!one.shown) one.output = old;
    if (old) old.replaceWith(place);
    else one.cell.append(place);
    one.shown = place;
  }

  // What a cell that the reader does not see said, stands where the reader asked.
  function showAll(asked, answer) {
    let failed = null;
    const above = [];
    for (const [place, outputs] of Object.entries(answer)) {
      const one = live.find((other) => other.place === Number(place));
      const error = outputs.find((output) => output.kind === "error");
      if (error) failed = { one: one || asked, text: error.text.split("\n").pop() };
      if (!one) above.push(...outputs.filter((output) => output.kind === "error"));
      else show(one, outputs);
    }
    if (above.length) show(asked, above);
    return failed;
  }

  // Running

  function working(one) {
    running = one;
    buttons.stop.disabled = !one;
    buttons.all.disabled = Boolean(one);
    for (const other of live) {
      other.button.textContent = other === one ? "Stop" : "Run";
      other.button.setAttribute("aria-label", `${other === one ? "Stop" : "Run"} ${other.name.toLowerCase()}`);
      other.button.disabled = Boolean(one) && other !== one;
    }
  }

  async function runAll(list) {
    stopped = false;
    let failed = null;
    const began = performance.now();
    for (const one of list) {
      working(one);
      if (engine.ready) say(`Running cell ${one.number} of ${live.length} …`);
      try {
        failed = await runOne(one);
      } catch (error) {
        failed = { one, text: error.reason === "stopped" ? "stopped" : `the engine failed: ${error.message}` };
      }
      if (!live.length) return; // reset while it ran
      if (failed || stopped) break;
    }
    const ended = running;
    working(null);
    progress.hidden = true;
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    if (stopped) say(`Stopped. The next run starts Python anew.`);
    else if (failed) say(`${failed.one.name}: ${failed.text}`);
    else say(list.length > 1 ? `All ${list.length} cells have run, in ${seconds} s.` : `${ended.name} has run, in ${seconds} s.`);
  }

  async function runOne(one) {
    const texts = data.cells.map((cell) => cell.code);
    for (const other of live) texts[other.place] = other.area.value;
    const asked = { cells: texts, at: one.place, claims: data.claims };
    const answer = await engine.run({ kind: "cells", text: JSON.stringify(asked) }, HOUR);
    if (!live.length) return null;
    one.note.textContent = `${one.name}, run in this page`;
    return showAll(one, answer);
  }

  function stop() {
    stopped = true;
    engine.end("stopped", "");
  }

  buttons.start.addEventListener("click", async () => {
    buttons.start.disabled = true;
    say("Loading …");
    try {
      if (!data) await load();
    } catch (error) {
      buttons.start.disabled = false;
      say(`The cells could not be loaded (${error.message}).`);
      return;
    }
    const places = data.cells.flatMap((cell, place) => (cell.run ? [place] : []));
    live = places.map((place, at) => open(place, at + 1, places.length));
    bar.classList.add("ntp-running");
    buttons.start.disabled = false;
    working(null);
    say(`${live.length} cells can be changed and run. Control and Enter run the cell that you are in.`);
    buttons.all.focus();
  });
  buttons.all.addEventListener("click", () => runAll(live));
  buttons.stop.addEventListener("click", stop);
  buttons.reset.addEventListener("click", () => {
    const cells = live;
    live = [];
    if (running) stop();
    engine.end("stopped", "");
    for (const one of cells) close(one);
    running = null;
    const used = progress;
    used.replaceWith((progress = fresh.cloneNode()));
    bar.classList.remove("ntp-running");
    say("The page is as it was printed.");
    buttons.start.focus();
  });
});
