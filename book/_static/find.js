// On the page of the search: statements and terms, found by number and by words, above the pages.
// The list is `window.NTP_STATEMENTS`, which the build writes; nothing is fetched.
(() => {
  "use strict";
  const SHORT = {
    thm: "theorem", th: "theorem", theorems: "theorem", prop: "proposition", props: "proposition",
    lem: "lemma", lemmas: "lemma", cor: "corollary", def: "definition", defn: "definition",
    asm: "assumption", ass: "assumption", assum: "assumption", assumptions: "assumption",
    rem: "remark", ex: "example", alg: "algorithm", algo: "algorithm", fig: "figure",
    figs: "figure", figures: "figure", eq: "equation", eqs: "equation", eqn: "equation",
    equations: "equation", tab: "table", app: "appendix", sec: "section",
  };
  const KINDS = new Set([...Object.values(SHORT), "law", "observation", "conjecture"]);
  const FILLERS = new Set(["the", "of", "in", "et", "al", "and", "a"]);

  const words = text => (text.toLowerCase().normalize("NFKD").replace(/[\u0300-\u036f]/g, "")
    .match(/[a-z]+(?=\d)|[a-z0-9]+/g) || []);
  // "Thm.1", "eq. (9)" and "prop2" are what people type.
  const asked = text => words(text.replace(/([a-z])(\d)/gi, "$1 $2"))
    .map(word => SHORT[word] || word).filter(word => !FILLERS.has(word));

  const prepare = ([name, kind, number, title, paper, verdict, address, text]) => ({
    name, kind, number, title, verdict, address,
    numbers: words(number).map(word => SHORT[word] || word),
    titles: words(title), papers: words(`${paper} ${name.replace(/-/g, " ")}`),
    verdicts: [verdict], texts: new Set(words(text)), corrected: /corrected|ours/.test(name),
  });

  const begins = (list, word) => word.length > 2 && list.some(one => one.startsWith(word));

  // What one word of a query is worth for a statement; 0 when it has nothing to do with it.
  const worth = (entry, word) => {
    if (entry.numbers.includes(word)) return 10;
    if (entry.titles.includes(word)) return 8;
    if (entry.papers.includes(word)) return 4;
    if (entry.verdicts.includes(word)) return 4;
    if (/^\d+$/.test(word) || KINDS.has(word)) return 0;
    if (begins(entry.titles, word)) return 5;
    if (entry.texts.has(word)) return 2;
    return word.length > 3 && begins([...entry.texts], word) ? 1 : 0;
  };

  const score = (entry, query) => {
    let sum = 0;
    for (const word of query) {
      const one = worth(entry, word);
      if (!one) return 0;
      sum += one;
    }
    const plain = entry.numbers.filter(word => word !== "and");
    const named = query.filter(word => plain.includes(word));
    if (plain.length && named.length === plain.length) sum += 20; // the very number
    return sum - (entry.corrected ? 1 : 0) - (entry.kind === "term" ? 1.5 : 0);
  };

  const find = text => {
    const query = asked(text);
    if (!query.length) return [];
    return window.NTP_STATEMENTS.map(prepare)
      .map((entry, at) => ({ entry, at, score: score(entry, query) }))
      .filter(one => one.score > 0)
      .sort((one, other) => other.score - one.score || one.at - other.at)
      .map(one => one.entry);
  };

  const MARKS = {
    proved: "✔", consistent: "≈", refuted: "✘", open: "○",
    shown: "◇", seen: "●", "not seen": "◌", undecided: "○",
  };
  const make = (tag, classes, text) => {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    if (text) element.textContent = text;
    return element;
  };

  const line = (entry, root) => {
    const item = make("li");
    const link = make("a", "", entry.number || entry.title);
    link.href = root + entry.address;
    item.append(link, " ");
    if (entry.verdict) {
      item.append(make("span", `ntp-badge ntp-${entry.verdict.replace(" ", "-")}`,
        `${MARKS[entry.verdict]} ${entry.verdict}`), " ");
    }
    const paper = { huang2024: "Huang et al.", tian2023: "Tian et al.", ours: "this book" };
    const where = paper[entry.name.split("-")[0]] || "glossary";
    item.append(make("span", "", entry.kind === "term" ? "" : entry.title), " ");
    item.append(make("span", "ntp-small", where));
    return item;
  };

  const FIRST = 8;
  const show = text => {
    const found = find(text);
    const place = document.getElementById("search-results");
    if (!place || !found.length) return;
    const root = document.documentElement.dataset.content_root || "./";
    const part = make("section", "ntp-found");
    part.setAttribute("aria-label", "Statements and terms found");
    part.append(make("h2", "", "Statements and terms"));
    const list = make("ul");
    list.append(...found.slice(0, FIRST).map(entry => line(entry, root)));
    part.append(list);
    if (found.length > FIRST) {
      const more = make("details");
      const rest = make("ul");
      rest.append(...found.slice(FIRST).map(entry => line(entry, root)));
      more.append(make("summary", "", `${found.length - FIRST} more`), rest);
      part.append(more);
    }
    place.before(part);
  };

  // Summaries of pages are fetched, which pages opened as files may not do.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  document.addEventListener("DOMContentLoaded", () => {
    show(new URLSearchParams(location.search).get("q") || "");
  });
})();
