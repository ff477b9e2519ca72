// The search of pages that were opened without a server. There the theme can neither fetch its
// index nor start its worker: the index is a script, and the worker is a script in a frame.
"use strict";

if (location.protocol === "file:") {
  const index = document.createElement("script");
  index.src = document.currentScript.dataset.index;
  // The scripts of the theme come later in the page: they need the index.
  document.write(index.outerHTML);

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.started = new Promise((resolve) => {
        const script = inside.document.createElement("script");
        script.src = new URL(url, location);
        script.onload = () => resolve(inside);
        inside.document.body.append(script);
      });
    }

    postMessage(data) {
      this.started.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
