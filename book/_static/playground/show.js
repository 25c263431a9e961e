// The answer to a check as parts of the page.
"use strict";
window.ntpPlayground = window.ntpPlayground || {};

(function (pg) {
  const { el, token, tokens, count } = pg;
  const LONGEST = 200000; // characters of JSON that a page bears
  const MARKS = { true: "✔", false: "✘", null: "○" };
  const WORDS = { true: "holds", false: "fails", null: "cannot be decided" };
  const KINDS = { true: "proved", false: "refuted", null: "open" };

  const badge = (kind, text) => el("span", { class: `pg-badge pg-${kind}` }, text);
  const more = (number, what) => (number > 0 ? el("p", null, `… and ${number} more ${what}; the JSON below has them all.`) : null);

  // One sentence for the line that screen readers announce.
  pg.summary = (view) => {
    const parts = view.assumptions.map((one) => `Assumption ${one.number} ${WORDS[one.holds]}.`);
    const { orders, wrong } = view;
    if (orders && orders.length && orders[0].column) {
      parts.push(
        wrong
          ? `The closed form of Proposition 2 fails under ${count(wrong, "query", "queries")}.`
          : "The closed form of Proposition 2 is right under every query."
      );
    }
    return (
      `Checked ${count(view.tokens, "token", "tokens")} and ` +
      `${count(view.samples, "sample", "samples")}. ${parts.join(" ")}`
    );
  };

  // Everything on the page; `select` shows a line of the reader's text, `repair` asks for a part
  // that is realizable, `edit` opens the field of next tokens, `save` saves the certificate. In a part
  // of the text no line has the number that it has there.
  pg.show = (answer, select, repair, edit, save) => {
    const { view } = answer;
    return [
      view.table && el("p", { class: "pg-note", id: "pg-table-note" }, el("bdi", null, view.table)),
      view.alike && el("p", { class: "pg-note", id: "pg-alike-note" }, el("bdi", null, view.alike)),
      badges(view),
      repair && realize(view, repair),
      saving(save),
      wrongOrders(view),
      sections(view, select),
      nextTokens(view, edit),
      lines(view, select ? "line" : "kept sample"),
      orders(view),
      matrices(view),
      claims(view),
      json(answer.json),
    ];
  };

  function realize(view, repair) {
    if (view.assumptions[0].holds === true) return null;
    return el(
      "div",
      { class: "pg-buttons" },
      el("button", { type: "button", id: "pg-repair", class: "pg-main", onclick: repair }, "Make it realizable"),
      el("p", { class: "pg-hint" }, "Keeps samples that fit one injective next-token map, drops the others, and judges the claims on what is kept. Training works without this, too.")
    );
  }

  function saving(save) {
    return el(
      "div",
      { class: "pg-buttons" },
      el("button", { type: "button", id: "pg-save", onclick: save }, "Save certificate"),
      el(
        "p",
        { class: "pg-hint" },
        "A file with these samples, the exact scores or the samples that contradict each other, and a proof. ",
        el("a", { href: "#check-a-certificate" }, "Check a certificate"),
        " below accepts it, and so does a program of 300 lines that runs without this page."
      )
    );
  }

  const share = (part, whole) => `${part} of ${whole} (${((100 * part) / whole).toFixed(1)}%)`;

  pg.repairSummary = ({ repair, view }) =>
    `Kept ${share(repair.kept, repair.weight)}. On the part that was kept: ${pg.summary(view)}`;

  // What was dropped, and the answer for the rest.
  pg.showRepair = ({ repair, view, json }, select, save) => {
    const best = repair.most === repair.kept;
    return [
      el("h3", { tabindex: "-1" }, repair.dropped.length ? "Realizable after some samples were dropped" : "Realizable with a collocation, nothing dropped"),
      el(
        "p",
        null,
        `A greedy search keeps ${share(repair.kept, repair.weight)} samples, each counted as often as it occurs. `,
        best ? "No realizable part is larger." : `No realizable part has more than ${repair.most}; one between may exist.`
      ),
      repair.dropped.length > 0 &&
        el(
          "section",
          { class: "pg-part" },
          el("h3", null, "What was dropped, and why"),
          el("ul", { class: "pg-dropped" }, repair.dropped.map((one) => dropped(one, select))),
          more(repair.more, "samples")
        ),
      nextTokens(view, null),
      el("h3", null, "The part that was kept"),
      pg.show({ view: { ...view, map: null }, json }, null, null, null, save),
    ];
  };

  function dropped(one, select) {
    const number = one.line;
    return el(
      "li",
      null,
      one.cut ? "… " : "",
      one.words.flatMap((word) => [token(word), " "]),
      "→ ",
      token(one.next),
      one.count > 1 ? ` (${one.count} times)` : "",
      ": ",
      el("bdi", null, one.reason),
      " ",
      el("button", { type: "button", class: "pg-small", onclick: () => select(number) }, `show line ${number}`)
    );
  }

  function badges(view) {
    const marks = view.assumptions.map((one) => [
      badge(KINDS[one.holds], `${MARKS[one.holds]} Assumption ${one.number} (${one.words}) ${WORDS[one.holds]}`),
      " ",
    ]);
    const facts =
      `${count(view.tokens, "token", "tokens")}, ${count(view.samples, "distinct sample", "distinct samples")}, ` +
      `longest sentence ${view.longest}, ` +
      (view.closed ? "prefix-closed: yes" : "prefix-closed: no");
    return el("div", { class: "pg-badges" }, marks, el("p", null, facts));
  }

  // Where the closed form of Proposition 2 fails comes first: it is what most readers are here for.
  function wrongOrders(view) {
    if (!view.orders || !view.wrong) return null;
    const wrong = view.orders.filter((one) => one.column && !one.column.agree);
    const first = wrong[0];
    const others = view.wrong - 1;
    return el(
      "section",
      { class: "pg-part" },
      el("h3", null, "Where the closed form fails: under the query ", token(first.query)),
      paragraphs(first.column.words),
      figure(first),
      scores(first),
      others > 0 && el("p", null, `It fails under ${count(others, "other query", "other queries")}, too; see the orders below.`)
    );
  }

  // The first sentence of each paragraph is its heading.
  function paragraphs(words) {
    return words.map((text) => {
      const at = text.indexOf(". ") + 1;
      return el("p", null, el("strong", null, text.slice(0, at)), text.slice(at));
    });
  }

  function scores(order) {
    const { column } = order;
    const rows = column.scores.map(([name, closed, exact]) => [token(name), closed, exact]);
    rows.push(["squared norm", column.closedNorm, column.exactNorm]);
    const caption = ["Scores under the query ", token(order.query)];
    const head = ["token", "closed form", "exact"];
    return pg.wide("Scores of the closed form and exact scores", pg.table(caption, head, rows, true));
  }

  // What attention learns, and how far the text is from the assumptions, as rows below rows.
  function sections(view, select) {
    return view.sections.map((one) =>
      el("section", { class: "pg-part" }, el("h3", null, el("bdi", null, one.text)), rows(one.below, select))
    );
  }

  function rows(some, select) {
    const places = (one) => !select ? [] : one.lines.map((line) => [
      " ",
      el("button", { type: "button", class: "pg-small", onclick: () => select(line) }, `show line ${line}`),
    ]);
    if (!some.length) return null;
    return el("ul", null, some.map((one) => el("li", null, el("bdi", null, one.text), places(one), rows(one.below, select))));
  }

  function lines(view, name) {
    const marked = view.lines.filter((one) => one.marks.length);
    const list = (some) => el("ol", { class: "pg-lines" }, some.map((line) => sentence(line, name)));
    return [
      marked.length > 0 &&
        el(
          "section",
          { class: "pg-part" },
          el("h3", null, "The sentences that break an assumption"),
          el("p", null, "The sentence is underlined, and the next token that breaks the rule is in a box."),
          list(marked)
        ),
      el(
        "details",
        { class: "pg-part" },
        el("summary", null, name === "line" ? "All lines as they were read" : "All samples that were kept"),
        list(view.lines),
        more(view.moreLines, "lines")
      ),
    ];
  }

  function sentence(line, name) {
    const ends = new Map(line.marks.map((mark) => [mark.length, mark.rules]));
    const longest = Math.max(0, ...ends.keys());
    const words = line.words.flatMap((word, at) => {
      const kind = ends.has(at) ? "pg-next" : at < longest ? "pg-inside" : "";
      return [at ? " " : "", kind ? el("mark", { class: kind }, token(word)) : token(word)];
    });
    const notes = line.marks.map((mark) => {
      const before = line.words.slice(0, mark.length);
      const next = line.words[mark.length];
      const what = mark.rules.map((rule) => rule.replaceAll("-", " ")).join(", ");
      if (next === undefined) return el("li", null, `✘ further on: ${what}`);
      return el("li", null, "✘ ", before.flatMap((word) => [token(word), " "]), "→ ", token(next), `: ${what}`);
    });
    return el(
      "li",
      null,
      el("span", { class: "pg-number" }, `${name} ${line.number}${line.count > 1 ? ` (${line.count} times)` : ""}: `),
      words,
      line.more > 0 ? ` … and ${line.more} more` : "",
      notes.length > 0 && el("ul", null, notes)
    );
  }

  const ORIGINS = {
    read: "read off your sentences",
    inferred: "inferred",
    given: "yours",
    none: "without a next token",
  };

  // n, and where each entry of it comes from.
  function nextTokens(view, edit) {
    if (!view.map) return null; // shown before
    const { entries, counts, unknown } = view.map;
    const pairs = entries.map(([name, next, origin, number, of]) =>
      el(
        "li",
        null,
        token(name),
        next === null ? " ○ has no next token" : [" → ", token(next)],
        origin === "inferred" ? el("span", { class: "pg-origin" }, of ? ` (inferred: ${number} of ${of})` : " (inferred)") : "",
        origin === "given" ? el("span", { class: "pg-origin" }, " (yours)") : ""
      )
    );
    const told = Object.entries(counts).filter(([, number]) => number > 0);
    return el(
      "section",
      { class: "pg-part", id: "pg-next-tokens" },
      el("h3", null, "Collocation: the next token of each token"),
      el(
        "p",
        null,
        "The theory needs a map n from each token to its next token, and reads it off the sentences of one token. Here: ",
        told.map(([origin, number]) => `${number} ${ORIGINS[origin]}`).join(", "),
        "."
      ),
      counts.inferred > 0 &&
        el(
          "p",
          null,
          edit
            ? "An inferred entry is the token that follows most often anywhere in your text (how often is in parentheses). It is a guess, and no claim is judged by it. "
            : "An inferred entry was chosen so that as many samples as possible fit. Tokens without a next token are optimal nowhere in the kept samples. "
        ),
      unknown.length > 0 && el("p", null, "Ignored, because your sentences do not have them: ", tokens(unknown), "."),
      el("ul", { class: "pg-pairs" }, pairs),
      more(view.map.more, "tokens"),
      edit && el("p", null, el("button", { type: "button", class: "pg-small", id: "pg-edit-map", onclick: edit }, "Edit the next tokens"))
    );
  }

  function orders(view) {
    const part = (...children) =>
      el("section", { class: "pg-part" }, el("h3", null, "Orders and roles, query by query"), children);
    if (!view.orders.length) return part(el("p", null, "No sentence compares two tokens."));
    return part(
      el(
        "p",
        null,
        "A token stands above another if a sentence that ends in the query prefers the upper token. Round boxes are ",
        "optimal, square ones non-optimal; dashed ones are confused, that is, both."
      ),
      view.inferred && el("p", null, "These orders go by inferred next tokens. They describe what is trained below; no claim is judged by them."),
      view.inferred
        ? el(
            "details",
            { id: "pg-inferred-orders" },
            el("summary", null, `Show ${count(view.orders.length, "order", "orders")}, with exact max-margin scores`),
            view.orders.map((one) => card(one))
          )
        : view.orders.map((one) => card(one)),
      more(view.moreOrders, "queries")
    );
  }

  function figure(one) {
    if (!one.drawing) return el("p", null, "Too large to draw. ", one.words);
    return pg.wide("Drawing of the order", pg.draw(one.drawing, one.words));
  }

  function card(one) {
    const roles = Object.entries(one.roles).filter(([, some]) => some.length);
    return el(
      "div",
      { class: "pg-card" },
      el("h4", null, "Under the query ", token(one.query)),
      figure(one),
      el("ul", { class: "pg-roles" }, roles.map(([name, some]) => el("li", null, `${name}: `, tokens(some)))),
      one.column ? column(one) : anyScores(one)
    );
  }

  // Where the closed form says nothing, the exact scores still exist.
  function anyScores(one) {
    if (!one.scores) return el("p", null, "○ Too many pairs to solve on this page.");
    return el(
      "div",
      null,
      one.circles.length > 0 &&
        el("p", null, "Tokens that lie above each other in a circle share a score: ", one.circles.map((some, at) => [at ? "; " : "", tokens(some)]), "."),
      pg.wide(
        "Exact max-margin scores",
        pg.table(
          ["Exact max-margin scores under the query ", token(one.query)],
          ["token", "score"],
          one.scores.map(([name, score]) => [token(name), score]),
          true
        )
      ),
      more(one.moreScores, "tokens")
    );
  }

  function column(order) {
    const found = order.column;
    const blocks = found.blocks.map((block) =>
      el(
        "li",
        null,
        tokens(block.optimal),
        ` ${block.upper}; `,
        tokens(block.nonoptimal),
        ` ${block.lower} (k = ${block.size[0]}, m = ${block.size[1]})`
      )
    );
    const verdict = found.agree
      ? badge("proved", "✔ The closed form is right here")
      : badge("refuted", "✘ The closed form fails here");
    const rows = found.pairs.map((pair) => [
      el("span", null, token(pair.upper), " > ", token(pair.lower)),
      pair.margin,
      pair.weight,
    ]);
    const proof = found.certified
      ? "Every margin is at least 1, no weight is negative, only pairs with margin 1 carry weight, and each score " +
        "is the sum of the weights of its pairs. These are the conditions of Karush, Kuhn and Tucker: they prove " +
        "that no other scores have so small a norm. They were verified just now, in fractions."
      : "The certificate does not hold, which is an error of ours; please report it.";
    return el(
      "div",
      null,
      el("p", null, verdict, ` squared norm ${found.exactNorm}, by the closed form ${found.closedNorm}`),
      el("p", null, "Blocks of the exact column:"),
      el("ul", null, blocks),
      el(
        "details",
        null,
        el("summary", null, "Certificate, and the closed form in words"),
        paragraphs(found.words),
        el("p", null, proof),
        pg.wide("Certificate", pg.table("Margins and weights", ["pair", "margin", "weight"], rows, true)),
        more(found.morePairs, "pairs")
      )
    );
  }

  function matrix(name, found, words) {
    if (!found) return null;
    const rows = found.rows.map(([head, ...cells]) => [token(head), ...cells]);
    return [
      el("p", null, words),
      pg.wide(name, pg.table(name, ["token", ...found.columns.map(token)], rows, true)),
    ];
  }

  function matrices(view) {
    if (!view.W_kq && !view.W_ov && view.normSquared === null) return null;
    const norm = view.normSquared === null ? "" : ` The squared norm of W_kq* is ${view.normSquared}.`;
    return el(
      "section",
      { class: "pg-part" },
      el("h3", null, "The exact max-margin matrices"),
      view.normSquared !== null && !view.W_kq && el("p", null, `W_kq* is too large for a table.${norm}`),
      matrix(
        "W_kq*, the attention",
        view.W_kq,
        `A column for each query; queries and tokens that no sentence compares have 0.${norm}`
      ),
      matrix(
        "W_ov*, the feed-forward layer",
        view.W_ov,
        `A column for each token x: its next token has 1 − 1/|V|, all others −1/|V|, and |V| = ${view.tokens}.`
      )
    );
  }

  function claims(view) {
    const names = JSON.parse(document.getElementById("pg-names").textContent);
    const items = view.claims.map((one) =>
      el(
        "li",
        null,
        badge(one.verdict, `${one.mark} ${one.verdict}`),
        " ",
        one.labels.map((label, at) => [at ? ", " : "", el("a", { href: `claims.html#${label}` }, names[label] || label)]),
        ": ",
        el("bdi", null, one.evidence)
      )
    );
    return el(
      "section",
      { class: "pg-part" },
      el("h3", null, "Claims of the paper, judged on these data"),
      el("ul", null, items)
    );
  }

  function json(text) {
    const place = el("pre", { class: "pg-json", tabindex: "0" });
    const details = el(
      "details",
      { class: "pg-part" },
      el("summary", null, "All of it, as data (JSON)"),
      place
    );
    details.addEventListener("toggle", () => {
      if (place.textContent) return;
      const cut = text.length > LONGEST;
      place.textContent = cut ? `${text.slice(0, LONGEST)} … cut here` : text;
    });
    return details;
  }

  // What was trained, and what theory says of it.
  pg.notes = (view) => el("div", { class: "pg-note" }, view.notes.map((text) => el("p", null, text)));

  // The answer of the trained model.
  pg.showPrediction = (view) => {
    const share = (value) => (value >= 0.0001 ? value.toFixed(6) : value.toExponential(2));
    const seen = view.sentence.map((word, at) => [token(word), share(view.attention[at]), view.roles[at]]);
    const next = view.next.map(([word, probability]) => [token(word), share(probability)]);
    return [
      pg.notes(view),
      el("p", null, "The next token is ", el("strong", null, token(view.next[0][0])), `, with probability ${share(view.next[0][1])}.`),
      pg.wide("Attention", pg.table("What the model looks at", ["token", "attention", "role"], seen, true)),
      pg.wide("Next token", pg.table("What it expects", ["next token", "probability"], next, true)),
      view.more > 0 && el("p", null, `… and ${view.more} more tokens with smaller probabilities.`),
    ];
  };
})(window.ntpPlayground);
