// A link to a statement or to a term shows what it says: under the pointer, or when the keyboard
// moves to it. What it says comes as a script of its own, when it is first wanted, so that this works
// for pages opened as files, too. Escape closes it; the pointer may move onto it.
(() => {
  "use strict";
  const ROOT = document.documentElement.dataset.content_root || "./";
  const FOLDER = `${ROOT}_static/previews/`;
  const LABEL = /^#(?:verdict-)?((?:[a-z]+\d{4}|ours|term)-[\w-]+)$/;
  const OPEN_AFTER = 250, CLOSE_AFTER = 300; // milliseconds
  const known = new Map(); // from the name of a script to a promise of what it holds
  const waiting = new Map();
  let box = null, shownFor = null, timer = 0, focused = null;

  const load = source => new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = done;
    script.onerror = failed;
    document.head.append(script);
  });

  window.ntpPreview = (name, html) => waiting.get(name)?.(html);

  const fetchPreview = name => {
    if (!known.has(name)) {
      known.set(name, new Promise((done, failed) => {
        waiting.set(name, done);
        load(`${FOLDER}${name}.js`).catch(failed);
      }));
    }
    return known.get(name);
  };

  // Pages without formulas of their own do not have the style sheet for them.
  const styleFormulas = () => {
    if (!box.querySelector("math") || document.querySelector('link[href*="maths.css"]')) return;
    const style = document.createElement("link");
    style.rel = "stylesheet";
    style.href = `${ROOT}_static/maths.css`;
    style.onload = () => { if (shownFor) place(shownFor); };
    document.head.append(style);
  };

  // The name of what a link leads to, if a preview of it helps: not for what is in view already.
  const nameOf = link => {
    const address = link.getAttribute("href");
    if (!address || link.matches(".headerlink, .ntp-preview a")) return null;
    const at = address.indexOf("#");
    const found = at >= 0 && LABEL.exec(address.slice(at));
    const here = `p.admonition-title[id="${found?.[1]}"], [id="verdict-${found?.[1]}"]`;
    if (!found || link.closest(here)) return null;
    return found[1];
  };

  const place = link => {
    const at = link.getBoundingClientRect();
    const room = document.documentElement.clientWidth;
    const width = Math.min(560, room - 24);
    box.style.width = `${width}px`;
    const left = Math.max(12, Math.min(at.left, room - width - 12));
    box.style.left = `${left + window.scrollX}px`;
    const height = box.offsetHeight;
    const above = at.top > height + 16 && at.bottom + height + 8 > window.innerHeight;
    const top = above ? at.top - height - 6 : at.bottom + 6;
    box.style.top = `${top + window.scrollY}px`;
  };

  const close = () => {
    clearTimeout(timer);
    if (!shownFor) return;
    const others = (shownFor.getAttribute("aria-describedby") || "").split(" ");
    const kept = others.filter(id => id && id !== box.id).join(" ");
    if (kept) shownFor.setAttribute("aria-describedby", kept);
    else shownFor.removeAttribute("aria-describedby");
    shownFor = null;
    box.hidden = true;
  };

  const makeBox = () => {
    box = document.createElement("div");
    box.id = "ntp-preview";
    box.className = "ntp-preview bd-article";
    box.setAttribute("role", "tooltip");
    box.hidden = true;
    box.addEventListener("mouseenter", () => clearTimeout(timer));
    box.addEventListener("mouseleave", closeSoon);
    document.body.append(box);
  };

  let wanted = null;
  const open = async link => {
    const name = nameOf(link);
    if (!name || shownFor === link) return;
    wanted = link;
    let html;
    try {
      html = await fetchPreview(name);
    } catch {
      return; // a link that leads to nothing known is still a link
    }
    if (wanted !== link) return;
    if (!box) makeBox();
    close();
    box.innerHTML = html;
    box.hidden = false;
    box.scrollTop = 0;
    shownFor = link;
    link.setAttribute("aria-describedby", box.id);
    if (link.title) { // the browser's own tip would lie above it
      link.dataset.title = link.title;
      link.removeAttribute("title");
      if (!link.textContent.trim()) link.setAttribute("aria-label", link.dataset.title);
    }
    styleFormulas();
    place(link);
  };

  const closeSoon = () => {
    clearTimeout(timer);
    wanted = focused;
    timer = setTimeout(() => { if (!focused || shownFor !== focused) close(); }, CLOSE_AFTER);
  };

  const linkOf = event => event.target.closest?.("a[href]");

  if (window.matchMedia("(any-hover: hover)").matches) {
    document.addEventListener("mouseover", event => {
      const link = linkOf(event);
      if (!link || !nameOf(link)) return;
      clearTimeout(timer);
      timer = setTimeout(() => open(link), OPEN_AFTER);
    });
    document.addEventListener("mouseout", event => {
      const link = linkOf(event);
      if (link && !link.contains(event.relatedTarget)) closeSoon();
    });
  }
  document.addEventListener("focusin", event => {
    const link = linkOf(event);
    focused = link && link.matches(":focus-visible") && nameOf(link) ? link : null;
    if (focused) open(focused);
    else if (shownFor && !box.contains(event.target)) close();
  });
  document.addEventListener("focusout", () => { focused = null; closeSoon(); });
  document.addEventListener("keydown", event => {
    if (event.key === "Escape" && shownFor) { wanted = null; close(); }
  });
  document.addEventListener("click", event => {
    if (shownFor && !box.contains(event.target)) { wanted = null; close(); }
  });
})();
