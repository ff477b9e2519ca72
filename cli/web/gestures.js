// Pointer, wheel and keys on the timeline.
'use strict';

rowlock.Gestures = (() => {
  const dragBegins = 4;

  return class Gestures {
    constructor(timeline) {
      this.timeline = timeline;
      this.pointers = new Map();
      this.drag = null;
      this.listen();
    }

    listen() {
      const { timeline } = this;
      const { root, canvas } = timeline;
      root.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
      root.addEventListener('keydown', (event) => this.key(event));
      canvas.addEventListener('pointerdown', (event) => this.press(event));
      canvas.addEventListener('pointermove', (event) => this.move(event));
      canvas.addEventListener('pointerup', (event) => this.lift(event));
      canvas.addEventListener('pointercancel', (event) => this.pointers.delete(event.pointerId));
      canvas.addEventListener('pointerleave', () => this.leave());
      canvas.addEventListener('dblclick', (event) =>
        timeline.zoom(0.4, timeline.timeAt(event.clientX), true),
      );
      const button = (id, pressed) =>
        document.getElementById(id).addEventListener('click', pressed);
      button('earlier', () => timeline.pan(-0.4, true));
      button('later', () => timeline.pan(0.4, true));
      button('zoom-in', () => timeline.zoom(0.5, timeline.focus(), true));
      button('zoom-out', () => timeline.zoom(2, timeline.focus(), true));
      button('zoom-reset', () => timeline.reset());
    }

    wheel(event) {
      const { timeline } = this;
      const isOnAxis = !timeline.scroller.contains(event.target);
      if (event.ctrlKey || event.metaKey || isOnAxis) {
        event.preventDefault();
        const lines = event.deltaMode === 1 ? 20 : 1;
        const change = Math.max(-240, Math.min(240, event.deltaY * lines));
        timeline.zoom(1.0025 ** change, timeline.timeAt(event.clientX));
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        timeline.pan((event.deltaX || event.deltaY) / timeline.width);
      }
    }

    press(event) {
      if (event.button !== 0) return;
      this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      this.drag = { x: event.clientX, y: event.clientY, hasMoved: false };
    }

    move(event) {
      const { timeline } = this;
      const before = this.pointers.get(event.pointerId);
      if (!before) {
        this.hover(event);
        return;
      }
      const at = { x: event.clientX, y: event.clientY };
      if (this.pointers.size === 2) {
        this.pinch(event.pointerId, before, at);
      } else if (
        this.drag.hasMoved ||
        Math.hypot(at.x - this.drag.x, at.y - this.drag.y) > dragBegins
      ) {
        if (!this.drag.hasMoved) {
          this.drag.hasMoved = true;
          timeline.canvas.setPointerCapture(event.pointerId);
          if (!timeline.details.isKept) timeline.details.hide();
          timeline.root.classList.add('is-dragged');
        }
        timeline.pan((before.x - at.x) / timeline.width);
        // A finger scrolls the lanes by itself.
        if (event.pointerType !== 'touch') timeline.scroller.scrollTop += before.y - at.y;
      } else {
        return;
      }
      this.pointers.set(event.pointerId, at);
    }

    /** Two fingers: the times under them stay under them. */
    pinch(moved, before, at) {
      const { timeline } = this;
      this.drag.hasMoved = true;
      const [, other] = [...this.pointers].find(([id]) => id !== moved);
      const distance = (point) => Math.max(10, Math.abs(point.x - other.x));
      timeline.zoom(distance(before) / distance(at), timeline.timeAt((at.x + other.x) / 2));
      timeline.pan((before.x - at.x) / 2 / timeline.width);
    }

    lift(event) {
      const { timeline } = this;
      const wasPressed = this.pointers.delete(event.pointerId);
      timeline.root.classList.remove('is-dragged');
      if (!wasPressed || !this.drag || this.drag.hasMoved) return;
      const found = timeline.itemAt(event.clientX, event.clientY);
      if (found) {
        timeline.selected = found.item;
        timeline.details.announce(found.item, rowlock.clock.now());
        timeline.details.show(found.item, event.clientX, event.clientY, rowlock.clock.now(), {
          isKept: true,
          others: found.others,
        });
      } else {
        timeline.selected = null;
        timeline.details.hide();
      }
      timeline.schedule();
    }

    hover(event) {
      const { timeline } = this;
      if (event.pointerType === 'touch' || timeline.details.isKept) return;
      const found = timeline.itemAt(event.clientX, event.clientY);
      timeline.root.classList.toggle('is-over-item', Boolean(found));
      if (found) {
        timeline.details.show(found.item, event.clientX, event.clientY, rowlock.clock.now(), {
          others: found.others,
        });
      } else {
        timeline.details.hide();
      }
    }

    leave() {
      const { timeline } = this;
      if (!timeline.details.isKept && this.pointers.size === 0) timeline.details.hide();
    }

    key(event) {
      const { timeline } = this;
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const page = Math.max(1, Math.floor(timeline.height / timeline.laneHeight) - 1);
      const actions = {
        ArrowLeft: () => (event.shiftKey ? timeline.pan(-0.2) : timeline.step(-1, 0)),
        ArrowRight: () => (event.shiftKey ? timeline.pan(0.2) : timeline.step(1, 0)),
        ArrowUp: () => timeline.step(0, -1),
        ArrowDown: () => timeline.step(0, 1),
        PageUp: () => timeline.step(0, -page),
        PageDown: () => timeline.step(0, page),
        Home: () => timeline.step(-Infinity, 0),
        End: () => timeline.step(Infinity, 0),
        '+': () => timeline.zoom(0.5, timeline.focus(), true),
        '=': () => timeline.zoom(0.5, timeline.focus(), true),
        '-': () => timeline.zoom(2, timeline.focus(), true),
        0: () => timeline.reset(),
        Enter: () => timeline.keep(),
        Escape: () => timeline.close(),
      };
      const action = actions[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    }
  };
})();
