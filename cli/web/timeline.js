// The timeline: which part of time and which lanes are visible, and which item is selected.
//
// `data-from`, `data-to` (milliseconds), `data-lanes`, `data-first-lane` and `data-drawn` of its
// element say what is visible; `data-selected-x` and `-y` where the selected item is, in the
// window.
'use strict';

/** The shortest time that may fill the view, in milliseconds. */
const leastSpan = 20;
/** How far from an item, in pixels, a pointer reaches it. */
const grip = 5;
const barPadding = 6;
const isCalm = matchMedia('(prefers-reduced-motion: reduce)');

const limited = (value, least, most) => Math.min(Math.max(value, least), most);

/** Labels of the axis: as coarse as the point in time allows. */
function tickLabel(at) {
  const part = (pattern) => zone.format(pattern, at);
  if (part('%L') !== '000') return part('.%L');
  if (part('%S') !== '00') return part('%H:%M:%S');
  if (part('%H:%M') !== '00:00') return part('%H:%M');
  return part('%-d %b');
}

class Timeline {
  shown = [];
  from = 0;
  to = 1;
  /** What is visible, or will be after the movement that lasts. */
  target = [0, 1];
  isFollowing = true;
  selected = null;
  frame = null;

  /** `choose(lane)` is called when the reader picks a key. */
  constructor(history, filters, choose) {
    this.history = history;
    this.filters = filters;
    this.choose = choose;
    this.root = find('timeline');
    this.scroller = find('lanes');
    this.canvas = find('bars');
    this.details = new Details({
      zoom: (item) => this.zoomTo(item),
      choose: (item) => choose(item.lane),
      close: () => this.close(),
    });
    this.scroller.addEventListener('scroll', () => {
      if (!this.details.isKept && !this.details.isAtItem) this.details.hide();
      this.schedule();
    });
    new ResizeObserver(() => this.schedule()).observe(this.scroller);
  }

  // -- What is visible ----------------------------------------------------------------------------

  /** Begin and end of the chosen range: the view never leaves it. */
  outer() {
    const now = clock.now();
    let { length } = this.filters;
    if (length === Infinity) length = Math.max(60000, now - Math.min(this.history.oldest, now));
    return { from: now - length * 1.005, to: now + length * 0.015 };
  }

  /** Shows the whole range, and what comes. */
  reset() {
    const { from, to } = this.outer();
    this.go(from, to);
  }

  /** Takes over the lanes; the view stays. */
  setLanes(lanes) {
    this.shown = lanes;
    if (this.details.item && !lanes.includes(this.details.item.lane)) this.details.hide();
    this.schedule();
  }

  /** Moves on with the clock. */
  tick() {
    const { from, to } = this.outer();
    if (this.isFollowing && this.to === this.target[1]) {
      const span = this.isWhole ? to - from : this.to - this.from;
      this.target = [to - span, to];
      [this.from, this.to] = this.target;
    }
    this.schedule();
  }

  /** Shows from `from` to `to`, at once or in a short movement. */
  go(from, to, isSmooth = false) {
    const outer = this.outer();
    const span = limited(to - from, leastSpan, outer.to - outer.from);
    const first = limited((from + to - span) / 2, outer.from, outer.to - span);
    const slack = span * 0.002;
    this.target = [first, first + span];
    this.isFollowing = first + span >= outer.to - slack;
    this.isWhole = this.isFollowing && first <= outer.from + slack;
    const path = d3.interpolateArray([this.from, this.to], this.target);
    const move = (part) => {
      [this.from, this.to] = path(part);
      this.schedule();
    };
    const root = d3.select(this.root).interrupt();
    if (!isSmooth || isCalm.matches) move(1);
    else
      root
        .transition()
        .duration(160)
        .ease(d3.easeCubicOut)
        .tween('view', () => move);
  }

  /** Zooms by `factor`; the time `around` stays where it is. */
  zoom(factor, around, isSmooth = false) {
    const [from, to] = this.target;
    this.go(around - (around - from) * factor, around + (to - around) * factor, isSmooth);
  }

  /** Zooms at the selected item, at now, or in the middle. */
  zoomHere(factor) {
    const item = this.selectedItem();
    const middle = item ? (item.begin + endSoFar(item)) / 2 : NaN;
    const otherwise = this.isFollowing ? clock.now() : (this.from + this.to) / 2;
    this.zoom(factor, middle >= this.from && middle <= this.to ? middle : otherwise, true);
  }

  /** Moves the view by a part of its span. */
  pan(part, isSmooth = false) {
    const [from, to] = this.target;
    const by = (to - from) * part;
    this.go(from + by, to + by, isSmooth);
  }

