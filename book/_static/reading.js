// Small comforts of reading: what a link leads into opens, paper shows all that folds, links to
// equations and texts of reports can be copied. Without scripts everything is still there.
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
