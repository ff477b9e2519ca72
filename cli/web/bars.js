// Drawing of lanes on a canvas: bars for holds, marks for troubles, ticks for points in time.
//
// The work for a lane is bounded by its width in pixels, not by its number of events: bars and
// marks that fall on a pixel that is taken already are skipped by bisection.
'use strict';

const markDistance = 5;
const leastForText = 36;
/** The opacity of what is not of the chosen holder. */
const faint = 0.2;

/** One frame: the canvas, the scale of time, and what is drawn. `holder`: others are faint. */
function frameOn(canvas, width, height, scale, holder) {
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
  context.font = `12px ${getComputedStyle(canvas).fontFamily}`;
  const [from, to] = scale.domain().map(Number);
  const perPixel = (to - from) / width;
  const isOther = (item) => holder !== '' && item.holder !== holder;
  return { context, width, height, scale, from, to, perPixel, holder, isOther, drawn: 0 };
}

/** Time that is not loaded, the lines of the axis, and now. */
function drawGround({ context, width, height, scale }, ticks, loadedFrom) {
  const line = (at) => context.fillRect(Math.round(scale(at)), 0, 1, height);
  context.fillStyle = colour('unloaded');
  context.fillRect(0, 0, Math.max(0, Math.min(width, scale(loadedFrom))), height);
  context.fillStyle = colour('line');
  ticks.forEach(line);
  context.fillStyle = colour('accent');
  context.globalAlpha = 0.55;
  line(clock.now());
  context.globalAlpha = 1;
}

const fitted = new Map();

/** `label`, shortened to `width`; nothing if that would leave too little to read. */
function fit(context, label, width) {
  const room = Math.floor(width / 6) * 6;
  const id = `${room} ${label}`;
  if (fitted.size > 5000) fitted.clear();
  if (!fitted.has(id)) {
    const whole = Array.from(escaped(label)).length;
    const part = (length) => isolated(shortened(escaped(label), length));
    let length = Math.min(whole, 64);
    // The ellipsis may reach into the margin.
    const most = () => (length < whole ? room + 3 : room);
    while (length > 0 && context.measureText(part(length)).width > most()) length -= 1;
    fitted.set(id, length === whole || length > 4 ? part(length) : '');
  }
  return fitted.get(id);
}

function drawHolds(f, { holds }, y, height) {
  const { context, scale, from, to } = f;
  let i = indexOfReach(holds, from);
  let free = -1;
  while (i < holds.length && holds[i].begin <= to) {
    const item = holds[i];
    const left = Math.max(-4, scale(item.begin));
    const right = Math.min(f.width + 4, scale(endSoFar(item)));
    if (right < 0) {
      i += 1;
      continue;
    }
    const ground = colour(holderColour(item.holder ?? ''));
    context.globalAlpha = f.isOther(item) ? faint : 1;
    context.fillStyle = ground;
    if (right - left < 1.5) {
      // All holds that end within this pixel are one column.
      const pixel = Math.max(Math.floor(left), free);
      const end = from + (pixel + 1) * f.perPixel;
      const next = Math.max(i + 1, Math.min(indexOfReach(holds, end), indexOfBegin(holds, end)));
      if (next - i > 1 && holds[next - 1].holder !== item.holder) {
        const isWanted = (one) => one.holder === f.holder;
        if (f.holder === '') context.fillStyle = colour('several');
        else if (holds.slice(i, Math.min(next, i + 50)).some(isWanted)) context.globalAlpha = 1;
      }
      context.fillRect(pixel, y + 1, next - i > 1 ? 1 : 1.5, height - 2);
      free = pixel + 1;
      i = next;
    } else {
      const start = Math.max(left, free);
      // A gap of a pixel keeps holds that follow each other apart.
      const length = Math.max(1, right - start - (right - start > 3 && !item.isOpen ? 1 : 0));
      context.beginPath();
      context.roundRect(start, y, length, height, Math.min(3, length / 2));
      context.fill();
      if (item.isRunOut || item.how === 'unknown') drawHatching(f, start, y, length, height);
      const visible = Math.min(right, f.width) - Math.max(0, start);
      if (visible >= leastForText && item.holder && !f.isOther(item)) {
        const label = fit(context, item.holder, visible - 12);
        context.fillStyle = textOn(ground);
        context.fillText(label, Math.max(0, start) + 6, y + height / 2 + 0.5);
      }
      free = right;
      i += 1;
    }
    f.drawn += 1;
  }
  context.globalAlpha = 1;
}

/** Stripes over a hold whose end is not known to be in order. */
function drawHatching({ context, width: whole }, x, y, width, height) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = colour('ground');
  context.globalAlpha = 0.45;
  context.lineWidth = 2;
  context.beginPath();
  for (let at = Math.max(x, 0) - height; at < Math.min(x + width, whole); at += 8) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.stroke();
  context.restore();
}

/** Calls `draw(x)` for the ends of `items`, sorted by them, that are `distance` apart. */
function eachApart(f, items, distance, draw) {
  const step = f.perPixel * distance;
  let i = indexOfEnd(items, f.from - step);
  while (i < items.length && items[i].end <= f.to + step) {
    f.context.globalAlpha = f.isOther(items[i]) ? faint : 1;
    draw(f.scale(items[i].end));
    f.drawn += 1;
    i = Math.max(i + 1, indexOfEnd(items, items[i].end + step));
  }
  f.context.globalAlpha = 1;
}

function drawPoints(f, { points }, y, height) {
  f.context.fillStyle = colour('quiet');
  eachApart(f, points, 1, (x) => f.context.fillRect(Math.round(x), y - 1, 1.5, height + 2));
}

/** Draws `shape` in a colour, on an edge of the ground that parts it from what is behind it. */
function outline(context, shape, strokeStyle, width) {
  Object.assign(context, { strokeStyle: colour('ground'), lineWidth: width + 3 });
  context.stroke(shape);
  Object.assign(context, { strokeStyle, lineWidth: width });
  context.stroke(shape);
}

/** The marks of the legend, of 12 by 12 there, a bit larger and around 0. */
const shapes = troubleKinds.map((kind) => {
  const shape = new Path2D();
  const path = new Path2D(markOf(kind).firstChild.getAttribute('d'));
  shape.addPath(path, new DOMMatrix().scale(8 / 7).translate(-6, -6));
  return shape;
});

function drawTroubles(f, { troubles }, y, height) {
  const { context } = f;
  context.lineJoin = 'round';
  context.lineCap = 'round';
  troubleKinds.forEach((kind, i) => {
    const shape = shapes[i];
    const own = colour(kind.replace(' ', '-'));
    eachApart(f, troubles[i], markDistance, (x) => {
      context.save();
      context.translate(x, y + height / 2);
      outline(context, shape, own, 2.2);
      context.fillStyle = kind === 'forced' ? own : colour('ground');
      if (kind !== 'failed') context.fill(shape);
      context.restore();
    });
  });
}

function drawSelection({ context, width, scale }, item, y, height) {
  const left = scale(item.begin);
  const right = scale(endSoFar(item));
  const start = Math.max(-8, left - 3);
  const end = Math.min(width + 8, Math.max(right, left + 3) + 3);
  const frame = new Path2D();
  frame.roundRect(start, y - 3, end - start, height + 6, 5);
  outline(context, frame, colour('text'), 2);
}

function drawLane(f, lane, y, height) {
  drawPoints(f, lane, y, height);
  drawHolds(f, lane, y, height);
  drawTroubles(f, lane, y, height);
}