  // -- Drawing ------------------------------------------------------------------------------------

  schedule() {
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  measure() {
    const style = getComputedStyle(this.root);
    const pixels = (name) => parseFloat(style.getPropertyValue(name));
    this.laneHeight = pixels('--lane-height');
    this.labelHeight = pixels('--label-height');
    find('lanes-space').style.height = `${this.shown.length * this.laneHeight}px`;
    this.width = Math.max(50, this.scroller.clientWidth - pixels('--label-width'));
    this.height = this.scroller.clientHeight;
    this.scale = zone.scale().domain([this.from, this.to]).range([0, this.width]);
  }

  draw() {
    this.frame = null;
    this.measure();
    const { canvas, width, height, shown, laneHeight } = this;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const f = frameOn(canvas, width, height, this.scale, this.filters.holder);
    drawGround(f, this.drawAxis(), this.history.loadedFrom);
    const top = this.scroller.scrollTop;
    const first = Math.floor(top / laneHeight);
    const visible = shown.slice(first, Math.ceil((top + height) / laneHeight));
    this.drawLanes(f, visible, first);
    this.drawLabels(visible, first);
    this.publish(first, f.drawn);
  }

  /** Draws the axis, and returns its ticks. */
  drawAxis() {
    const { scale, width } = this;
    const number = Math.max(2, Math.floor(width / 100));
    const axis = d3.axisTop(scale).ticks(number).tickSize(4).tickPadding(5).tickFormat(tickLabel);
    const isAtEdge = (at) => scale(at) < 16 || scale(at) > width - 16;
    d3.select('#axis').attr('width', width);
    // The first and the last label would be cut off at the edges.
    d3.select('#ticks')
      .call(axis)
      .selectAll('.tick text')
      .attr('opacity', (at) => (isAtEdge(at) ? 0 : 1));
    find('axis-day').textContent = `${zone.format('%a %-d %b %Y', this.from)}, ${zone.name()}`;
    return scale.ticks(number);
  }

  laneTop(index) {
    return index * this.laneHeight - this.scroller.scrollTop;
  }

  /** Top and height of the bars of a lane. */
  barBox(index) {
    const top = this.laneTop(index) + this.labelHeight;
    return [top + barPadding, this.laneHeight - this.labelHeight - 2 * barPadding];
  }

  drawLanes(f, visible, first) {
    f.context.fillStyle = colour('line');
    visible.forEach((_, i) =>
      f.context.fillRect(0, Math.round(this.laneTop(first + i + 1)) - 1, this.width, 1),
    );
    visible.forEach((lane, i) => {
      this.history.items(lane);
      drawLane(f, lane, ...this.barBox(first + i));
    });
    const item = this.selectedItem();
    const index = item ? visible.indexOf(item.lane) : -1;
    if (index >= 0) drawSelection(f, item, ...this.barBox(first + index));
  }

  /** Writes the labels of the visible lanes; as many elements as fit, used again and again. */
  drawLabels(visible, first) {
    d3.select('#labels')
      .selectAll('.label')
      .data(visible)
      .join((enter) => enter.append('div').attr('class', 'flex label').on('click', this.choose))
      .style('top', (_, i) => `${this.laneTop(first + i)}px`)
      .classed('label-selected', (lane) => lane === this.selected?.lane)
      .each(function write(lane) {
        show(this, keyOf(lane));
      });
  }

  publish(firstLane, drawn) {
    const { from, to, shown, details } = this;
    const at = this.placeOf(this.selectedItem());
    const visible = { from, to, lanes: shown.length, firstLane, drawn };
    const selected = { selectedX: at?.x ?? '', selectedY: at?.y ?? '' };
    Object.assign(this.root.dataset, visible, selected);
    // The details stay at their item while the view moves.
    if (at && details.isAtItem) details.move(at.x, at.y);
  }

  // -- The selected item --------------------------------------------------------------------------

  /** The selected item as it is now: a new answer makes new items. */
  selectedItem() {
    if (!this.selected) return null;
    const { lane, begin, isHold, how, token } = this.selected;
    if (!this.shown.includes(lane)) return null;
    const items = this.history.items(lane).filter((item) => item.isHold === isHold);
    const same = (item) => item.begin === begin;
    this.selected =
      items.find((item) => same(item) && item.how === how) ??
      items.find(same) ??
      // The begin of a hold that has ended may have been rounded to a millisecond.
      items.find((item) => item.token !== null && item.token === token) ??
      null;
    return this.selected;
  }

  /** The middle of the visible part of an item, in the window. */
  placeOf(item) {
    const index = item ? this.shown.indexOf(item.lane) : -1;
    if (index < 0) return null;
    const box = this.canvas.getBoundingClientRect();
    const left = Math.max(0, this.scale(item.begin));
    const right = Math.min(this.width, this.scale(endSoFar(item)));
    const [top, height] = this.barBox(index);
    return { x: box.left + (left + right) / 2, y: box.top + top + height / 2 };
  }

  select(item, isKept = this.details.isKept) {
    this.selected = item;
    this.reveal(item);
    this.details.announce(item);
    this.measure();
    const at = this.placeOf(item);
    if (at) this.details.show(item, at, { isKept, isAtItem: true });
    this.schedule();
  }

  /** Moves the view so that `item` and its lane are visible. */
  reveal(item) {
    const end = endSoFar(item);
    const span = this.to - this.from;
    if (end < this.from || item.begin > this.to) {
      const centre = end - item.begin < span ? (item.begin + end) / 2 : end;
      this.go(centre - span / 2, centre + span / 2);
    }
    const { scroller, laneHeight } = this;
    const top = this.shown.indexOf(item.lane) * laneHeight;
    scroller.scrollTop = limited(scroller.scrollTop, top + laneHeight - this.height, top);
  }

  /** Shows `item`, with its details, from another part of the page. */
  present(item) {
    if (!this.shown.includes(item.lane)) return;
    this.root.scrollIntoView({ block: 'nearest', behavior: 'instant' });
    this.zoomTo(item);
  }

  zoomTo(item) {
    const end = endSoFar(item);
    const span = Math.max((end - item.begin) * 3, 2000);
    const centre = (item.begin + end) / 2;
    this.go(centre - span / 2, centre + span / 2);
    this.select(item, true);
    this.root.focus({ preventScroll: true });
  }

  /** Closes the details; when they are closed, drops the selection. */
  close() {
    if (!this.details.item) this.selected = null;
    this.details.hide();
    this.schedule();
    this.root.focus({ preventScroll: true });
  }

  /** Selects the item of a lane that is nearest to `at`. */
  selectNearest(lane, at) {
    const items = lane ? this.history.items(lane) : [];
    const away = (item) => Math.max(0, item.begin - at, at - item.end);
    const index = d3.scan(items, (a, b) => away(a) - away(b) || b.begin - a.begin);
    if (index !== undefined) this.select(items[index]);
  }

  /** Moves the selection to another item of the lane, or to another lane. */
  step(alongLane, acrossLanes) {
    const { shown, from, to } = this;
    const item = this.selectedItem();
    if (!item) {
      const first = shown[Math.round(this.scroller.scrollTop / this.laneHeight)];
      this.selectNearest(first, Math.min(to, clock.now()));
    } else if (alongLane !== 0) {
      const items = this.history.items(item.lane);
      this.select(items[limited(items.indexOf(item) + alongLane, 0, items.length - 1)]);
    } else {
      const index = limited(shown.indexOf(item.lane) + acrossLanes, 0, shown.length - 1);
      this.selectNearest(shown[index], limited((item.begin + endSoFar(item)) / 2, from, to));
    }
  }

  keep() {
    const item = this.selectedItem();
    if (item) this.select(item, true);
    else this.step(0, 0);
  }

  // -- Places -------------------------------------------------------------------------------------

  timeAt(clientX) {
    return Number(this.scale.invert(clientX - this.canvas.getBoundingClientRect().left));
  }

  /** The item under a point of the window, and how many others share its pixels. */
  itemAt(clientX, clientY) {
    const top = this.canvas.getBoundingClientRect().top - this.scroller.scrollTop;
    const lane = this.shown[Math.floor((clientY - top) / this.laneHeight)];
    if (!lane) return null;
    const at = this.timeAt(clientX);
    const pixel = (this.to - this.from) / this.width;
    const reach = pixel * grip;
    const near = this.history.itemsBetween(lane, at - reach, at + reach);
    const away = (item) => Math.max(0, item.begin - at, at - endSoFar(item));
    const rank = (item) => {
      if (isTrouble(item) && Math.abs(item.end - at) <= reach) return 0;
      return item.isHold && away(item) === 0 ? 1 : 2;
    };
    const item = near[d3.scan(near, (a, b) => rank(a) - rank(b) || away(a) - away(b))];
    if (!item) return null;
    const isNarrow = (one) => one.end - one.begin < pixel && away(one) < pixel;
    const others = near.filter((one) => one !== item && isNarrow(one)).length;
    return { item, others: item.end - item.begin < pixel * 2 ? others : 0 };
  }
}
