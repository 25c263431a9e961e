// The engine: Pyodide with ntpcore in a thread of its own, so that the page never freezes. With
// `cells` in its address it runs the cells of a page of the book, and loads what these need.
import { loadPyodide } from "./engine/pyodide.mjs";

const BASE = new URL("./engine/", import.meta.url);
const ASKED = new URL(import.meta.url).searchParams;
const VERSION = `?v=${ASKED.get("v")}`; // of our own code, so that no old one is used
const CELLS = ASKED.has("cells");
const BUNDLE = "ntpcore.zip";
const SNAPSHOT = "ntpcore.snapshot"; // the memory of a Python that has imported the engine
const LIBRARY = "python_stdlib.zip";
const LIBRARY_PATH = "/lib/python314.zip"; // where Python looks for it
const EMPTY = "empty.zip"; // stands in for the library until the first answer is possible
const PACKED = ["pyodide.asm.wasm", SNAPSHOT]; // lie there compressed, as pyodide.asm.wasm.packed
const FILES = { text: "sentences.txt", chars: "sentences.txt", jsonl: "samples.jsonl" };
const fetchPlainly = self.fetch.bind(self);
let total = 0;
let done = 0;

// Every file that Pyodide fetches is counted on its way, and unpacked if need be.
self.fetch = async (input, init) => {
  const address = new URL(input.url ?? input, self.location.href).href;
  const { pathname, search } = new URL(address);
  const packed = PACKED.some((name) => pathname.endsWith(name));
  const real = packed ? `${address.slice(0, address.length - search.length)}.packed${search}` : address;
  const response = await fetchPlainly(real, init);
  if (!response.ok || !response.body) return response;
  let body = response.body.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        done += chunk.byteLength;
        self.postMessage({ kind: "load", done, total });
        controller.enqueue(chunk);
      },
    })
  );
  if (packed) body = body.pipeThrough(new DecompressionStream("gzip"));
  const type = packed ? "application/wasm" : response.headers.get("Content-Type") ?? "";
  return new Response(body, { status: response.status, headers: { "Content-Type": type } });
};

async function load(name) {
  const response = await self.fetch(new URL(name, BASE).href);
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response;
}

async function list(name) {
  const response = await fetchPlainly(new URL(name, BASE).href, { cache: "no-cache" });
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response.json();
}

// Python as a snapshot holds it: started, with the engine imported. The library comes afterwards; only
// what no answer needs is still in it.
async function restore() {
  const memory = load(`${SNAPSHOT}${VERSION}`).then((response) => response.arrayBuffer());
  const python = await loadPyodide({
    indexURL: BASE.href,
    stdLibURL: new URL(EMPTY, BASE).href,
    _loadSnapshot: memory.then((bytes) => new Uint8Array(bytes)),
  });
  python.runPython("from ntpplayground import engine");
  fetchPlainly(new URL(LIBRARY, BASE).href)
    .then((response) => response.arrayBuffer())
    .then((bytes) => python.FS.writeFile(LIBRARY_PATH, new Uint8Array(bytes)))
    .catch(() => {}); // answers do without
  return python;
}

// Python started anew, with modules out of an archive.
async function startAnew(bundle) {
  const packed = load(bundle).then((response) => response.arrayBuffer());
  const python = await loadPyodide({ indexURL: BASE.href });
  python.unpackArchive(await packed, CELLS ? "xztar" : "zip", { extractDir: "/ntp" });
  python.runPython("import sys; sys.path.insert(0, '/ntp'); sys.dont_write_bytecode = True");
  return python;
}

// What of these files our fetch counts.
function count(sizes, names) {
  total = names.reduce((sum, name) => sum + (sizes[name] ?? 0), 0);
  done = 0;
}

async function start() {
  const sizes = await list(`sizes.json${VERSION}`);
  const core = [`${PACKED[0]}.packed`, "pyodide-lock.json"];
  let python;
  if (CELLS) {
    const { name, size, version } = await list("../cells/sizes.json");
    count({ ...sizes, [name]: size }, [...core, LIBRARY, name]);
    python = await startAnew(`../cells/${name}?v=${version}`);
    python.FS.chdir("/ntp");
    python.runPython("from ntpplayground import cells, stand_ins; stand_ins.stand_in()");
  } else {
    count(sizes, [...core, EMPTY, `${SNAPSHOT}.packed`]);
    try {
      python = await restore();
    } catch (error) {
      console.info(`Python is started anew: ${error.message || error}`);
      count(sizes, [...core, LIBRARY, BUNDLE]);
      python = await startAnew(`${BUNDLE}${VERSION}`);
      python.runPython("import json; from ntpplayground import engine");
    }
  }
  self.postMessage({ kind: "ready" });
  return python;
}

const engine = start();
engine.catch((error) => self.postMessage({ kind: "failed", message: String(error.message || error) }));
let trained = { key: null, model: undefined };

// Calls a function of ntpplayground.engine and gives back its answer as JSON.
function call(python, name, path, options) {
  const functions = python.pyimport("ntpplayground.engine");
  const json = python.pyimport("json");
  const answer = functions[name].callKwargs(path, options);
  const text = json.dumps.callKwargs(answer, { ensure_ascii: false });
  answer.destroy();
  return text;
}

function ask(python, request, path, chars) {
  const key = JSON.stringify([request.form, request.text, request.steps, request.part, request.edits]);
  const { sentence, steps, part } = request;
  const options = { sentence, chars, steps, part, edits: request.edits };
  if (trained.key === key) return call(python, "ask", path, { ...options, known: trained.model });
  trained.model?.destroy();
  trained = { key: null, model: undefined };
  options.progress = (step, steps) => {
    if (step % 20 === 0) self.postMessage({ kind: "train", done: step, total: steps });
  };
  options.trained = (model) => {
    trained = { key, model: model.copy() };
  };
  return call(python, "ask", path, options);
}

// Attention over the steps of a training of its own.
function turn(python, request, path, chars) {
  const progress = (step, steps) => {
    if (step % 20 === 0) self.postMessage({ kind: "train", done: step, total: steps });
  };
  const { sentence, steps, part, edits } = request;
  return call(python, "turn", path, { sentence, chars, steps, part, progress, edits });
}

function answer(python, request, path, chars) {
  if (request.kind === "ask") return ask(python, request, path, chars);
  if (request.kind === "turn") return turn(python, request, path, chars);
  const options = { chars, edits: request.edits };
  if (request.kind === "certify") return call(python, "certify", path, { ...options, part: request.part });
  return call(python, request.kind === "repair" ? "repair" : "check", path, options);
}

self.onmessage = async ({ data: request }) => {
  try {
    const python = await engine;
    if (request.kind === "cells") {
      const cells = python.pyimport("ntpplayground.cells");
      self.postMessage({ kind: "answer", number: request.number, text: cells.answer(request.text) });
      return;
    }
    if (request.kind === "verify") {
      python.FS.writeFile("certificate.json", new TextEncoder().encode(request.certificate));
      const text = call(python, "verify", "certificate.json", {});
      self.postMessage({ kind: "answer", number: request.number, text });
      return;
    }
    const path = FILES[request.form];
    const chars = request.form === "chars";
    python.FS.writeFile(path, new TextEncoder().encode(request.text));
    const text = answer(python, request, path, chars);
    self.postMessage({ kind: "answer", number: request.number, text });
  } catch (error) {
    self.postMessage({ kind: "failed", message: String(error.message || error) });
  }
};
