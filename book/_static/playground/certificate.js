// Certificates: the file that a reader saves, and what the checker says of one.
"use strict";
window.ntpPlayground = window.ntpPlayground || {};

(function (pg) {
  const { el } = pg;
  pg.LONGEST_CERTIFICATE = 2000000; // characters that the field bears

  // Hand a text to the reader as a file.
  pg.download = (text, name) => {
    const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    el("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  };

  // The text of a file; rejected with an Error whose message is a sentence.
  pg.readText = async (file) => {
    if (file.size > 4 * pg.LONGEST_CERTIFICATE) throw new Error(pg.tooLong);
    const bytes = await file.arrayBuffer();
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      throw new Error("This file is not text in UTF-8, so it is no certificate.");
    }
  };
  pg.tooLong =
    `A certificate on this page has at most ${pg.LONGEST_CERTIFICATE} characters. The checker itself has no ` +
    "such limit, and runs without this page: python certificate.py certificate.json.";

  // What the checker said; `select` shows a line of the certificate.
  pg.showVerdict = (answer, select) => {
    if (answer.exit === 0) {
      return [
        el("p", null, el("span", { class: "pg-badge pg-proved" }, "✔ Accepted")),
        el("p", null, "For the samples in this file, acceptance implies:"),
        el("ul", null, answer.implied.map((sentence) => el("li", null, el("bdi", null, sentence)))),
        el("p", null, el("a", { href: "#what-acceptance-implies" }, "On which theorem this rests"), "."),
      ];
    }
    const { line, refusal } = answer;
    return [
      el("p", null, el("span", { class: "pg-badge pg-refuted" }, "✘ Not accepted")),
      el(
        "p",
        null,
        `Line ${line}: `,
        el("bdi", null, refusal),
        " ",
        el("button", { type: "button", class: "pg-small", onclick: () => select(line) }, `show line ${line}`)
      ),
      el("p", null, "This is the first place that is wrong. Nothing in the file is proved by it."),
    ];
  };
})(window.ntpPlayground);
