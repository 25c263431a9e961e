// Statements, terms, and sections of pages, found by number and by words: on the page of the search above the pages, and
// below the field that opens on every page, which loads this when it is first used (`menus.js`).
// The list is `window.NTP_STATEMENTS`, which the build writes.
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
  const FILLERS = new Set([
    "the", "of", "in", "et", "al", "and", "a",
    "does", "do", "hold", "holds", "why", "what", "when", "is", "are", "mean", "means", "right", "wrong",
    "how", "to", "i", "my", "this", "that", "which", "where", "can", "may", "it", "for", "with", "there",
  ]);

  const words = text => (text.toLowerCase().normalize("NFKD").replace(/[\u0300-\u036f]/g, "")
    .match(/[a-z]+(?=\d)|[a-z0-9]+/g) || []);
  // "Thm.1", "eq. (9)" and "prop2" are what people type.
  const asked = text => words(text.replace(/([a-z])(\d)/gi, "$1 $2"))
    .map(word => SHORT[word] || word).filter(word => !FILLERS.has(word));

  const prepare = ([name, kind, number, title, paper, short, verdict, address, text, opening = ""]) => ({
    name, kind, number, title, short, verdict, address,
    numbers: words(number).map(word => SHORT[word] || word),
    titles: words(title), papers: words(`${paper} ${name.replace(/-/g, " ")}`),
    verdicts: [verdict], texts: new Set(words(text)), openings: words(opening), corrected: /corrected|ours/.test(name),
  });

  // Whether two words differ in one letter: changed, missing, too many, or two that changed places.
  const misspelt = (one, other) => {
    if (Math.abs(one.length - other.length) > 1) return false;
    let at = 0;
    while (at < one.length && one[at] === other[at]) at += 1;
    const [rest, left] = [one.slice(at), other.slice(at)];
    return rest.slice(1) === left.slice(1) || rest.slice(1) === left || rest === left.slice(1)
      || (rest.slice(2) === left.slice(2) && rest[0] === left[1] && rest[1] === left[0]);
  };
  const LONG = 5; // letters of a word that may be misspelt: shorter ones are other words then

  const begins = (list, word) => word.length > 2 && list.some(one => one.startsWith(word));

  // What one word of a query is worth for a statement; 0 when it has nothing to do with it.
  const worth = (entry, word) => {
    if (entry.numbers.includes(word)) return 10;
    if (entry.titles.includes(word)) return 8;
    if (entry.openings.includes(word)) return 6;
    if (entry.papers.includes(word)) return 4;
    if (entry.verdicts.includes(word)) return 4;
    if (/^\d+$/.test(word) || KINDS.has(word)) return 0;
    if (begins(entry.titles, word)) return 5;
    if (begins(entry.openings, word)) return 4;
    if (entry.texts.has(word)) return 2;
    if (word.length > 3 && begins([...entry.texts], word)) return 1;
    return 0;
  };

  // A word that stands nowhere is read as the words of the list that differ in one letter.
  const meant = (entries, word) => {
    if (word.length < LONG || entries.some(entry => worth(entry, word))) return [word];
    const known = new Set(entries.flatMap(entry =>
      [...entry.numbers, ...entry.titles, ...entry.papers, ...entry.verdicts, ...entry.texts,
      ...entry.openings]));
    const all = new Set([...known, ...KINDS]);
    const near = [...all].filter(one => one.length > 3 && misspelt(word, one));
    return near.length ? near : [word];
  };

  const FEW = 3; // words of a question of which some may stand nowhere

  // Of a question with several words, what has most of them, where nothing has all.
  const nearly = (entries, choices) => {
    if (choices.length < FEW) return [];
    const count = entry => choices.filter(words => words.some(word => worth(entry, word))).length;
    const counted = entries.filter(entry => entry.kind !== "section").map(entry => [entry, count(entry)]);
    const most = Math.max(...counted.map(([, many]) => many));
    if (2 * most <= choices.length) return [];
    const best = counted.filter(([, many]) => many === most).map(([entry]) => entry);
    const sum = entry => choices.flat().reduce((all, word) => all + worth(entry, word), 0);
    return best.sort((one, other) => sum(other) - sum(one));
  };

  // A long section holds nearly every word; of a longer question its heading must have all.
  const headed = (entry, choices) => choices.every(words =>
    words.some(word => [entry.titles, entry.papers, entry.openings].some(list => list.includes(word))));

  // What a chapter or a section is worth because its heading, or the question that a chapter opens with, has every
  // word of the query: then it comes before claims. A chapter that asks about Theorem 2 tells more of it than the box.
  const answered = (entry, query, choices) => {
    const asks = word => entry.openings.includes(word) || begins(entry.openings, word);
    const inTitle = query.every(word => entry.titles.includes(word));
    const little = inTitle ? 3 : 0;
    if (choices.length === 1 || !entry.address.startsWith("pages/")) return little; // errata are no chapters
    const all = choices.every(words => words.some(word => entry.titles.includes(word) || asks(word)));
    const named = query.some((word, at) => KINDS.has(word) && /^\d+$/.test(query[at + 1] || "")
      && entry.openings.some((one, place) => one === word && entry.openings[place + 1] === query[at + 1]));
    if (named) return 32; // more than the very number of a claim
    return query.some(word => /^\d+$/.test(word)) ? little
      : inTitle || all ? 8 + (entry.address.includes("#") ? 0 : 1) : 0;
  };

  const score = (entry, choices) => {
    if (entry.kind === "section" && choices.length >= FEW && !headed(entry, choices)) return 0;
    let sum = 0;
    const query = choices.flat();
    for (const words of choices) {
      const one = Math.max(...words.map(word => worth(entry, word)));
      if (!one) return 0;
      sum += one;
    }
    const plain = entry.numbers.filter(word => word !== "and");
    const named = query.filter(word => plain.includes(word));
    if (plain.length && named.length === plain.length) sum += 20; // the very number
    if (entry.kind === "section") sum += answered(entry, query, choices);
    return sum - (entry.corrected ? 1 : 0) - (entry.kind === "term" ? 1.5 : 0);
  };

  let prepared = null;
  const find = text => {
    const query = asked(text);
    if (!query.length) return [];
    prepared = prepared || window.NTP_STATEMENTS.map(prepare);
    const choices = query.map(word => meant(prepared, word));
    const found = prepared
      .map((entry, at) => ({ entry, at, score: score(entry, choices) }))
      .filter(one => one.score > 0)
      .sort((one, other) => other.score - one.score || one.at - other.at)
      .map(one => one.entry);
    return found.length ? found : nearly(prepared, choices);
  };

  const MARKS = {
    proved: "✔", "not contradicted": "≈", refuted: "✘", open: "○",
    "well posed": "◇", seen: "●", "not seen": "◌", undecided: "○",
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
    item.append(make("span", "", entry.number ? entry.title : ""), " ");
    item.append(make("span", "ntp-small", entry.short));
    return item;
  };

  const FIRST = 8;
  const ROOT = document.documentElement.dataset.content_root || "./";
  const listed = found => {
    const part = make("section", "ntp-found");
    part.setAttribute("aria-label", "Statements, terms, and sections found");
    const list = make("ul");
    list.append(...found.slice(0, FIRST).map(entry => line(entry, ROOT)));
    part.append(list);
    if (found.length > FIRST) {
      const more = make("details");
      const rest = make("ul");
      rest.append(...found.slice(FIRST).map(entry => line(entry, ROOT)));
      more.append(make("summary", "", `${found.length - FIRST} more`), rest);
      part.append(more);
    }
    return part;
  };

  const show = text => {
    document.querySelector("main .ntp-found")?.remove();
    const found = find(text);
    const place = document.getElementById("search-results");
    if (!place || !found.length) return;
    const part = listed(found);
    part.prepend(make("h2", "", "Statements, terms, and sections"));
    place.before(part);
  };

  // The field that Ctrl+K opens on every page answers below itself; Enter sends it to the pages.
  const answerBelow = field => {
    const box = make("div", "ntp-answers");
    const said = make("p", "ntp-small");
    said.setAttribute("role", "status");
    box.hidden = true;
    box.append(said);
    field.form.after(box);
    const answer = () => {
      const found = find(field.value);
      box.hidden = !field.value.trim();
      box.querySelector(".ntp-found")?.remove();
      const count = found.length === 1 ? "1 result" : `${found.length || "No"} results`;
      said.textContent = `${count}. Press Enter to search the full text of all pages.`;
      if (found.length) box.append(listed(found));
    };
    field.addEventListener("input", answer);
    box.addEventListener("click", event => { // to a place of this page: then nothing loads anew
      if (event.target.closest("a")) field.closest(".search-button__wrapper").classList.remove("show");
    });
    answer();
  };

  // The arrow keys move from the field into what was found, and within it.
  const moveByArrows = () => {
    document.addEventListener("keydown", event => {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      const field = event.target.closest("input[name=q]");
      const part = field ? field.closest(".search-button__search-container, main")?.querySelector(".ntp-found")
        : event.target.closest(".ntp-found");
      if (!part) return;
      const links = [...part.querySelectorAll("a")].filter(one => one.getClientRects().length);
      const at = links.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1);
      const back = part.parentElement.parentElement.querySelector("input[name=q]");
      if (at < 0 && field) return;
      event.preventDefault();
      if (at < 0) back?.focus();
      else links[Math.min(at, links.length - 1)]?.focus();
    });
  };

  // What is shown of a page is its prose: no code, bars, buttons, folds and names of menus.
  const CONTROLS = ".bd-header-article, .ntp-run, summary, button, nav, noscript, .ntp-save, .cell_input";
  const quoteText = () => {
    const whole = Search.htmlToText;
    Search.htmlToText = (html, anchor) => {
      const page = new DOMParser().parseFromString(html, "text/html");
      for (const one of page.querySelectorAll(CONTROLS)) one.remove();
      return whole(page.documentElement.outerHTML, anchor);
    };
  };

  // Where statements were found, "no documents" would contradict them.
  const sayPages = () => {
    const said = document.querySelector("#search-results .search-summary");
    if (said && document.querySelector("main .ntp-found") && /did not match/.test(said.textContent)) {
      said.textContent = "No page has all of these words; the statements above answer them.";
    }
  };

  const start = () => {
    moveByArrows();
    for (const field of document.querySelectorAll(".search-button__wrapper input[name=q]")) answerBelow(field);
    if (!document.getElementById("search-results")) return;
    // Summaries of pages are fetched, which pages opened as files may not do.
    if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
    if (typeof Search !== "undefined") quoteText();
    show(new URLSearchParams(location.search).get("q") || "");
    new MutationObserver(sayPages).observe(document.getElementById("search-results"), { childList: true, subtree: true });
    sayPages();
    // As one types; the pages below follow when the search is sent.
    const field = document.querySelector('main .bd-search-container input[name="q"]');
    field.addEventListener("input", () => show(field.value));
    // What was found is the next thing that Tab reaches, not the list of all pages.
    if (matchMedia("(hover: hover)").matches) field.focus({ preventScroll: true });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
