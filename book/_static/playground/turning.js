// Attention over the steps of a training: a slider, and a bar for each token of the sentence.
"use strict";
window.ntpPlayground = window.ntpPlayground || {};

(function (pg) {
  const { el, token } = pg;
  const PACE = 150; // milliseconds between two pictures

  function bar(kind) {
    const inner = el("span", { class: `pg-bar pg-bar-${kind}` });
    const number = el("span", { class: "pg-bar-number" });
    const put = (value) => {
      inner.style.width = `${(100 * value).toFixed(2)}%`;
      number.textContent = value.toFixed(3);
    };
    const node = el("span", { class: "pg-bar-cell" }, el("span", { class: "pg-bar-track", "aria-hidden": "true" }, inner), number);
    return { node, put };
  }

  // The parts of the page, showing the step at which the slider stands.
  pg.showTurning = (view) => {
    const { frames } = view;
    const bars = view.sentence.map(() => ({ now: bar("now"), aim: bar("aim") }));
    const rows = view.sentence.map((word, at) => [
      el("span", null, token(word), el("span", { class: "pg-role" }, ` ${view.roles[at]}`)),
      bars[at].now.node,
      bars[at].aim.node,
    ]);
    const name = pg.id("turning");
    const slider = el("input", { type: "range", id: name, class: "pg-slider", min: 0, max: frames.length - 1, step: 1, value: 0 });
    const read = el("output", { for: name, class: "pg-step", "aria-live": "off" });
    const play = el("button", { type: "button", class: "pg-play" }, "Play");
    let clock = null;

    function show() {
      const [step, attention, aim] = frames[Number(slider.value)];
      bars.forEach((one, at) => {
        one.now.put(attention[at]);
        one.aim.put(aim[at]);
      });
      read.textContent = `step ${step} of ${view.steps}`;
      slider.setAttribute("aria-valuetext", read.textContent);
    }

    function stop() {
      clearInterval(clock);
      clock = null;
      play.textContent = "Play";
    }

    function go() {
      if (Number(slider.value) === frames.length - 1) slider.value = 0;
      play.textContent = "Stop playing";
      show();
      clock = setInterval(() => {
        if (!slider.isConnected) return stop(); // another answer took its place
        slider.value = Number(slider.value) + 1;
        show();
        if (Number(slider.value) === frames.length - 1) stop();
      }, PACE);
    }

    play.addEventListener("click", () => (clock === null ? go() : stop()));
    slider.addEventListener("input", () => {
      stop();
      show();
    });
    show();
    return [
      pg.notes(view),
      el("p", { class: "pg-turning-head" }, el("label", { for: name }, "Training:"), " ", read),
      el("p", { class: "pg-turning-controls" }, slider, play),
      pg.wide(
        "Attention at this step",
        pg.table("Attention over steps", ["token", "trained", "max-margin"], rows, true)
      ),
      el(
        "p",
        null,
        "Trained is the attention after this step of stage 2. Max-margin is the attention of W_kq*, stretched to " +
          "the norm that W_kq has at this step. ",
        view.covered
          ? "As W_kq turns towards W_kq*, the bars of a token draw together."
          : "W_kq* is the exact max-margin solution of the orders that these next tokens give (tokens in a circle share a score). The bars of a token need not draw together, because the paper's theorems do not cover your text."
      ),
    ];
  };
})(window.ntpPlayground);
