// Formulas in, their words out: one JSON list on both sides. Used by tools/site/speech.py.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const engine = require(process.argv[2]);

async function main() {
  await engine.setupEngine({
    locale: "en",
    domain: "mathspeak", // says where each part ends, so that no formula sounds like another
    style: "default",
    modality: "speech",
    json: path.join(path.dirname(process.argv[2]), "mathmaps"),
  });
  await engine.engineReady();
  const formulas = JSON.parse(fs.readFileSync(0, "utf-8"));
  process.stdout.write(JSON.stringify(formulas.map((one) => engine.toSpeech(one))));
}

main().catch((error) => {
  process.stderr.write(String(error.message || error) + "\n");
  process.exitCode = 1;
});
