// Pointer, wheel and keys on the timeline.
'use strict';

/** How far a pointer that is pressed must move, in pixels, to drag. */
const dragBegins = 4;

class Gestures {
  /** The pointers that are pressed, by their ids. */
  pointers = new Map();
  drag = null;

  constructor(timeline) {
    this.timeline = timeline;
    const { root, canvas } = timeline;
    root.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    root.addEventListener('keydown', (event) => this.key(event));
    canvas.addEventListener('pointerdown', (event) => this.press(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.lift(event));
    canvas.addEventListener('pointercancel', (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener('pointerleave', () => {
      if (!timeline.details.isKept && this.pointers.size === 0) timeline.details.hide();
    });
    canvas.addEventListener('dblclick', (event) =>
      timeline.zoom(0.4, timeline.timeAt(event.clientX), true),
    );
    find('earlier').addEventListener('click', () => timeline.pan(-0.4, true));
    find('later').addEventListener('click', () => timeline.pan(0.4, true));
    find('zoom-in').addEventListener('click', () => timeline.zoomHere(0.5));
    find('zoom-out').addEventListener('click', () => timeline.zoomHere(2));
    find('zoom-reset').addEventListener('click', () => timeline.reset());
  }

  wheel(event) {
    const { timeline } = this;
    const isOnAxis = !timeline.scroller.contains(event.target);
    if (event.ctrlKey || event.metaKey || isOnAxis) {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 20 : 1;
      const change = limited(event.deltaY * lines, -240, 240);
      timeline.zoom(1.0025 ** change, timeline.timeAt(event.clientX));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      timeline.pan((event.deltaX || event.deltaY) / timeline.width);
    }
  }

  press(event) {
    if (event.button !== 0) return;
    const at = { x: event.clientX, y: event.clientY };
    this.pointers.set(event.pointerId, at);
    this.drag = { ...at, hasMoved: false };
  }

  move(event) {
    const { timeline, drag } = this;
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.hover(event);
      return;
    }
    const at = { x: event.clientX, y: event.clientY };
    if (this.pointers.size === 2) {
      this.pinch(event.pointerId, before, at);
    } else {
      if (!drag.hasMoved && Math.hypot(at.x - drag.x, at.y - drag.y) <= dragBegins) return;
      if (!drag.hasMoved) {
        drag.hasMoved = true;
        timeline.canvas.setPointerCapture(event.pointerId);
        if (!timeline.details.isKept) timeline.details.hide();
        timeline.root.classList.add('is-dragged');
      }
      timeline.pan((before.x - at.x) / timeline.width);
      // A finger scrolls the lanes by itself.
      if (event.pointerType !== 'touch') timeline.scroller.scrollTop += before.y - at.y;
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
    if (!wasPressed || this.drag.hasMoved) return;
    timeline.selected = this.showDetails(event, true)?.item ?? null;
    if (timeline.selected) timeline.details.announce(timeline.selected);
    timeline.schedule();
  }

  hover(event) {
    const { root, details } = this.timeline;
    if (event.pointerType === 'touch' || details.isKept) return;
    root.classList.toggle('is-over-item', this.showDetails(event, false) !== null);
  }

  /** Shows the details of the item under the pointer, which is returned, or none. */
  showDetails({ clientX: x, clientY: y }, isKept) {
    const { timeline } = this;
    const found = timeline.itemAt(x, y);
    if (found) timeline.details.show(found.item, { x, y }, { isKept, others: found.others });
    else timeline.details.hide();
    return found;
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
      '+': () => timeline.zoomHere(0.5),
      '=': () => timeline.zoomHere(0.5),
      '-': () => timeline.zoomHere(2),
      0: () => timeline.reset(),
      Enter: () => timeline.keep(),
      Escape: () => timeline.close(),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
  }
}
