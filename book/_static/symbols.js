// A button in the head of an evidence page shows what its symbols mean, wherever the reader is: the
// paragraphs with which the page begins, and those rows of the page on notation whose symbols stand on
// this page. The rows come as a script of their own, which works for pages opened as files, too.
(() => {
  "use strict";
  const ROOT = document.documentElement.dataset.content_root || "./";
  const ROWS = `${ROOT}_static/previews/symbols.js`;
  const ALL = `${ROOT}book/notation.html`;
  const SETTING = "#setting, #notation, #setting-and-notation";
  // Both papers use some letters; a page on one of them wants its own.
  const TIAN = /Tian et al/;
  const page = location.pathname.split("/").pop();
  const wanted = part =>
    page.startsWith("huang2024") ? !TIAN.test(part) : !page.startsWith("tian2023") || TIAN.test(part);

  const signsOn = article => {
    const found = new Set();
    for (const one of article.querySelectorAll("math, mi, msub, msup, msubsup, mover")) found.add(one.textContent.trim());
    return found;
  };

  const opening = top => {
    const setting = top.querySelector(SETTING);
    const parts = [...top.children, ...(setting?.children ?? [])].filter(
      one => one.matches("p, ul, ol, div.math-wrapper, div.ntp-equation, dl") && one.querySelector("math")
    );
    return parts.map(part => {
      const copy = part.cloneNode(true);
      for (const one of [copy, ...copy.querySelectorAll("[id]")]) one.removeAttribute("id");
      for (const one of copy.querySelectorAll(".headerlink, .ntp-equation-place")) one.remove();
      return copy;
    });
  };

  const rowsHere = (html, signs) => {
    const box = document.createElement("template");
    box.innerHTML = html;
    for (const part of box.content.querySelectorAll("tbody")) {
      for (const row of part.querySelectorAll("tr[data-row]")) {
        const known = [...row.cells[0].querySelectorAll("math")].some(one => signs.has(one.textContent.trim()));
        if (!known || !wanted(part.dataset.part)) row.remove();
      }
      if (!part.querySelector("tr[data-row]")) part.remove();
    }
    return box.content.querySelector("tbody") ? box.content : null;
  };

  const heading = text => {
    const line = document.createElement("p");
    line.className = "ntp-symbols-head";
    line.textContent = text;
    return line;
  };

  document.addEventListener("DOMContentLoaded", () => {
    const place = document.querySelector(".bd-header-article .header-article-items__start");
    const article = document.querySelector("article.bd-article");
    const top = article?.querySelector("section");
    if (!place || !top) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-sm ntp-symbols-button";
    button.textContent = "Symbols";
    button.title = "What the symbols on this page mean";
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", "ntp-symbols");
    const panel = document.createElement("div");
    panel.id = "ntp-symbols";
    panel.className = "ntp-symbols bd-article";
    panel.setAttribute("role", "region");
    panel.setAttribute("aria-label", "Symbols on this page");
    panel.tabIndex = 0;
    panel.hidden = true;
    place.append(button);
    place.closest(".bd-header-article").append(panel);

    const fill = () => {
      const signs = signsOn(article);
      const own = opening(top);
      if (own.length) panel.append(heading("As this page begins"), ...own);
      const more = document.createElement("p");
      more.innerHTML = `<a href="${ALL}">All symbols</a>`;
      panel.append(more);
      window.ntpSymbols = html => {
        const found = rowsHere(html, signs);
        if (found) more.before(heading("In the whole book"), found);
      };
      const script = document.createElement("script");
      script.src = ROWS;
      document.head.append(script);
    };
    const show = open => {
      if (open && !panel.childElementCount) fill();
      panel.hidden = !open;
      button.setAttribute("aria-expanded", String(open));
    };
    button.addEventListener("click", () => show(panel.hidden));
    document.addEventListener("keydown", event => {
      if (event.key !== "Escape" || panel.hidden) return;
      if (panel.contains(document.activeElement)) button.focus();
      show(false);
    });
    document.addEventListener("click", event => {
      if (!panel.hidden && !panel.contains(event.target) && event.target !== button) show(false);
    });
  });
})();
