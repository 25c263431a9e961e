// The large drawings of what rests on what: fitted to the page, zoomed, or only what is near a claim.
// Without this file a drawing has its full size and scrolls in its box.
(() => {
  "use strict";

  const STEP = 1.5;
  const NEAR = 24; // room around what is shown, in units of the drawing

  function part(name, attributes, text) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text) node.textContent = text;
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

    function fit(most) {
      scale = Math.min(most, box.clientWidth / seen.width);
      show(seen);
    }

    function zoom(factor) {
      const at = (box.scrollLeft + box.clientWidth / 2) / scale;
      scale = Math.min(3, Math.max(0.05, scale * factor));
      show(seen);
      box.scrollLeft = at * scale - box.clientWidth / 2;
    }

    function choose(label) {
      const kept = new Set([...reach(label, uses), ...reach(label, usedBy)]);
      for (const node of nodes) {
        node.classList.toggle("ntp-away", Boolean(label) && !kept.has(node.dataset.claim));
        node.classList.toggle("ntp-focus", node.dataset.claim === label);
      }
      for (const line of lines) {
        const near = kept.has(line.dataset.from) && kept.has(line.dataset.to);
        line.classList.toggle("ntp-away", Boolean(label) && !near);
      }
      if (!label) {
        seen = whole;
        fit(1);
        told.textContent = "";
        return;
      }
      const boxes = nodes.filter((node) => kept.has(node.dataset.claim)).map((node) => node.querySelector("rect").getBBox());
      const left = Math.min(...boxes.map((one) => one.x)) - NEAR;
      const top = Math.min(...boxes.map((one) => one.y)) - NEAR;
      const right = Math.max(...boxes.map((one) => one.x + one.width)) + NEAR;
      const bottom = Math.max(...boxes.map((one) => one.y + one.height)) + NEAR;
      seen = { x: left, y: top, width: right - left, height: bottom - top };
      fit(1);
      scale = Math.max(scale, 0.6); // letters that can be read; the box scrolls
      show(seen);
      const [below, above] = [reach(label, uses).size - 1, reach(label, usedBy).size - 1];
      told.textContent = `It rests on ${below}, and ${above} rest${above === 1 ? "s" : ""} on it.`;
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
    bar.addEventListener("submit", (event) => event.preventDefault());
    list.addEventListener("input", () => choose(list.value));
    box.before(bar);
    fit(1);
  }

  document.addEventListener("DOMContentLoaded", () => {
    [...document.querySelectorAll(".ntp-graph:has([data-claim])")].forEach(start);
  });
})();
