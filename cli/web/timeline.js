// The timeline: which part of time and which lanes are visible, and which item is selected.
//
// `data-from`, `data-to` (milliseconds), `data-lanes`, `data-first-lane` and `data-drawn` of its
// element say what is visible; `data-selected-x` and `-y` where the selected item is, in the
// window.
'use strict';

rowlock.Timeline = (() => {
  const { History, bars, text } = rowlock;
  const { element } = text;
  const leastSpan = 20;
  const grip = 5;
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)');
  const isNarrow = matchMedia('(max-width: 640px)');

  /** Labels of the axis: as coarse as the point in time allows. */
  function tickLabel(at) {
    const { zone } = rowlock;
    const part = (pattern) => zone.format(pattern)(at);
    if (part('%L') !== '000') return part('.%L');
    if (part('%S') !== '00') return part('%H:%M:%S');
    if (part('%H:%M') !== '00:00') return part('%H:%M');
    return part('%-d %b');
  }

  return class Timeline {
    /** `choose(lane)` is called when the reader picks a key. */
    constructor(history, filters, choose) {
      this.history = history;
      this.filters = filters;
      this.shown = [];
      this.from = 0;
      this.to = 1;
      this.isFollowing = true;
      this.selected = null;
      this.frame = null;
      const find = (id) => document.getElementById(id);
      this.root = find('timeline');
      this.scroller = find('lanes');
      this.space = find('lanes-space');
      this.canvas = find('bars');
      this.labels = find('labels');
      this.axis = d3.select('#axis').append('g');
      this.day = find('axis-day');
      this.details = new rowlock.Details({
        zoom: (item) => this.zoomTo(item),
        choose: (item) => choose(item.lane),
        close: () => this.close(),
      });
      this.choose = choose;
      this.scroller.addEventListener('scroll', () => {
        if (!this.details.isKept && !this.details.isAtItem) this.details.hide();
        this.schedule();
      });
      new ResizeObserver(() => this.schedule()).observe(this.scroller);
    }

    // -- What is visible ------------------------------------------------------------------------

    /** Begin and end of the chosen range: the view never leaves it. */
    outer() {
      const now = rowlock.clock.now();
      let { length } = this.filters;
      if (length === Infinity) length = Math.max(60000, now - Math.min(this.history.oldest, now));
      return { from: now - length * 1.005, to: now + length * 0.015 };
    }

    /** Shows the whole range, and what comes. */
    reset() {
      const { from, to } = this.outer();
      this.isFollowing = true;
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
      if (this.isFollowing && !this.moving) {
        const span = this.isWhole ? to - from : this.to - this.from;
        this.from = to - span;
        this.to = to;
      }
      this.schedule();
    }

    clamp(from, to) {
      const outer = this.outer();
      const span = Math.min(Math.max(to - from, leastSpan), outer.to - outer.from);
      const centre = (from + to) / 2;
      const first = Math.min(Math.max(centre - span / 2, outer.from), outer.to - span);
      return [first, first + span];
    }

    /** Shows from `from` to `to`, at once or in a short movement. */
    go(from, to, isSmooth = false) {
      const target = this.clamp(from, to);
      const outer = this.outer();
      const slack = (target[1] - target[0]) * 0.002;
      this.isFollowing = target[1] >= outer.to - slack;
      this.isWhole = this.isFollowing && target[0] <= outer.from + slack;
      if (this.moving) this.moving.stop();
      this.moving = null;
      if (!isSmooth || isCalm.matches) {
        [this.from, this.to] = target;
      } else {
        this.movesTo = target;
        const path = d3.interpolateArray([this.from, this.to], target);
        this.moving = d3.timer((elapsed) => {
          const part = Math.min(1, elapsed / 160);
          [this.from, this.to] = path(d3.easeCubicOut(part));
          if (part === 1) {
            this.moving.stop();
            this.moving = null;
          }
          this.schedule();
        });
      }
      this.schedule();
    }

    /** Zooms by `factor`; the time `around` stays where it is. */
    zoom(factor, around, isSmooth = false) {
      const [from, to] = this.target;
      this.go(around - (around - from) * factor, around + (to - around) * factor, isSmooth);
    }

    /** Moves the view by a part of its span. */
    pan(part, isSmooth = false) {
      const [from, to] = this.target;
      const by = (to - from) * part;
      this.go(from + by, to + by, isSmooth);
    }

    /** What is visible, or will be after the movement that lasts. */
    get target() {
      return this.moving ? this.movesTo : [this.from, this.to];
    }

    // -- Drawing --------------------------------------------------------------------------------

    schedule() {
      if (this.frame === null) this.frame = requestAnimationFrame(() => this.draw());
    }

    measure() {
      const style = getComputedStyle(this.root);
      this.laneHeight = parseFloat(style.getPropertyValue('--lane-height'));
      this.labelWidth = isNarrow.matches ? 0 : parseFloat(style.getPropertyValue('--label-width'));
      // On a telephone the label stands above its bars.
      this.labelHeight = isNarrow.matches ? 17 : 0;
      this.width = Math.max(50, this.scroller.clientWidth - this.labelWidth);
      this.height = this.scroller.clientHeight;
      this.scale = rowlock.zone.scale().domain([this.from, this.to]).range([0, this.width]);
    }

    draw() {
      this.frame = null;
      this.space.style.height = `${
        this.shown.length *
        parseFloat(getComputedStyle(this.root).getPropertyValue('--lane-height'))
      }px`;
      this.measure();
      const ticks = this.drawAxis();
      const f = bars.frame(this.canvas, this.width, this.height, this.scale, rowlock.clock.now());
      f.holder = this.filters.holder;
      this.canvas.style.width = `${this.width}px`;
      this.canvas.style.height = `${this.height}px`;
      this.canvas.style.left = `${this.labelWidth}px`;
      f.context.font = `12px ${rowlock.colours.current().font}`;
      bars.drawGround(f, ticks, this.history.loadedFrom);
      const first = Math.floor(this.scroller.scrollTop / this.laneHeight);
      const last = Math.min(
        this.shown.length,
        Math.ceil((this.scroller.scrollTop + this.height) / this.laneHeight),
      );
      this.drawLanes(f, first, last);
      this.drawLabels(first, last);
      this.publish(first, f.drawn);
    }

    drawAxis() {
      const number = Math.max(2, Math.floor(this.width / 100));
      const axis = d3
        .axisTop(this.scale)
        .ticks(number)
        .tickSize(4)
        .tickPadding(5)
        .tickFormat(tickLabel);
      d3.select('#axis')
        .attr('width', this.width)
        .attr('height', 28)
        .style('margin-left', `${this.labelWidth}px`);
      this.axis.attr('transform', 'translate(0,27)').call(axis);
      // The first and the last label would be cut off at the edges.
      const { width } = this;
      this.axis.selectAll('.tick').each(function hideAtEdges(at) {
        const x = axis.scale()(at);
        d3.select(this)
          .select('text')
          .attr('opacity', x < 16 || x > width - 16 ? 0 : 1);
      });
      const { zone } = rowlock;
      this.day.textContent = `${zone.format('%a %-d %b %Y')(new Date(this.from))}, ${zone.name()}`;
      return this.scale.ticks(number);
    }

    laneTop(index) {
      return index * this.laneHeight - this.scroller.scrollTop;
    }

    barBox(index) {
      const padding = 6;
      const top = this.laneTop(index) + this.labelHeight;
      return [top + padding, this.laneHeight - this.labelHeight - 2 * padding];
    }

    drawLanes(f, first, last) {
      f.context.fillStyle = f.colours.line;
      for (let i = first; i < last; i += 1) {
        f.context.fillRect(0, Math.round(this.laneTop(i + 1)) - 1, this.width, 1);
      }
      for (let i = first; i < last; i += 1) {
        const lane = this.shown[i];
        this.history.items(lane);
        bars.drawLane(f, lane, ...this.barBox(i));
      }
      const item = this.selectedItem();
      const index = item ? this.shown.indexOf(item.lane) : -1;
      if (index >= first && index < last) bars.drawSelection(f, item, ...this.barBox(index));
    }

    /** Writes the labels of the visible lanes; as many elements as fit, used again and again. */
    drawLabels(first, last) {
      const { labels } = this;
      while (labels.children.length > last - first) labels.lastChild.remove();
      while (labels.children.length < last - first) {
        const label = element('div', 'label');
        label.addEventListener('click', () => this.choose(label.lane));
        labels.append(label);
      }
      const chosen = this.selected ? this.selected.lane : null;
      for (let i = first; i < last; i += 1) {
        const label = labels.children[i - first];
        const lane = this.shown[i];
        if (label.lane !== lane) {
          label.lane = lane;
          label.replaceChildren(text.key(lane.type, lane.source));
        }
        label.style.top = `${this.laneTop(i)}px`;
        label.classList.toggle('label-selected', lane === chosen);
      }
    }

    publish(first, drawn) {
      const { dataset } = this.root;
      dataset.from = String(this.from);
      dataset.to = String(this.to);
      dataset.lanes = String(this.shown.length);
      dataset.firstLane = String(first);
      dataset.drawn = String(drawn);
      const at = this.placeOf(this.selectedItem());
      dataset.selectedX = at ? String(at.x) : '';
      dataset.selectedY = at ? String(at.y) : '';
      // The details stay at their item while the view moves.
      if (at && this.details.isAtItem) this.details.move(at.x, at.y);
    }

    // -- The selected item ----------------------------------------------------------------------

    /** The selected item as it is now: a new answer makes new items. */
    selectedItem() {
      if (!this.selected) return null;
      const { lane, begin, isHold, how } = this.selected;
      if (!this.shown.includes(lane)) return null;
      const same = (item) => item.begin === begin && item.isHold === isHold;
      const items = this.history.items(lane);
      const found = items.find((item) => same(item) && item.how === how) ?? items.find(same);
      // The begin of a hold that has ended may have been rounded to a millisecond.
      this.selected =
        found ??
        items.find(
          (item) =>
            item.isHold === isHold && item.token !== null && item.token === this.selected.token,
        ) ??
        null;
      return this.selected;
    }

    /** The middle of the visible part of an item, in the window. */
    placeOf(item) {
      const index = item ? this.shown.indexOf(item.lane) : -1;
      if (index < 0) return null;
      const box = this.canvas.getBoundingClientRect();
      const end = Math.min(item.end, rowlock.clock.now());
      const left = Math.max(0, this.scale(item.begin));
      const right = Math.min(this.width, this.scale(end));
      const [top, height] = this.barBox(index);
      return { x: box.left + (left + right) / 2, y: box.top + top + height / 2 };
    }

    select(item, { isKept = this.details.isKept } = {}) {
      this.selected = item;
      this.reveal(item);
      this.details.announce(item, rowlock.clock.now());
      this.measure();
      const at = this.placeOf(item);
      if (at) this.details.show(item, at.x, at.y, rowlock.clock.now(), { isKept, isAtItem: true });
      this.schedule();
    }

    /** Moves the view so that `item` and its lane are visible. */
    reveal(item) {
      const end = Math.min(item.end, rowlock.clock.now());
      const span = this.to - this.from;
      if (end < this.from || item.begin > this.to) {
        const centre = end - item.begin < span ? (item.begin + end) / 2 : end;
        this.go(centre - span / 2, centre + span / 2);
      }
      const index = this.shown.indexOf(item.lane);
      const { scroller, laneHeight } = this;
      if (index * laneHeight < scroller.scrollTop) scroller.scrollTop = index * laneHeight;
      const bottom = (index + 1) * laneHeight - scroller.clientHeight;
      if (bottom > scroller.scrollTop) scroller.scrollTop = bottom;
    }

    /** Shows `item`, with its details, from another part of the page. */
    present(item) {
      const index = this.shown.indexOf(item.lane);
      if (index < 0) return;
      this.root.scrollIntoView({ block: 'nearest', behavior: 'instant' });
      this.root.focus({ preventScroll: true });
      this.zoomTo(item);
    }

    zoomTo(item) {
      const end = Math.min(item.end, rowlock.clock.now());
      const span = Math.max((end - item.begin) * 3, 2000);
      const centre = (item.begin + end) / 2;
      this.go(centre - span / 2, centre + span / 2);
      this.select(item, { isKept: true });
      this.root.focus({ preventScroll: true });
    }

    /** Closes the details; when they are closed, drops the selection. */
    close() {
      if (!this.details.isOpen) this.selected = null;
      this.details.hide();
      this.schedule();
      this.root.focus({ preventScroll: true });
    }

    /** The item nearest to `time` in a lane. */
    nearest(lane, time) {
      return this.history.items(lane).reduce((found, item) => {
        const away = (one) => Math.max(0, one.begin - time, time - one.end);
        return !found || away(item) <= away(found) ? item : found;
      }, null);
    }

    /** Moves the selection to another item of the lane, or to another lane. */
    step(alongLane, acrossLanes) {
      const item = this.selectedItem();
      if (!item) {
        const first = this.shown[Math.round(this.scroller.scrollTop / this.laneHeight)];
        const found = first && this.nearest(first, Math.min(this.to, rowlock.clock.now()));
        if (found) this.select(found);
        return;
      }
      if (alongLane !== 0) {
        const items = this.history.items(item.lane);
        const index = Math.min(Math.max(items.indexOf(item) + alongLane, 0), items.length - 1);
        this.select(items[index]);
        return;
      }
      const index = this.shown.indexOf(item.lane) + acrossLanes;
      const lane = this.shown[Math.min(Math.max(index, 0), this.shown.length - 1)];
      const end = Math.min(item.end, rowlock.clock.now());
      const found = this.nearest(
        lane,
        Math.min(Math.max((item.begin + end) / 2, this.from), this.to),
      );
      if (found) this.select(found);
    }

    keep() {
      const item = this.selectedItem();
      if (item) this.select(item, { isKept: true });
      else this.step(0, 0);
    }

    // -- Places ----------------------------------------------------------------------------------

    timeAt(clientX) {
      return Number(this.scale.invert(clientX - this.canvas.getBoundingClientRect().left));
    }

    /** Where buttons and keys zoom: at the selected item, at now, or in the middle. */
    focus() {
      const item = this.selectedItem();
      const now = rowlock.clock.now();
      if (item) {
        const middle = (item.begin + Math.min(item.end, now)) / 2;
        if (middle >= this.from && middle <= this.to) return middle;
      }
      return this.isFollowing ? now : (this.from + this.to) / 2;
    }

    /** The item under a point of the window, and how many others share its pixels. */
    itemAt(clientX, clientY) {
      const box = this.canvas.getBoundingClientRect();
      const lane =
        this.shown[Math.floor((clientY - box.top + this.scroller.scrollTop) / this.laneHeight)];
      if (!lane) return null;
      const time = this.timeAt(clientX);
      const reach = ((this.to - this.from) / this.width) * grip;
      const near = this.history.itemsBetween(lane, time - reach, time + reach);
      if (near.length === 0) return null;
      const now = rowlock.clock.now();
      const away = (item) => Math.max(0, item.begin - time, time - Math.min(item.end, now));
      const rank = (item) => {
        if (History.troubles.includes(item.how) && Math.abs(item.end - time) <= reach) return 0;
        return item.isHold && away(item) === 0 ? 1 : 2;
      };
      const item = near.reduce((found, one) =>
        rank(one) < rank(found) || (rank(one) === rank(found) && away(one) < away(found))
          ? one
          : found,
      );
      const pixel = (this.to - this.from) / this.width;
      const others = near.filter(
        (one) => one !== item && one.end - one.begin < pixel && away(one) < pixel,
      );
      return { item, others: item.end - item.begin < pixel * 2 ? others.length : 0 };
    }
  };
})();
