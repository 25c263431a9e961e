// Search, sort and filter the ledger. Without this file it is a plain table with every row.
// The state stands in the address (?paper=huang2024&verdict=refuted), so that a view can be linked.
// As long as nothing is filtered or sorted, the rows of a chapter are folded below its title.
(() => {
  "use strict";

  const CHOICES = ["paper", "kind", "verdict", "certainty", "standing", "instances"];
  const SORTS = {
    tried: (row) => Number(row.dataset.tried),
    verdict: (row) => Number(row.dataset.rank),
  };

  function start(box) {
    const form = box.querySelector(".ntp-filter");
    const shown = box.querySelector(".ntp-shown");
    const table = box.querySelector("table.ntp-claims");
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const texts = new Map(rows.map((row) => {
      const said = `${row.textContent} ${row.dataset.typed ?? ""}`;
      return [row, said.toLowerCase()];
    }));
    let sort = { key: "order", down: false };
    const opened = new Set();
    const heads = new Map();
    const unfold = form.querySelector(".ntp-unfold");
    for (const row of rows) {
      const chapter = row.dataset.chapter;
      if (chapter && !heads.has(chapter)) heads.set(chapter, head(chapter));
    }

    function head(chapter) {
      const line = document.createElement("tr");
      const cell = document.createElement("th");
      const button = document.createElement("button");
      const many = rows.filter((row) => row.dataset.chapter === chapter).length;
      line.className = "ntp-chapter-row";
      cell.colSpan = 3;
      button.type = "button";
      button.textContent = `${chapter} (${many})`;
      button.addEventListener("click", () => {
        if (!opened.delete(chapter)) opened.add(chapter);
        apply();
      });
      cell.append(button);
      line.append(cell);
      return line;
    }

    const isWhole = () =>
      sort.key === "order" && !sort.down && !form.elements.q.value.trim()
      && CHOICES.every((name) => !form.elements[name].value);

    function apply() {
      const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
      const folding = heads.size > 0 && isWhole();
      unfold.hidden = !folding;
      unfold.textContent = opened.size < heads.size ? "Unfold all chapters" : "Fold all chapters";
      for (const [chapter, line] of heads) {
        line.hidden = !folding;
        line.querySelector("button").setAttribute("aria-expanded", String(opened.has(chapter)));
      }
      let count = 0;
      for (const row of rows) {
        const fits =
          CHOICES.every((name) => {
            const wanted = form.elements[name].value;
            return !wanted || row.dataset[name] === wanted;
          }) && words.every((word) => texts.get(row).includes(word));
        row.hidden = !fits || (folding && !opened.has(row.dataset.chapter));
        count += fits;
      }
      shown.textContent = `${count} of ${rows.length} claims shown`;
    }

    function arrange() {
      const value = SORTS[sort.key];
      const order = [...rows];
      if (value) {
        order.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0));
      }
      if (sort.down) order.reverse();
      const placed = new Set();
      for (const row of order) {
        const chapter = row.dataset.chapter;
        if (heads.has(chapter) && !placed.has(chapter)) body.append(heads.get(chapter));
        placed.add(chapter);
        body.append(row);
      }
      for (const title of table.tHead.querySelectorAll("th[data-sort]")) {
        const active = title.dataset.sort === sort.key;
        title.setAttribute("aria-sort", active ? (sort.down ? "descending" : "ascending") : "none");
      }
    }

    function read() {
      const given = new URLSearchParams(location.search);
      for (const name of ["q", ...CHOICES]) {
        const field = form.elements[name];
        field.value = given.get(name) || "";
        if (field.value === "" && field.options) field.selectedIndex = 0; // an unknown value
      }
      const key = given.get("sort") || "order";
      sort = { key: key in SORTS ? key : "order", down: given.get("down") === "1" };
    }

    function write() {
      const kept = new URLSearchParams();
      for (const name of ["q", ...CHOICES]) {
        const value = form.elements[name].value.trim();
        if (value) kept.set(name, value);
      }
      if (sort.key !== "order") kept.set("sort", sort.key);
      if (sort.down) kept.set("down", "1");
      const query = kept.toString();
      try {
        history.replaceState(null, "", `${location.pathname}${query && "?" + query}`);
      } catch {
        // A page opened from a file may not change its address; filtering works all the same.
      }
    }

    function changed() {
      apply();
      write();
    }

    for (const title of table.tHead.querySelectorAll("th[data-sort]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = title.textContent;
      button.addEventListener("click", () => {
        const key = title.dataset.sort;
        sort = { key, down: sort.key === key && !sort.down };
        arrange();
        apply();
        write();
      });
      title.replaceChildren(button);
    }
    unfold.addEventListener("click", () => {
      const all = opened.size < heads.size;
      opened.clear();
      if (all) for (const chapter of heads.keys()) opened.add(chapter);
      apply();
    });
    form.addEventListener("input", changed);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () =>
      setTimeout(() => {
        for (const name of CHOICES) form.elements[name].selectedIndex = 0;
        form.elements.q.value = "";
        sort = { key: "order", down: false };
        arrange();
        changed();
      })
    );
    read();
    form.hidden = shown.hidden = false;
    arrange();
    apply();
    if (!isWhole() && !location.hash) shown.scrollIntoView(); // a link to a view shows its rows
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target) {
      if (target.dataset.chapter) opened.add(target.dataset.chapter);
      apply();
      target.hidden = false; // a row that is linked to is shown, whatever the filter says
      target.scrollIntoView();
    }
  }

  function begin() {
    document.querySelectorAll(".ntp-ledger-all").forEach(start);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
