// Formulas in, MathML out: a JSON object per line on both sides. Used by tools/site/maths.py.
"use strict";
const readline = require("node:readline");
const temml = require(process.argv[2]);
const macros = JSON.parse(process.argv[3]);

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { tex, display } = JSON.parse(line);
  let answer;
  try {
    const options = { displayMode: display, throwOnError: true, strict: true, trust: false };
    options.macros = { ...macros }; // a formula cannot define anything for the next one
    options.wrap = display ? "none" : "tex"; // a formula in a line may go on in the next one
    answer = { mathml: temml.renderToString(tex, options) };
  } catch (error) {
    answer = { error: String(error.message || error).split("\n")[0] };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
});
