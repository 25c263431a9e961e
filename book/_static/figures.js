// Figures that a reader can move. All numbers and sentences come with the page, out of its notebook;
// here they are only chosen and drawn. Without this file the printed picture stays.
(() => {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const SIGNS = { optimal: "circle", nonoptimal: "square", noncomparable: "triangle", other: "diamond", bound: "cross" };
  const ROOM = { left: 58, right: 14, top: 10, bottom: 26 };
  const PAIRS = ["tight", "slack"]; // lines from token to token
  const NAMED = 300; // pixels that a drawing with names on its signs needs
  const EVERY = 70; // pixels from one sign on a line to the next

  function make(name, attributes, text) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  }

  function part(name, className, text) {
    const node = document.createElement(name);
    node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  }

  // Scales and ticks

  function scale(axis, from, to) {
    const see = axis.log ? Math.log10 : (value) => value;
    const [low, high] = [see(axis.low), see(axis.high)];
    return (value) =>
      value === null || (axis.log && value <= 0) ? null : from + ((see(value) - low) / (high - low)) * (to - from);
  }

  function ticks(axis, most) {
    const found = [];
    if (axis.log) {
      const [low, high] = [Math.log10(axis.low) - 1e-9, Math.log10(axis.high) + 1e-9];
      const decades = Math.floor(high) - Math.ceil(low) + 1;
      const factors = decades >= 3 ? [1] : [1, 2, 5];
      const apart = Math.max(1, Math.ceil(decades / most));
      for (let power = Math.floor(low); power <= high; power += 1) {
        for (const factor of factors) {
          const at = power + Math.log10(factor);
          if (at >= low && at <= high && power % apart === 0) found.push(Number(`${factor}e${power}`));
        }
      }
      return found;
    }
    const raw = (axis.high - axis.low) / most;
    const unit = 10 ** Math.floor(Math.log10(raw));
    const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= raw * (1 - 1e-9));
    const first = Math.ceil(axis.low / step - 1e-9);
    for (let place = first; place * step <= axis.high + step * 1e-9; place += 1) {
      found.push(Number((place * step).toPrecision(12)));
    }
    return found;
  }

  function write(value) {
    const size = Math.abs(value);
    if (value === 0 || (size >= 0.001 && size < 100000)) return String(value).replace("-", "−");
    const [factor, power] = value.toExponential().split("e");
    const raised = [...power.replace("+", "")].map((digit) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(digit)]);
    return `${factor === "1" ? "" : `${factor.replace("-", "−")}·`}10${raised.join("")}`;
  }

  // Drawing

  function sign(role, x, y) {
    const shape = {
      circle: `M${x - 3.5} ${y}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z`,
      square: `M${x - 3.2} ${y - 3.2}h6.4v6.4h-6.4z`,
      triangle: `M${x} ${y - 4}l4 7h-8z`,
      diamond: `M${x} ${y - 4.5}l4.5 4.5l-4.5 4.5l-4.5 -4.5z`,
      cross: `M${x - 3.5} ${y - 3.5}l7 7m0 -7l-7 7`,
    }[SIGNS[role]];
    return make("path", { d: shape, class: `ntp-sign ntp-${role}` });
  }

  function line(points) {
    let pen = "M";
    const steps = [];
    for (const [x, y] of points) {
      if (x === null || y === null) {
        pen = "M";
      } else {
        steps.push(`${pen}${x.toFixed(2)} ${y.toFixed(2)}`);
        pen = "L";
      }
    }
    return steps.join("");
  }

  // Bars stand on zero; `wide` pixels belong to a name.
  function addBars(group, curve, points, zero, wide) {
    for (const [x, y] of points) {
      if (x === null || y === null) continue;
      const box = { x: x - 0.34 * wide, width: 0.68 * wide, y: Math.min(y, zero), height: Math.abs(y - zero) };
      group.append(make("rect", { ...box, class: `ntp-bar ntp-${curve.role}` }));
    }
  }

  // Tokens as in the printed pictures of orders: names on the signs, scores above or below.
  function addNamed(group, curve, points) {
    points.forEach(([x, y], place) => {
      const up = curve.role === "optimal";
      const shape = up
        ? make("circle", { cx: x, cy: y, r: 11 })
        : make("rect", { x: x - 10, y: y - 10, width: 20, height: 20 });
      shape.setAttribute("class", `ntp-token ntp-sign ntp-${curve.role}`);
      group.append(shape, make("text", { x, y: y + 4, class: "ntp-name", "text-anchor": "middle" }, curve.names[place]));
      const note = (curve.notes || [])[place];
      if (note) group.append(make("text", { x, y: y + (up ? -16 : 25), class: "ntp-note", "text-anchor": "middle" }, note));
    });
  }

  function addSigns(group, curve, points) {
    if (curve.names) return addNamed(group, curve, points);
    if (PAIRS.includes(curve.line)) return;
    let last = -Infinity;
    for (const [x, y] of points) {
      if (x === null || y === null) continue;
      if (curve.line !== "points" && (curve.role === "bound" || Math.abs(x - last) < EVERY)) continue;
      group.append(sign(curve.role, x, y));
      last = x;
    }
  }

  function drawGrid(svg, data, toX, toY, width, height) {
    (data.x.names || []).forEach((text, place) => {
      svg.append(make("text", { x: toX(place), y: height - 8, "data-x": place, "text-anchor": "middle" }, text));
    });
    for (const value of data.x.names ? [] : ticks(data.x, Math.max(3, Math.floor(width / 110)))) {
      const x = toX(value);
      svg.append(make("line", { x1: x, x2: x, y1: ROOM.top, y2: height - ROOM.bottom, class: "ntp-grid" }));
      svg.append(make("text", { x, y: height - 8, "data-x": value, "text-anchor": "middle" }, write(value)));
    }
    for (const value of ticks(data.y, Math.max(3, Math.floor(height / 50)))) {
      const y = toY(value);
      svg.append(make("line", { x1: ROOM.left, x2: width - ROOM.right, y1: y, y2: y, class: "ntp-grid" }));
      svg.append(
        make("text", { x: ROOM.left - 6, y: y + 4, "data-y": value, "text-anchor": "end" }, write(value)),
      );
    }
    const corner = `M${ROOM.left} ${ROOM.top}V${height - ROOM.bottom}H${width - ROOM.right}`;
    svg.append(make("path", { d: corner, class: "ntp-axes" }));
  }

  function draw(data, view, width, height, name) {
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
    svg.setAttribute("aria-label", `Chart: ${data.y.label} against ${data.x.label}. ${view.says}`);
    const toX = scale(data.x, ROOM.left, width - ROOM.right);
    const toY = scale(data.y, height - ROOM.bottom, ROOM.top);
    drawGrid(svg, data, toX, toY, width, height);
    const clip = make("clipPath", { id: `${name}-clip` });
    const [across, down] = [width - ROOM.left - ROOM.right, height - ROOM.top - ROOM.bottom];
    clip.append(make("rect", { x: ROOM.left - 4, y: ROOM.top - 4, width: across + 8, height: down + 8 }));
    const all = make("g", { "clip-path": `url(#${name}-clip)` });
    for (const place of view.curves) {
      const curve = data.curves[place];
      const points = data.numbers[curve.x].map((x, at) => [toX(x), toY(data.numbers[curve.y][at])]);
      const group = make("g", { "data-curve": curve.label });
      if (curve.line === "bars") {
        addBars(group, curve, points, toY(0), toX(1) - toX(0));
      } else {
        const shown = curve.line === "points" ? "ntp-hidden" : `ntp-${curve.role} ntp-${curve.line}`;
        group.append(make("path", { d: line(points), class: `ntp-curve ${shown}` }));
        addSigns(group, curve, points);
      }
      all.append(group);
    }
    svg.append(clip, all);
    return svg;
  }

  function key(data, view) {
    const list = part("ul", "ntp-key");
    const shown = new Set(); // what is drawn in two places is explained once
    for (const place of view.curves) {
      const curve = data.curves[place];
      if (shown.has(curve.label)) continue;
      shown.add(curve.label);
      const item = part("li", "");
      const sample = make("svg", { width: 34, height: 12, "aria-hidden": "true" });
      if (curve.line === "bars") {
        sample.append(make("rect", { x: 10, y: 0, width: 14, height: 12, class: `ntp-bar ntp-${curve.role}` }));
      } else if (curve.line !== "points") {
        sample.append(make("path", { d: "M1 6H33", class: `ntp-curve ntp-${curve.role} ntp-${curve.line}` }));
      }
      if (curve.line === "points" || (curve.role !== "bound" && curve.line !== "bars")) sample.append(sign(curve.role, 17, 6));
      item.append(sample, part("span", "", curve.label));
      list.append(item);
    }
    return list;
  }

  // One figure and its controls

  function start(form) {
    const data = JSON.parse(form.querySelector("script").textContent);
    const figure = document.getElementById(form.dataset.figure);
    const pictures = figure ? [...figure.querySelectorAll("img")] : []; // one for light, one for dark
    if (!pictures.length) return;
    const controls = data.dials.map((_, place) => form.querySelector(`[id$="-dial-${place}"]`));
    const says = figure.querySelector("output.ntp-says");
    const printed = says.textContent;
    const caption = figure.querySelector("figcaption .caption-text");
    const below = part("span", "ntp-caption-now");
    if (caption) caption.after(below);
    const drawn = part("div", "ntp-drawn");
    let drawnWidth = 0;
    const shells = [...new Set(pictures.map((one) => one.closest("a") || one.closest("picture") || one))];
    shells.forEach((shell) => shell.classList.add("ntp-printed"));
    shells[shells.length - 1].after(drawn);

    function chosen() {
      return controls.reduce((place, control, at) => place * data.dials[at].values.length + Number(control.value), 0);
    }

    function name() {
      controls.forEach((control, at) => {
        const value = data.dials[at].values[Number(control.value)];
        if (control.type !== "range") return;
        control.setAttribute("aria-valuetext", value);
        control.nextElementSibling.textContent = value;
      });
    }

    function describe() {
      const set = controls.map((control, at) => `${data.dials[at].label}: ${data.dials[at].values[Number(control.value)]}`);
      const what = data.caption || `${data.y.label} against ${data.x.label}.`;
      below.textContent = `Moved to ${set.join("; ")}. ${what[0].toUpperCase()}${what.slice(1)}`;
    }

    function redraw() {
      const view = data.views[chosen()];
      figure.classList.add("ntp-moved");
      describe();
      drawnWidth = Math.round(drawn.getBoundingClientRect().width);
      if (!drawnWidth) return; // on paper
      const named = view.curves.some((place) => data.curves[place].names);
      const width = named ? Math.max(drawnWidth, NAMED) : drawnWidth;
      const height = Math.round(Math.min(380, Math.max(230, width * 0.56)));
      drawn.replaceChildren(
        part("p", "ntp-axis", `↑ ${data.y.label}`),
        draw(data, view, width, height, form.dataset.figure),
        part("p", "ntp-axis ntp-across", `${data.x.label} →`),
        key(data, view),
      );
    }

    function change() {
      name();
      redraw();
      says.textContent = data.views[chosen()].says;
    }

    form.addEventListener("input", () => {
      const before = form.getBoundingClientRect().top;
      stop();
      change();
      const moved = form.getBoundingClientRect().top - before; // the control stays under the finger
      if (moved) window.scrollBy({ top: moved, behavior: "instant" });
    });
    // The button runs through the values of one control, from its first one when it stands at the last.
    const PACE = 700; // milliseconds from one value to the next
    const play = form.querySelector(".ntp-play");
    const timed = play && document.getElementById(play.dataset.plays);
    let running = 0;

    function stop() {
      clearInterval(running);
      running = 0;
      if (play) play.textContent = "Play";
    }

    function show(value) {
      timed.value = value;
      change();
      if (Number(timed.value) >= Number(timed.max)) stop();
    }

    if (play) play.addEventListener("click", () => {
      if (running) return stop();
      play.textContent = "Pause";
      running = setInterval(() => show(Number(timed.value) + 1), PACE);
      if (Number(timed.value) >= Number(timed.max)) show(0);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => {
      stop();
      setTimeout(() => {
        name();
        figure.classList.remove("ntp-moved");
        drawn.replaceChildren();
        below.textContent = "";
        says.textContent = printed;
      });
    });
    new ResizeObserver(() => {
      const wanted = Math.round(drawn.getBoundingClientRect().width) !== drawnWidth;
      if (wanted && figure.classList.contains("ntp-moved")) redraw();
    }).observe(drawn);
    form.reset();
    form.querySelector("fieldset").disabled = false;
    form.dataset.ready = says.dataset.ready = "yes";
  }

  // Figures to keep and to show

  // What gives a drawing its look, from the style sheet into the file.
  const LOOKS = [
    "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "text-anchor",
    "font-family", "font-size", "font-weight",
  ];

  function dressed(svg) {
    const copy = svg.cloneNode(true);
    const parts = [...svg.querySelectorAll("*")];
    [...copy.querySelectorAll("*")].forEach((node, place) => {
      const look = getComputedStyle(parts[place]);
      LOOKS.forEach((name) => node.setAttribute(name, look.getPropertyValue(name)));
      node.removeAttribute("class");
    });
    return copy;
  }

  // A moved drawing as one SVG in the colours on the screen, its axes and its key in words.
  function movedSvg(figure) {
    const drawn = figure.querySelector(".ntp-drawn");
    const svg = drawn.querySelector(":scope > svg");
    const [up, across] = [...drawn.querySelectorAll(":scope > .ntp-axis")].map((one) => one.textContent);
    const look = getComputedStyle(drawn);
    const [LINE, PAD, SAMPLE] = [22, 12, 44];
    const [wide, high] = ["width", "height"].map((name) => Number(svg.getAttribute(name)));
    const words = { "font-family": look.fontFamily, "font-size": 14, fill: look.color };
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `14px ${look.fontFamily}`;
    const key = [...drawn.querySelectorAll(".ntp-key li")];
    const reach = [up, across, ...key.map((one) => one.textContent)].map((text) => pen.measureText(text).width);
    const width = Math.ceil(Math.max(wide, SAMPLE + Math.max(...reach))) + 2 * PAD;
    const height = high + (2 + key.length) * LINE + 2 * PAD;
    const file = make("svg", { xmlns: SVG, viewBox: `0 0 ${width} ${height}`, width, height });
    file.append(make("title", {}, svg.getAttribute("aria-label")));
    file.append(make("rect", { width, height, fill: getComputedStyle(document.body).backgroundColor }));
    file.append(make("text", { x: PAD, y: PAD + 14, ...words }, up));
    const inner = dressed(svg);
    for (const [name, value] of Object.entries({ x: PAD, y: PAD + LINE, overflow: "visible" })) inner.setAttribute(name, value);
    file.append(inner, make("text", { x: PAD + wide, y: PAD + LINE + high + 16, "text-anchor": "end", ...words }, across));
    key.forEach((one, place) => {
      const top = PAD + high + (2 + place) * LINE;
      const sample = dressed(one.querySelector("svg"));
      sample.setAttribute("x", PAD);
      sample.setAttribute("y", top + 4);
      file.append(sample, make("text", { x: PAD + SAMPLE, y: top + 15, ...words }, one.textContent));
    });
    return file;
  }

  function isMoved(figure) {
    return figure.classList.contains("ntp-moved") && figure.querySelector(".ntp-drawn > svg") !== null;
  }

  // "…-order.svg" is the printed picture, "…-order-moved.svg" the one that is seen.
  function movedName(name) {
    return name.replace(/(\.\w+)$/, "-moved$1");
  }

  function give(blob, name) {
    const link = document.createElement("a");
    link.download = name;
    link.href = URL.createObjectURL(blob);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function saveSvg(event, figure) {
    if (!isMoved(figure)) return; // the link leads to the printed picture
    event.preventDefault();
    const text = new XMLSerializer().serializeToString(movedSvg(figure));
    give(new Blob([text], { type: "image/svg+xml" }), movedName(event.currentTarget.download));
  }

  // The drawing at three times its size, on its ground; no drawing leaves the browser.
  function savePng(button) {
    const figure = button.closest("figure");
    const moved = isMoved(figure) ? movedSvg(figure) : null;
    const picture = moved || figure.querySelector("img.ntp-in-light");
    const name = moved ? movedName(button.dataset.name) : button.dataset.name;
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 3 * Number(picture.getAttribute("width"));
      canvas.height = 3 * Number(picture.getAttribute("height"));
      const pen = canvas.getContext("2d");
      pen.fillStyle = "white";
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => give(blob, name), "image/png");
    };
    const text = moved && new XMLSerializer().serializeToString(moved);
    image.src = moved ? `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}` : picture.src;
  }

  // One figure on the whole screen, as a projector needs it; Escape leads back.
  function showAlone(figure) {
    const dialog = part("dialog", "ntp-stage");
    const close = part("button", "", "Close");
    const caption = figure.querySelector("figcaption p");
    const moved = figure.querySelector(".ntp-drawn > svg");
    dialog.setAttribute("aria-label", "One figure alone");
    close.type = "button";
    close.addEventListener("click", () => dialog.close());
    if (figure.classList.contains("ntp-moved") && moved) {
      const room = part("div", "ntp-drawn");
      room.append(...[...figure.querySelector(".ntp-drawn").children].map((one) => one.cloneNode(true)));
      room.querySelectorAll("[id]").forEach((one) => one.removeAttribute("id"));
      room.querySelectorAll("[clip-path]").forEach((one) => one.removeAttribute("clip-path"));
      dialog.append(room);
    } else {
      dialog.append(...[...figure.querySelectorAll("img")].map((one) => one.cloneNode()));
    }
    dialog.querySelectorAll("img").forEach((one) => one.removeAttribute("loading"));
    if (caption) {
      const words = caption.cloneNode(true);
      words.querySelectorAll(".headerlink").forEach((one) => one.remove());
      dialog.append(words);
    }
    dialog.append(close);
    dialog.addEventListener("close", () => {
      dialog.remove();
      figure.querySelector(".ntp-alone").focus();
    });
    document.body.append(dialog);
    dialog.showModal();
  }

  // A link to a page with ?alone=fig-... begins with that figure on the whole screen.
  function startAlone() {
    const wanted = new URLSearchParams(location.search).get("alone");
    const figure = wanted && document.getElementById(wanted);
    if (figure && figure.querySelector(".ntp-alone")) showAlone(figure);
  }

  function offer(figure) {
    const png = figure.querySelector(".ntp-png");
    if (!png) return;
    const svg = figure.querySelector(".ntp-save a");
    svg.addEventListener("click", (event) => saveSvg(event, figure));
    // A drawing of a page opened as a file may be shown, but a script may not read it.
    if (location.protocol === "file:") png.remove();
    else png.addEventListener("click", () => savePng(png));
    figure.querySelector(".ntp-alone").addEventListener("click", () => showAlone(figure));
  }

  // On a phone a picture keeps its size and scrolls in its own box, by the keyboard, too.
  function letScroll(figure) {
    new ResizeObserver(() => {
      if (figure.scrollWidth > figure.clientWidth) figure.tabIndex = 0;
      else figure.removeAttribute("tabindex");
    }).observe(figure);
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("form.ntp-moves").forEach(start);
    document.querySelectorAll(".bd-article figure").forEach(letScroll);
    document.querySelectorAll(".bd-article figure").forEach(offer);
    startAlone();
  });
})();
