// The drawing of an order as SVG: boxes for tokens, upper ones above lower ones.
"use strict";
window.ntpPlayground = window.ntpPlayground || {};

(function (pg) {
  const HEIGHT = 30;

  function line(points, back, marker) {
    if (!back) {
      const path = points.map(([x, y], at) => {
        const shift = at === 0 ? HEIGHT / 2 : at === points.length - 1 ? -HEIGHT / 2 : 0;
        return `${at ? "L" : "M"}${x},${y + shift}`;
      });
      return pg.svg("path", { class: "pg-line", d: path.join(" ") });
    }
    const [[x1, y1], [x2, y2]] = points;
    const bend = Math.min(x1, x2) - 40;
    return pg.svg("path", {
      class: "pg-line pg-back",
      d: `M${x1},${y1 - HEIGHT / 2} Q${bend},${(y1 + y2) / 2} ${x2},${y2 + HEIGHT / 2 + 3}`,
      "marker-end": `url(#${marker})`,
    });
  }

  function box(node) {
    return pg.svg(
      "g",
      { class: `pg-node pg-${node.role}` },
      pg.svg("rect", {
        x: node.x - node.width / 2,
        y: node.y - HEIGHT / 2,
        width: node.width,
        height: HEIGHT,
        rx: node.role === "optimal" ? HEIGHT / 2 : 2,
      }),
      pg.svg("text", { x: node.x, y: node.y, dy: "0.35em", direction: "ltr" }, node.label)
    );
  }

  // `words` tells the same to who does not see it.
  pg.draw = (drawing, words) => {
    const marker = pg.id("arrow");
    const left = drawing.lines.some((one) => one.back) ? 40 : 0; // room for bends
    return pg.svg(
      "svg",
      {
        class: "pg-order",
        role: "img",
        "aria-label": words,
        viewBox: `${-left} 0 ${drawing.width + left} ${drawing.height}`,
        width: drawing.width + left,
        height: drawing.height,
      },
      pg.svg(
        "defs",
        null,
        pg.svg(
          "marker",
          { id: marker, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 8, markerHeight: 8, orient: "auto" },
          pg.svg("path", { class: "pg-arrow", d: "M0,0 L10,5 L0,10 z" })
        )
      ),
      drawing.lines.map((one) => line(one.points, one.back, marker)),
      drawing.nodes.map(box)
    );
  };
})(window.ntpPlayground);
