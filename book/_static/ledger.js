// Search, sort and filter the ledger. Without this file it is a plain table with every row.
// The state stands in the address (?paper=huang2024&verdict=refuted), so that a view can be linked.
(() => {
  "use strict";

  const CHOICES = ["paper", "kind", "verdict", "certainty", "standing"];
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
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    let sort = { key: "order", down: false };

    function apply() {
      const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const row of rows) {
        const fits =
          CHOICES.every((name) => {
            const wanted = form.elements[name].value;
            return !wanted || row.dataset[name] === wanted;
          }) && words.every((word) => texts.get(row).includes(word));
        row.hidden = !fits;
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
      body.append(...order);
      for (const head of table.tHead.querySelectorAll("th[data-sort]")) {
        const active = head.dataset.sort === sort.key;
        head.setAttribute("aria-sort", active ? (sort.down ? "descending" : "ascending") : "none");
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

    for (const head of table.tHead.querySelectorAll("th[data-sort]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", () => {
        const key = head.dataset.sort;
        sort = { key, down: sort.key === key && !sort.down };
        arrange();
        write();
      });
      head.replaceChildren(button);
    }
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
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target) {
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
