// What the theme leaves to Bootstrap, as far as this book uses it: menus that open, and the mark at
// the part of the page that is being read. And parts that scroll can be reached by the keyboard,
// and what is large in folded cards is fetched when the reader opens the first of them.
(() => {
  "use strict";
  const ready = (work) =>
    document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", work) : work();

  const menus = () => {
    const all = [...document.querySelectorAll('[data-bs-toggle="dropdown"]')];
    const set = (button, open) => {
      button.setAttribute("aria-expanded", String(open));
      button.nextElementSibling.classList.toggle("show", open);
    };
    for (const button of all) {
      button.addEventListener("click", () => {
        const open = button.getAttribute("aria-expanded") !== "true";
        for (const other of all) set(other, other === button && open);
      });
    }
    document.addEventListener("click", (event) => {
      for (const button of all) if (!button.parentElement.contains(event.target)) set(button, false);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      for (const button of all) {
        if (button.getAttribute("aria-expanded") !== "true") continue;
        set(button, false);
        button.focus();
      }
    });
  };

  const marks = () => {
    const links = new Map();
    for (const link of document.querySelectorAll(".bd-toc-nav a[href^='#']")) {
      const part = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      if (part) links.set(part, link);
    }
    const seen = new Set();
    const watcher = new IntersectionObserver((changes) => {
      for (const change of changes) {
        if (change.isIntersecting) seen.add(change.target);
        else seen.delete(change.target);
      }
      const last = [...links.keys()].filter((part) => seen.has(part)).pop();
      if (!last) return;
      for (const [part, link] of links) {
        const now = part === last || part.contains(last);
        link.classList.toggle("active", now);
        link.parentElement.classList.toggle("active", now);
      }
    }, { rootMargin: "0px 0px -60%" });
    for (const part of links.keys()) watcher.observe(part);
  };

  // Wide formulas, tables and code scroll by themselves; whoever has no mouse must get there.
  const SCROLLING = "div.math, pre, .ntp-wide, table.table, .cell_output > .output, .bd-sidebar";
  const reach = () => {
    for (const part of document.querySelectorAll(SCROLLING)) {
      const wide = part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1;
      const scrolls = wide && getComputedStyle(part).overflow !== "visible";
      if (scrolls) part.tabIndex = 0;
      else if (part.getAttribute("role") !== "region") part.removeAttribute("tabindex");
    }
  };

  // Of the folds of cards, drawings and listings come when the first fold opens. Cells that run
  // again take cards away and bring them back, so that what waits is looked up each time.
  const rests = () => {
    const waiting = () => [...document.querySelectorAll(".ntp-later[data-part]")];
    let parts = null;
    let asked = false;
    const fill = () => {
      for (const one of waiting()) one.outerHTML = parts[one.dataset.part];
      copies();
      document.documentElement.dataset.drawn = "true";
    };
    window.ntpLater = (found) => {
      parts = found;
      fill();
    };
    const fetchAll = () => {
      const first = waiting()[0];
      if (!first) return;
      if (parts) fill();
      if (asked) return;
      asked = true;
      const script = document.createElement("script");
      script.src = first.dataset.later;
      document.head.append(script);
    };
    document.addEventListener("toggle", (event) => {
      if (event.target.querySelector(".ntp-later")) fetchAll();
    }, true);
    window.addEventListener("beforeprint", fetchAll);
  };

  // The field that opens on every page answers as one types: its script comes with its first use.
  const search = () => {
    const field = document.querySelector(".search-button__wrapper input[name=q]");
    if (!field || document.getElementById("search-results")) return; // that page has the script
    const root = document.documentElement.dataset.content_root || "./";
    field.addEventListener("focus", () => {
      for (const name of ["statements.js", "find.js"]) {
        const script = document.createElement("script");
        script.src = `${root}_static/${name}`;
        script.async = false; // in this order
        document.head.append(script);
      }
    }, { once: true });
  };

  // A button at every piece of code that copies it.
  const copies = () => {
    for (const code of document.querySelectorAll("div.highlight pre")) {
      if (code.parentElement.querySelector(".ntp-copy")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "ntp-copy";
      button.textContent = "copy";
      button.addEventListener("click", async () => {
        const text = code.textContent;
        try {
          await navigator.clipboard.writeText(text);
          button.textContent = "copied";
        } catch {
          getSelection().selectAllChildren(code); // no right to copy: then it is marked, at least
          button.textContent = "press Ctrl+C";
        }
        setTimeout(() => { button.textContent = "copy"; }, 2000);
      });
      code.parentElement.append(button);
    }
  };

  ready(() => {
    menus();
    copies();
    rests();
    search();
    marks();
    new ResizeObserver(reach).observe(document.body);
  });
})();
