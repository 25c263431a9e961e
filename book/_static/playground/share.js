// The text of the reader in the address of the page: written, and read back with care.
"use strict";
window.ntpPlayground = window.ntpPlayground || {};

(function (pg) {
  pg.LONGEST_TEXT = 20000;
  pg.LONGEST_SENTENCE = 500;
  pg.LONGEST_MAP = 60000;
  pg.FORMS = ["text", "chars", "jsonl"];
  const NOTHING = "Nothing was restored from it.";

  pg.encode = (state) => {
    const parts = [["form", state.form]];
    if (state.sentence) parts.push(["sentence", state.sentence]);
    if (state.edits !== undefined) parts.push(["next", state.edits]);
    parts.push(["text", state.text]);
    return "#" + parts.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
  };

  // The state that an address holds; null if it holds none. Throws an Error with a sentence.
  pg.decode = (hash, presets) => {
    const fragment = hash.replace(/^#/, "");
    if (!fragment) return null;
    if (!fragment.includes("=")) {
      if (document.getElementById(decoded(fragment))) return null;
      throw new Error(`The address ends in a place that this page does not have. ${NOTHING}`);
    }
    const found = {};
    for (const part of fragment.split("&")) {
      const at = part.indexOf("=");
      const key = at < 0 ? part : part.slice(0, at);
      if (at < 0 || !["preset", "form", "text", "sentence", "next"].includes(key) || key in found) {
        throw new Error(
          "The address is not one that this page wrote: after # it needs a form and a text, " +
            `or a preset, each once. ${NOTHING}`
        );
      }
      found[key] = decoded(part.slice(at + 1));
    }
    return "preset" in found ? fromPreset(found, presets) : checked(found);
  };

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      throw new Error(`The address is damaged: a part of it was cut off or changed. ${NOTHING}`);
    }
  }

  function fromPreset(found, presets) {
    const preset = presets.find((one) => one.name === found.preset);
    if (!preset || Object.keys(found).length > 1) {
      const names = presets.map((one) => one.name).join(", ");
      throw new Error(`The address names a preset that there is not; there are ${names}. ${NOTHING}`);
    }
    return { form: preset.form, text: preset.text, sentence: "" };
  }

  function checked(found) {
    const { form, text, sentence = "", next } = found;
    if (text === undefined || !pg.FORMS.includes(form)) {
      throw new Error(
        `The address must name a text, and its form as one of ${pg.FORMS.join(", ")}. ${NOTHING}`
      );
    }
    const lengths = [text.length > pg.LONGEST_TEXT, sentence.length > pg.LONGEST_SENTENCE, (next || "").length > pg.LONGEST_MAP];
    if (lengths.includes(true)) {
      throw new Error(`The address holds more text than this page takes. ${NOTHING}`);
    }
    return { form, text, sentence, edits: next };
  }
})(window.ntpPlayground);
