// The playground: what the reader types goes to the engine, and its answer onto the page.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const pg = window.ntpPlayground;
  const root = document.getElementById("pg-root");
  const at = (name) => document.getElementById(`pg-${name}`);
  const presets = JSON.parse(at("data").textContent);
  const { el } = pg;
  const WAIT = 600; // milliseconds without a key before a text is checked by itself
  let next = null; // the request that waits for the one that runs
  let timer = null;
  const PARTS = { "": "result", "-ask": "prediction", "-certificate": "verdict" }; // with their answers
  let part = ""; // of the page: "" for checking, "-ask" for asking, "-certificate" for a certificate
  let edits; // the lines of next tokens that the reader, or a link, changed; undefined for none
  let automatic = []; // the lines that a check found by itself
  let repairedText = null; // form and text of which a realizable part was asked for

  for (const area of document.querySelectorAll(".pg-root")) area.hidden = false;
  if (location.protocol === "file:") {
    at("file").hidden = false;
    const controls = ["button", "textarea", "input"].map((name) => `.pg-root ${name}`);
    for (const control of document.querySelectorAll(controls.join())) control.disabled = true;
    return;
  }

  const engine = new pg.Engine(root.dataset.worker, (news) => progress(news));

  // What the reader typed

  const state = () => ({
    form: root.querySelector("input[name=pg-form]:checked").value,
    text: at("text").value,
    sentence: at("sentence").value,
    edits,
  });

  function put({ form, text, sentence, edits: changed }) {
    said = false;
    edits = changed;
    at("map").value = changed ?? "";
    root.querySelector(`input[name=pg-form][value=${form}]`).checked = true;
    at("text").value = text;
    at("sentence").value = sentence;
    size();
  }

  function size() {
    const length = at("text").value.length;
    const over = length > pg.LONGEST_TEXT;
    at("size").textContent = `${length} of at most ${pg.LONGEST_TEXT} characters`;
    at("size").classList.toggle("pg-over", over);
    at("text").setAttribute("aria-invalid", String(over));
    return !over;
  }

  // What a text holds, told by itself until the reader says it: samples, characters or words.
  let said = false; // whether the reader, or a link, said it
  function guess() {
    const lines = at("text").value.split("\n").map((line) => line.trim()).filter(Boolean);
    if (said || !lines.length) return;
    const form = lines.every((line) => line.startsWith("{"))
      ? "jsonl"
      : lines.every((line) => !/\s/.test(line)) ? "chars" : "text";
    root.querySelector(`input[name=pg-form][value=${form}]`).checked = true;
  }

  // What the page says

  function say(text) {
    const place = at(`status${part}`);
    if (place.textContent !== text) place.textContent = text;
  }

  function complain(text, ...rest) {
    for (const where of Object.keys(PARTS)) {
      const here = text && where === part;
      at(`error${where}`).replaceChildren(...(here ? [el("bdi", null, text), ...rest] : []));
      at(`error${where}`).hidden = !here;
    }
  }

  function progress({ kind, done, total }) {
    if (!engine.busy) return; // it loads while the reader types
    const bar = at(`progress${part}`);
    if (kind === "ready") {
      bar.hidden = true;
      say("Computing …");
      return;
    }
    bar.hidden = false;
    bar.max = total;
    bar.value = Math.min(done, total);
    const percent = Math.floor((4 * done) / total) * 25; // told in quarters, not to babble
    say(
      kind === "load"
        ? done < total
          ? `Loading Python into your browser: ${percent} % of ${(total / 1e6).toFixed(1)} MB`
          : "Starting Python …"
        : `Training: ${percent} %`
    );
  }

  function working(busy) {
    for (const where of Object.keys(PARTS)) {
      at(`stop${where}`).disabled = !busy || where !== part;
      if (!busy) at(`progress${where}`).hidden = true;
    }
    at(PARTS[part]).setAttribute("aria-busy", String(busy));
  }

  // What the engine does

  const keyOf = ({ form, text, edits }) => JSON.stringify([form, text, edits]);
  const asking = (kind) => kind === "ask" || kind === "turn"; // in the second part of the page
  const partOf = (kind) => (asking(kind) ? "-ask" : kind === "verify" ? "-certificate" : "");

  function submit(kind) {
    const request = { kind, ...state(), steps: Number(at("steps").value) };
    if (kind === "repair") repairedText = keyOf(request);
    if (kind === "check") repairedText = null; // from now on all of the text counts again
    request.part = repairedText === keyOf(request);
    clearTimeout(timer);
    if (!engine.busy) part = partOf(kind);
    complain("");
    if (kind === "verify") return verify();
    if (!size()) {
      clear(kind);
      complain(
        `The text has ${request.text.length} characters, and this page takes ${pg.LONGEST_TEXT}. ` +
          "The package has no such limit; how to use it stands at the end of this page."
      );
      return;
    }
    if (asking(kind) && (!Number.isInteger(request.steps) || request.steps < 1 || request.steps > 5000)) {
      complain("The number of steps must be a whole number from 1 to 5000.");
      at("steps").focus();
      return;
    }
    if (asking(kind) && request.sentence.length > pg.LONGEST_SENTENCE) {
      complain(`The sentence has more than ${pg.LONGEST_SENTENCE} characters.`);
      return;
    }
    if (engine.busy) next = request;
    else perform(request);
  }

  // Ask for the checker's answer to what is in the field of certificates.
  function verify() {
    const certificate = at("certificate").value;
    at("verdict").replaceChildren();
    at("status-certificate").textContent = "";
    if (certificate.length > pg.LONGEST_CERTIFICATE) return complain(pg.tooLong);
    if (!certificate.trim()) return complain("There is no certificate yet: choose a file, or paste its text.");
    const request = { kind: "verify", certificate };
    if (engine.busy) next = request;
    else perform(request);
  }

  async function perform(request) {
    part = partOf(request.kind);
    const seconds = Number(root.dataset[asking(request.kind) ? "askSeconds" : "checkSeconds"]);
    working(true);
    say(engine.ready ? "Computing …" : "Loading Python into your browser …");
    try {
      const answer = await engine.run(request, seconds);
      if (answer.exit === 2) refuse(request, answer.message);
      else if (request.kind === "verify") verified(answer);
      else if (request.kind === "certify") saved(request, answer);
      else if (request.kind === "ask") predicted(request, answer.view);
      else if (request.kind === "turn") turned(request, answer.view);
      else if (request.kind === "repair") repaired(request, answer);
      else checked(request, answer);
    } catch (error) {
      failed(request, error, seconds);
    }
    working(false);
    const waiting = next;
    next = null;
    if (waiting) perform(waiting);
  }

  function saved(request, answer) {
    pg.download(answer.text, "certificate.json");
    say("Saved as certificate.json, in the folder of your downloads.");
    share(request);
  }

  function verified(answer) {
    at("verdict").replaceChildren(...pg.showVerdict(answer, (line) => show("certificate", line)));
    say(answer.exit === 0 ? "The checker accepts this certificate." : "The checker does not accept this certificate.");
  }

  function checked(request, answer) {
    const repair = () => submit("repair");
    const parts = pg.show(answer, select, repair, openMap, () => submit("certify"));
    at("result").replaceChildren(...parts.flat(Infinity).filter(Boolean));
    automatic = answer.view.map.automatic.split("\n");
    if (document.activeElement !== at("map")) at("map").value = answer.view.map.field;
    at("prediction").replaceChildren();
    at("status-ask").textContent = "";
    say(pg.summary(answer.view));
    share(request);
  }

  function repaired(request, answer) {
    at("result").replaceChildren(...pg.showRepair(answer, select, () => submit("certify")).flat(Infinity).filter(Boolean));
    at("prediction").replaceChildren();
    at("status-ask").textContent = "";
    say(pg.repairSummary(answer));
    at("result").querySelector("h3").focus();
    share(request);
  }

  function turned(request, view) {
    at("prediction").replaceChildren(...pg.showTurning(view));
    say(`Trained for ${view.steps} steps${onWhat(request, view)}. Move the slider, or press Play.`);
    share(state());
  }

  const onWhat = (request, view) =>
    request.part ? " on the part that can be kept" : view.covered ? "" : " on all samples, although Assumption 1 fails";

  function predicted(request, view) {
    at("prediction").replaceChildren(...pg.showPrediction(view).filter(Boolean));
    say(`Trained for ${view.steps} steps${onWhat(request, view)}. The next token is “${view.next[0][0]}”.`);
    share(state());
  }

  // An answer to an older question is worse than none.
  function clear(kind) {
    say("");
    if (kind === "certify" || kind === "verify") return;
    if (kind === "check") at("result").replaceChildren();
    at("prediction").replaceChildren();
    at("status-ask").textContent = "";
  }

  function refuse(request, message) {
    clear(request.kind);
    const line = /^Line (\d+):/.exec(message);
    const button =
      line && el("button", { type: "button", class: "pg-small", onclick: () => select(Number(line[1])) }, `show line ${line[1]}`);
    complain(message, ...(button ? [" ", button] : []));
    if (request.kind !== "verify") share(request);
  }

  function failed(request, error, seconds) {
    clear(request.kind);
    if (error.reason === "stopped") say("Stopped.");
    else if (error.reason === "late") {
      complain(
        `Stopped after ${seconds} seconds, which is this page's limit. ` +
          (request.kind === "verify"
            ? "The checker itself has none: python certificate.py certificate.json."
            : "Use fewer or shorter sentences.")
      );
    } else {
      complain(
        `The engine in your browser failed (${error.message.trim().split("\n").pop()}). Press the button ` +
          "again to start it anew, or use the package: how stands at the end of this page."
      );
    }
  }

  // Show the field of next tokens.
  function openMap() {
    at("map-part").open = true;
    at("map").focus();
    at("map").scrollIntoView({ block: "center" });
  }

  // Show a line of a field, counted from 1.
  function show(name, number) {
    const lines = at(name).value.split("\n");
    const start = lines.slice(0, number - 1).reduce((sum, line) => sum + line.length + 1, 0);
    at(name).focus();
    at(name).setSelectionRange(start, start + (lines[number - 1] || "").length);
    at(name).scrollIntoView({ block: "center" });
  }
  const select = (number) => show("text", number);

  // The address

  function share(request) {
    const fragment = request.text.length <= pg.LONGEST_TEXT ? pg.encode({ ...state(), ...request }) : "";
    history.replaceState(null, "", location.pathname + location.search + fragment);
  }

  async function copy() {
    part = engine.busy ? part : "";
    share(state());
    try {
      await navigator.clipboard.writeText(location.href);
      say("The link is in the clipboard. It holds your sentences, and nobody else does.");
    } catch {
      at("link").hidden = false;
      at("link").value = location.href;
      at("link").select();
      say("Copy the link from the field below the buttons.");
    }
  }

  function restore() {
    try {
      const found = pg.decode(location.hash, presets);
      if (!found) return;
      put(found);
      said = !presets.some((one) => one.text === found.text); // a link says it, an example need not
      submit("check");
    } catch (error) {
      if (!engine.busy) part = "";
      complain(error.message);
    }
  }

  // What the reader does

  for (const preset of presets) {
    const press = () => {
      put({ form: preset.form, text: preset.text, sentence: "" });
      submit("check");
    };
    at("presets").append(el("button", { type: "button", onclick: press }, preset.label), " ");
  }
  at("check").addEventListener("click", () => submit("check"));
  at("ask").addEventListener("click", () => submit("ask"));
  at("turn").addEventListener("click", () => submit("turn"));
  at("copy").addEventListener("click", copy);
  at("check-certificate").addEventListener("click", () => submit("verify"));
  at("certificate-file").addEventListener("change", async () => {
    const [file] = at("certificate-file").files;
    if (!file) return;
    at("certificate").value = "";
    at("verdict").replaceChildren();
    try {
      at("certificate").value = await pg.readText(file);
      submit("verify");
    } catch (error) {
      if (!engine.busy) part = "-certificate";
      say("");
      complain(error.message);
    }
    at("certificate-file").value = ""; // so that the same file can be chosen again
  });
  for (const where of Object.keys(PARTS)) {
    at(`stop${where}`).addEventListener("click", () => {
      next = null;
      engine.end("stopped", "");
    });
  }
  at("text").addEventListener("input", () => {
    clearTimeout(timer);
    if (!at("text").value) { // a new text speaks for itself
      said = false;
      edits = undefined;
    }
    guess();
    if (size() && engine.ready) timer = setTimeout(() => submit("check"), WAIT);
  });
  for (const choice of root.querySelectorAll("input[name=pg-form]")) {
    choice.addEventListener("change", () => {
      said = true;
      if (engine.ready && at("text").value.trim()) submit("check");
    });
  }
  at("map").addEventListener("input", () => {
    const known = new Set(automatic);
    const changed = at("map").value.split("\n").filter((line) => line.trim() && !known.has(line));
    edits = changed.length ? changed.join("\n") : undefined;
    clearTimeout(timer);
    if (engine.ready) timer = setTimeout(() => submit("check"), WAIT);
  });
  at("infer").addEventListener("click", () => {
    edits = undefined;
    submit("check");
  });
  at("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit("check");
  });
  for (const name of ["sentence", "steps"]) {
    at(name).addEventListener("keydown", (event) => {
      if (event.key === "Enter") submit("ask");
    });
  }
  window.addEventListener("hashchange", restore);
  if (!at("text").value) {
    put({ form: presets[0].form, text: presets[0].text, sentence: presets[0].sentence || "" });
    say(`This is ${presets[0].label}. Press Check, or type over it.`);
  }
  size();
  restore();

  // Python is loaded before it is asked: when the page is idle, or when the reader turns to a field. Who
  // saves data loads it with the first press.
  const prepare = () => engine.prepare();
  if (!navigator.connection?.saveData) {
    document.addEventListener("focusin", (event) => event.target.closest(".pg-root") && prepare());
    if (window.requestIdleCallback) window.requestIdleCallback(prepare, { timeout: 2000 });
    else setTimeout(prepare, 500);
  }
});
