// One worker, one request at a time, a time limit for each, and a way to stop.
"use strict";
window.ntpPlayground = window.ntpPlayground || {};

(function (pg) {
  pg.Engine = class {
    // `told` is called with {kind: "load" | "train", done, total} and {kind: "ready"}.
    constructor(address, told) {
      this.address = address;
      this.told = told;
      this.worker = null;
      this.ready = false;
      this.waiting = null;
      this.number = 0;
    }

    // The answer to a request, as an object; rejected with an Error whose `reason` tells why.
    run(request, seconds) {
      this.number += 1;
      const number = this.number;
      if (!this.worker) this.start();
      return new Promise((resolve, reject) => {
        this.waiting = { number, resolve, reject, seconds, clock: null };
        if (this.ready) this.wind();
        this.worker.postMessage({ ...request, number });
      });
    }

    get busy() {
      return this.waiting !== null;
    }

    // Load the engine before anything is asked of it; what goes wrong is told when it is asked.
    prepare() {
      if (!this.worker) this.start();
    }

    start() {
      this.worker = new Worker(this.address, { type: "module" });
      this.worker.onmessage = ({ data }) => this.hear(data);
      this.worker.onerror = (event) => {
        event.preventDefault();
        this.end("failed", event.message || "the engine could not be loaded");
      };
    }

    // The clock starts when the engine is there: loading takes as long as the line needs.
    wind() {
      const waiting = this.waiting;
      waiting.clock = setTimeout(() => this.end("late", ""), waiting.seconds * 1000);
    }

    hear(data) {
      if (data.kind === "failed") this.end("failed", data.message);
      else if (data.kind !== "answer") {
        if (data.kind === "ready") {
          this.ready = true;
          if (this.waiting) this.wind();
        }
        this.told(data);
      } else if (this.waiting && data.number === this.waiting.number) {
        const waiting = this.waiting;
        this.waiting = null;
        clearTimeout(waiting.clock);
        waiting.resolve(JSON.parse(data.text));
      }
    }

    // Ends the worker and with it whatever it was doing.
    end(reason, message) {
      if (this.worker) this.worker.terminate();
      this.worker = null;
      this.ready = false;
      const waiting = this.waiting;
      this.waiting = null;
      if (!waiting) return;
      clearTimeout(waiting.clock);
      waiting.reject(Object.assign(new Error(message), { reason }));
    }
  };
})(window.ntpPlayground);
