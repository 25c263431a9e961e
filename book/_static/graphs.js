// The large drawings of what rests on what: readable and scrolled, fitted to the page, zoomed, on the
// whole screen, or only what is near a claim.
// Without this file a drawing has its full size and scrolls in its box.
(() => {
  "use strict";

  const STEP = 1.5;
  const READABLE = 0.9; // of its full size, at which the names in a drawing can be read
  const [NEAR, ROW, RUN] = [16, 44, 60]; // around what is near a claim, from box to box, between columns

  function part(name, attributes, text) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text) node.textContent = text;
    return node;
  }

  function make(name, attributes) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  }

  // All claims that one rests on, or all that rest on it, through others too.
  function reach(label, next) {
    const found = new Set([label]);
    const waiting = [label];
    while (waiting.length) {
      for (const other of next.get(waiting.pop()) || []) {
        if (!found.has(other)) {
          found.add(other);
          waiting.push(other);
        }
      }
    }
    return found;
  }

  function start(box, place) {
    const svg = box.querySelector("svg");
    const nodes = [...svg.querySelectorAll("[data-claim]")];
    const lines = [...svg.querySelectorAll("[data-from]")];
    const whole = { x: 0, y: 0, width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height };
    const [uses, usedBy] = [new Map(), new Map()];
    for (const line of lines) {
      const { from, to } = line.dataset;
      uses.set(to, [...(uses.get(to) || []), from]);
      usedBy.set(from, [...(usedBy.get(from) || []), to]);
    }
    let seen = whole; // the part of the drawing that is shown
    let scale = 1; // pixels for a unit

    function show(part) {
      seen = part;
      svg.setAttribute("viewBox", `${part.x} ${part.y} ${part.width} ${part.height}`);
      svg.setAttribute("width", Math.round(part.width * scale));
      svg.setAttribute("height", Math.round(part.height * scale));
    }

    function fit(most, least = 0) {
      scale = Math.max(least, Math.min(most, box.clientWidth / seen.width));
      show(seen);
    }

    function zoom(factor) {
      const at = (box.scrollLeft + box.clientWidth / 2) / scale;
      scale = Math.min(3, Math.max(0.05, scale * factor));
      show(seen);
      box.scrollLeft = at * scale - box.clientWidth / 2;
    }

    // Three columns: what a claim uses, the claim, what uses it. The boxes are those of the drawing.
    function neighbours(label) {
      const group = make("g", { class: "ntp-near" });
      const columns = [uses.get(label) || [], [label], usedBy.get(label) || []];
      const tall = Math.max(...columns.map((one) => one.length)) * ROW;
      const places = new Map();
      let left = NEAR;
      for (const column of columns) {
        const boxes = column.map((name) => nodes.find((node) => node.dataset.claim === name));
        const wide = Math.max(0, ...boxes.map((node) => Number(node.querySelector("rect").getAttribute("width"))));
        boxes.forEach((node, at) => {
          const rect = node.querySelector("rect");
          const [x, y] = [Number(rect.getAttribute("x")), Number(rect.getAttribute("y"))];
          const top = NEAR + (tall - column.length * ROW) / 2 + at * ROW;
          const copy = node.cloneNode(true);
          copy.setAttribute("transform", `translate(${left - x} ${top - y})`);
          copy.classList.toggle("ntp-focus", node.dataset.claim === label);
          group.append(copy);
          places.set(node.dataset.claim, { left, right: left + Number(rect.getAttribute("width")), middle: top + 14 });
        });
        if (column.length) left += wide + RUN;
      }
      for (const line of lines.filter((one) => [one.dataset.from, one.dataset.to].includes(label))) {
        const [from, to] = [places.get(line.dataset.from), places.get(line.dataset.to)];
        const half = (from.right + to.left) / 2;
        const d = `M${from.right} ${from.middle}C${half} ${from.middle} ${half} ${to.middle} ${to.left} ${to.middle}`;
        group.prepend(make("path", { class: line.getAttribute("class"), d }));
      }
      return [group, { x: 0, y: 0, width: left - RUN + NEAR, height: tall + NEAR }];
    }

    function choose(label) {
      svg.querySelector(".ntp-near")?.remove();
      for (const one of [...nodes, ...lines]) one.classList.remove("ntp-away");
      seen = whole;
      told.textContent = "";
      if (label) {
        const [group, part] = neighbours(label);
        for (const one of [...nodes, ...lines]) one.classList.add("ntp-away");
        svg.append(group);
        seen = part;
        const [below, above] = [reach(label, uses).size - 1, reach(label, usedBy).size - 1];
        told.textContent = `Through others, too, it rests on ${below} and carries ${above}.`;
      }
      fit(1, READABLE);
    }

    const bar = part("form", { class: "ntp-graph-bar", autocomplete: "off" });
    const list = part("select", { id: `ntp-near-${place}` });
    list.append(part("option", { value: "" }, "all claims"));
    for (const node of nodes) list.append(part("option", { value: node.dataset.claim }, node.dataset.name));
    const told = part("span", { role: "status" });
    const button = (text, name, act) => {
      const made = part("button", { type: "button", "aria-label": name }, text);
      made.addEventListener("click", act);
      return made;
    };
    const label = part("label", { for: list.id }, "Show what is near ");
    bar.append(
      label, list, " ",
      button("fit", "Fit the drawing to the page", () => fit(1)), " ",
      button("+", "Larger", () => zoom(STEP)), " ",
      button("−", "Smaller", () => zoom(1 / STEP)), " ",
      told,
    );
    if (document.fullscreenEnabled) told.before(button("large", "Show the drawing large, on the whole screen", () => box.requestFullscreen()), " ");
    bar.addEventListener("submit", (event) => event.preventDefault());
    list.addEventListener("input", () => choose(list.value));
    box.before(bar);
    fit(1, READABLE);
  }

  document.addEventListener("DOMContentLoaded", () => {
    [...document.querySelectorAll(".ntp-graph:has([data-claim])")].forEach(start);
  });
})();
