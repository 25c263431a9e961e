// Small comforts of reading: what a link leads into opens, paper shows all that folds, links to
// equations and texts of reports can be copied, and formulas in one line with their words. Without
// scripts everything is still there.
(() => {
  "use strict";

  const openAround = element => {
    for (let one = element?.closest("details"); one; one = one.parentElement?.closest("details")) {
      one.open = true;
    }
  };
  const openTarget = () => {
    const target = document.querySelector(":target"); // the playground's fragments name no element
    if (!target?.closest("details:not([open])")) return;
    openAround(target);
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", openTarget);
  document.addEventListener("DOMContentLoaded", openTarget);

  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:is(.ntp-proof, .ntp-fold):not([open])")];
    closed.forEach(one => { one.open = true; });
  });
  window.addEventListener("afterprint", () => closed.forEach(one => { one.open = false; }));

  // The clipboard of pages opened as files or over plain http may be closed to scripts.
  const copy = async text => {
    if (navigator.clipboard && window.isSecureContext) {
      try {
        await navigator.clipboard.writeText(text);
        return true;
      } catch { /* not allowed: the older way below */ }
    }
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "ntp-offscreen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };

  // Browsers copy every sign of a formula as a line of its own, and no power of ten as one.
  const POWERS = { "−": "⁻" };
  [..."⁰¹²³⁴⁵⁶⁷⁸⁹"].forEach((sign, digit) => { POWERS[digit] = sign; });
  const group = text => (text.length > 1 ? `(${text})` : text);
  const inALine = node => {
    if (!node.children.length) return node.textContent;
    const parts = [...node.children].map(inALine);
    const [base, first, second] = parts;
    const power = text => (/^[−\d]+$/.test(text) ? [...text].map(sign => POWERS[sign]).join("") : `^${group(text)}`);
    if (first === undefined) return base;
    if (node.localName === "msup") return base + power(first);
    if (node.localName === "msub") return `${base}_${group(first)}`;
    if (node.localName === "msubsup") return `${base}_${group(first)}${power(second)}`;
    if (node.localName === "mfrac") return `${group(base)}/${group(first)}`;
    return parts.join("");
  };
  document.addEventListener("copy", event => {
    const selection = getSelection();
    const part = selection.rangeCount ? selection.getRangeAt(0).cloneContents() : null;
    if (!part?.querySelector("math")) return;
    for (const formula of part.querySelectorAll("math")) formula.replaceWith(inALine(formula));
    const box = document.createElement("div");
    box.className = "ntp-offscreen";
    box.append(part);
    for (const link of box.querySelectorAll("a[href]")) link.setAttribute("href", link.href);
    (document.querySelector("article") ?? document.body).append(box); // text is told as it would show
    event.clipboardData.setData("text/plain", box.innerText);
    event.clipboardData.setData("text/html", box.innerHTML);
    box.remove();
    event.preventDefault();
  });

  let voice = null;
  const say = text => {
    if (!voice) {
      voice = document.createElement("div");
      voice.className = "ntp-voice";
      voice.setAttribute("role", "status");
      document.body.append(voice);
    }
    voice.textContent = text;
    clearTimeout(say.timer);
    say.timer = setTimeout(() => { voice.textContent = ""; }, 2500);
  };

  // A title shows under a pointer only; a tap writes the origin of a number behind it.
  document.addEventListener("click", event => {
    event.target.closest?.(".ntp-result")?.classList.toggle("ntp-explained");
  });

  document.addEventListener("click", async event => {
    const link = event.target.closest?.("a.ntp-copy-link");
    if (link) {
      if (await copy(link.href)) say("The link is copied.");
      return;
    }
    const button = event.target.closest?.("button.ntp-copy-text");
    if (!button) return;
    const report = button.closest(".ntp-report");
    const done = await copy(report.querySelector("pre").textContent);
    report.querySelector(".ntp-copied").textContent =
      done ? "Copied." : "Your browser does not allow that; mark the text and copy it.";
    button.focus();
  });
  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("button.ntp-copy-text")) button.hidden = false;
  });
})();
