// Parts of a page out of data. Texts become text nodes, so that no token is ever read as HTML.
"use strict";
window.ntpPlayground = window.ntpPlayground || {};

(function (pg) {
  const SVG = "http://www.w3.org/2000/svg";
  let counter = 0;

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "onclick") node.addEventListener("click", value);
      else if (value !== null && value !== undefined && value !== false) {
        node.setAttribute(name, value === true ? "" : String(value));
      }
    }
    for (const child of children.flat(Infinity)) {
      if (child !== null && child !== undefined && child !== false) node.append(child);
    }
    return node;
  }

  pg.el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  pg.svg = (tag, attributes, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);
  pg.token = (text) => pg.el("bdi", { class: "pg-token" }, text);
  pg.id = (name) => `pg-${name}-${++counter}`;
  pg.count = (number, one, many) => `${number} ${number === 1 ? one : many}`;

  // Tokens with commas between them.
  pg.tokens = (texts) => texts.flatMap((text, at) => (at ? [", ", pg.token(text)] : [pg.token(text)]));

  // Something wide that scrolls by itself, by keyboard, too.
  pg.wide = (label, content) =>
    pg.el("div", { class: "pg-wide", tabindex: "0", role: "region", "aria-label": label }, content);

  pg.table = (caption, head, rows, rowHeads) =>
    pg.el(
      "table",
      { class: "pg-table" },
      pg.el("caption", null, caption),
      pg.el("thead", null, pg.el("tr", null, head.map((cell) => pg.el("th", { scope: "col" }, cell)))),
      pg.el(
        "tbody",
        null,
        rows.map((row) =>
          pg.el(
            "tr",
            null,
            row.map((cell, at) =>
              rowHeads && at === 0
                ? pg.el("th", { scope: "row" }, cell)
                : pg.el("td", null, cell)
            )
          )
        )
      )
    );
})(window.ntpPlayground);
