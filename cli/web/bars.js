// Drawing of lanes on a canvas: bars for holds, marks for troubles, ticks for points in time.
//
// The work for a lane is bounded by its width in pixels, not by its number of events: bars and
// marks that fall on a pixel that is taken already are skipped by bisection.
'use strict';

rowlock.bars = (() => {
  const { History, text } = rowlock;
  const markDistance = 5;
  const leastForText = 36;

  /** One frame: the canvas, the scale of time, the colours, and what is drawn. */
  function frame(canvas, width, height, scale, now) {
    const ratio = window.devicePixelRatio || 1;
    const [pixelWidth, pixelHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== pixelWidth || canvas.height !== pixelHeight) {
      canvas.width = pixelWidth;
      canvas.height = pixelHeight;
    }
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.textBaseline = 'middle';
    context.direction = 'ltr';
    return {
      context,
      width,
      height,
      scale,
      now,
      colours: rowlock.colours.current(),
      drawn: 0,
      holder: '',
      selected: null,
    };
  }

  /** Time that is not loaded, the lines of the axis, and now. */
  function drawGround(f, ticks, loadedFrom) {
    const { context, colours, width, height, scale } = f;
    const unloaded = Math.min(width, scale(loadedFrom));
    if (unloaded > 0) {
      context.fillStyle = colours.unloaded;
      context.fillRect(0, 0, unloaded, height);
    }
    context.fillStyle = colours.line;
    for (const tick of ticks) context.fillRect(Math.round(scale(tick)), 0, 1, height);
    const now = Math.round(scale(f.now));
    if (now >= 0 && now <= width) {
      context.fillStyle = colours.accent;
      context.globalAlpha = 0.55;
      context.fillRect(now, 0, 1, height);
      context.globalAlpha = 1;
    }
  }

  function bar(context, x, y, width, height) {
    const radius = Math.min(3, width / 2);
    context.beginPath();
    context.roundRect(x, y, width, height, radius);
    context.fill();
  }

  const fitted = new Map();

  /** `label`, shortened to `width`; nothing if that would leave too little to read. */
  function fit(context, label, width) {
    const room = Math.floor(width / 6) * 6;
    const id = `${room} ${label}`;
    let found = fitted.get(id);
    if (found === undefined) {
      if (fitted.size > 5000) fitted.clear();
      let characters = Array.from(text.escaped(label)).slice(0, 64);
      const measured = () => context.measureText(`\u2068${characters.join('')}\u2069`).width;
      const whole = characters.length;
      while (characters.length > 0 && measured() > room - (characters.length < whole ? 9 : 0)) {
        characters = characters.slice(0, -1);
      }
      found =
        characters.length === whole || characters.length > 3
          ? `\u2068${characters.join('')}\u2069${characters.length < whole ? '…' : ''}`
          : '';
      fitted.set(id, found);
    }
    return found;
  }

  function drawHolds(f, lane, y, height) {
    const { context, colours, scale } = f;
    const { holds } = lane;
    const [from, to] = scale.domain().map(Number);
    const perPixel = (to - from) / f.width;
    let i = History.reachOf(holds, from);
    let free = -1;
    while (i < holds.length && holds[i].begin <= to) {
      const item = holds[i];
      const left = Math.max(-4, scale(item.begin));
      const right = Math.min(f.width + 4, scale(Math.min(item.end, f.now)));
      if (right < 0) {
        i += 1;
        continue;
      }
      const isOther = f.holder !== '' && item.holder !== f.holder;
      context.globalAlpha = isOther ? 0.18 : 1;
      const colour = colours.holders[rowlock.colours.indexOf(item.holder ?? '')];
      context.fillStyle = colour.bar;
      if (right - left < 1.5) {
        // All holds that end within this pixel are one column.
        const pixel = Math.max(Math.floor(left), free);
        const end = from + (pixel + 1) * perPixel;
        const next = Math.max(
          i + 1,
          Math.min(History.reachOf(holds, end), History.beginOf(holds, end)),
        );
        const isMixed = next - i > 1 && holds[next - 1].holder !== item.holder;
        if (isMixed) {
          if (f.holder === '') context.fillStyle = colours.several;
          else if (holds.slice(i, Math.min(next, i + 50)).some((one) => one.holder === f.holder)) {
            context.globalAlpha = 1;
          }
        }
        context.fillRect(pixel, y + 1, next - i > 1 ? 1 : 1.5, height - 2);
        free = pixel + 1;
        i = next;
      } else {
        const start = Math.max(left, free);
        // A gap of a pixel keeps holds that follow each other apart.
        const length = Math.max(1, right - start - (right - start > 3 && !item.isOpen ? 1 : 0));
        bar(context, start, y, length, height);
        if (item.isRunOut || item.how === 'unknown') drawHatching(f, start, y, length, height);
        const visible = Math.min(right, f.width) - Math.max(0, start);
        if (visible >= leastForText && item.holder && !isOther) {
          const label = fit(context, item.holder, visible - 12);
          context.fillStyle = colour.text;
          if (label) context.fillText(label, Math.max(0, start) + 6, y + height / 2 + 0.5);
        }
        free = right;
        i += 1;
      }
      f.drawn += 1;
    }
    context.globalAlpha = 1;
  }

  /** Stripes over a hold whose end is not known to be in order. */
  function drawHatching(f, x, y, width, height) {
    const { context, colours } = f;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.strokeStyle = colours.ground;
    context.globalAlpha = 0.45;
    context.lineWidth = 2;
    context.beginPath();
    const last = Math.min(x + width, f.width);
    for (let at = Math.max(x, 0) - height; at < last; at += 8) {
      context.moveTo(at, y + height);
      context.lineTo(at + height, y);
    }
    context.stroke();
    context.restore();
  }

  /** Calls `draw(x, item)` for the points of `items`, sorted by time, that are `distance` apart. */
  function eachApart(f, items, timeOf, distance, draw) {
    const [from, to] = f.scale.domain().map(Number);
    const indexOf = d3.bisector(timeOf).left;
    const step = ((to - from) / f.width) * distance;
    let i = indexOf(items, from - step);
    while (i < items.length && timeOf(items[i]) <= to + step) {
      draw(f.scale(timeOf(items[i])), items[i]);
      f.drawn += 1;
      i = Math.max(i + 1, indexOf(items, timeOf(items[i]) + step));
    }
  }

  const beginOf = (item) => item.begin;
  const endOf = (item) => item.end;

  function drawPoints(f, lane, y, height) {
    const { context, colours } = f;
    context.fillStyle = colours.quiet;
    eachApart(f, lane.points, beginOf, 1, (x, item) => {
      context.globalAlpha = f.holder !== '' && item.holder !== f.holder ? 0.2 : 0.9;
      context.fillRect(Math.round(x), y - 1, 1.5, height + 2);
    });
    context.globalAlpha = 1;
  }

  const shapes = {
    failed(context, x, y) {
      context.moveTo(x - 4, y - 4);
      context.lineTo(x + 4, y + 4);
      context.moveTo(x + 4, y - 4);
      context.lineTo(x - 4, y + 4);
    },
    'ran out'(context, x, y) {
      context.moveTo(x, y - 5.5);
      context.lineTo(x + 5.5, y);
      context.lineTo(x, y + 5.5);
      context.lineTo(x - 5.5, y);
      context.closePath();
    },
    forced(context, x, y) {
      context.moveTo(x - 5, y - 4.5);
      context.lineTo(x + 5, y - 4.5);
      context.lineTo(x, y + 5);
      context.closePath();
    },
  };

  function drawTroubles(f, lane, y, height) {
    const { context, colours } = f;
    for (const kind of History.troubles) {
      const colour = colours[kind.replace(' ', '-')];
      eachApart(f, lane.troubles.get(kind), endOf, markDistance, (x, item) => {
        context.globalAlpha = f.holder !== '' && item.holder !== f.holder ? 0.25 : 1;
        context.beginPath();
        shapes[kind](context, x, y + height / 2);
        context.lineJoin = 'round';
        context.lineCap = 'round';
        context.strokeStyle = colours.ground;
        context.lineWidth = 5.5;
        context.stroke();
        context.strokeStyle = colour;
        context.lineWidth = 2.2;
        context.stroke();
        context.fillStyle = kind === 'forced' ? colour : colours.ground;
        if (kind !== 'failed') context.fill();
      });
    }
    context.globalAlpha = 1;
  }

  /** The place of an item: left and right, in pixels. */
  const extent = (f, item) => [f.scale(item.begin), f.scale(Math.min(item.end, f.now))];

  function drawSelection(f, item, y, height) {
    const { context, colours } = f;
    const [left, right] = extent(f, item);
    const start = Math.max(-8, left - 3);
    const end = Math.min(f.width + 8, Math.max(right, left + 3) + 3);
    for (const [colour, width] of [
      [colours.ground, 5],
      [colours.text, 2],
    ]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      context.roundRect(start, y - 3, end - start, height + 6, 5);
      context.stroke();
    }
  }

  function drawLane(f, lane, y, height) {
    drawPoints(f, lane, y, height);
    drawHolds(f, lane, y, height);
    drawTroubles(f, lane, y, height);
  }

  return { frame, drawGround, drawLane, drawSelection };
})();
