// Starts Pyodide, imports the engine of the playground, lets it answer once, and writes the memory
// that Python then has. A browser that loads this memory need not start Python, nor import anything.
//
//     node tools/site/snapshot.mjs PYODIDE BUNDLE SNAPSHOT
//
// PYODIDE is the folder of the npm package, BUNDLE the zip file of our modules.
import nodeCrypto from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { pathToFileURL } from "node:url";
import "./told.mjs";

const [pyodide, bundle, snapshot] = process.argv.slice(2);
process.argv[1] = "/snapshot.mjs"; // Python keeps the name of its program, wherever that lies

// Time and chance are the same in each build, and so is the memory, byte for byte.
const DAY = 946684800000; // 2000-01-01
const RealDate = globalThis.Date;
globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length ? given : [DAY]));
  }
  static now() {
    return DAY;
  }
};
performance.now = () => 0;
const noChance = (bytes) => bytes.fill(0);
globalThis.crypto.getRandomValues = noChance;
nodeCrypto.randomFillSync = noChance;
syncBuiltinESMExports();

const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
const python = await loadPyodide({
  _makeSnapshot: true,
  env: { HOME: "/", PYTHONHASHSEED: "0" },
});
python.unpackArchive(new Uint8Array(readFileSync(bundle)), "zip", { extractDir: "/ntp" });
python.runPython(`
import sys
sys.path.insert(0, "/ntp")
sys.dont_write_bytecode = True
import gc, json, traceback
from ntpplayground import engine
engine.warm_up()
gc.collect()
`);
writeFileSync(snapshot, python.makeMemorySnapshot());
process.exit(0); // nothing else is awaited
