// Text for the page: elements, escaped names, durations and times.
//
// Keys, holders, notes and reasons are written by anybody. They reach the page only as text nodes
// and attributes, never as markup, and each in a <bdi>, so that its direction cannot reorder its
// neighbours.
'use strict';

const find = (id) => document.getElementById(id);

// The characters that the command escapes on a terminal (cli/printable.cpp), and lone surrogates.
const dangerous =
  /[\0-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/gu;

function escapedCharacter(character) {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  const code = character.codePointAt(0);
  const digits = code.toString(16).padStart(2, '0');
  return code < 0x80 ? `\\x${digits}` : `\\u{${digits}}`;
}

/** `text` with control characters, invisible ones and changes of direction written out. */
const escaped = (text) => String(text).replace(dangerous, escapedCharacter);

/** `text` escaped and isolated where an element cannot be used: in an <option>, on a canvas. */
const isolated = (text) => `\u2068${escaped(text)}\u2069`;

/** `text`, not longer than `length` characters. */
function shortened(text, length) {
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}

/** Gives `place` these children, where `null` and '' are none, and a string becomes text. */
function fill(place, children) {
  place.replaceChildren(...[children].flat(2).filter((child) => child !== null && child !== ''));
  return place;
}

/** As `fill`, if the children are others than before: the reader may be marking text in them. */
function show(place, children) {
  const wanted = fill(place.cloneNode(false), children);
  if (!wanted.isEqualNode(place)) place.replaceChildren(...wanted.childNodes);
}

function element(tag, className, children = [], attributes = {}) {
  const made = fill(document.createElement(tag), children);
  if (className) made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function button(className, children, pressed) {
  const made = element('button', className, children, { type: 'button' });
  made.addEventListener('click', pressed);
  return made;
}

/** A foreign text. */
const foreign = (text, className = '') => element('bdi', className, escaped(text), { dir: 'auto' });

const titleOfKey = ({ type, source }) => `${isolated(type)}/${isolated(source)}`;

/** The key `type/source` of a lane or a lock. */
function keyOf(lane) {
  const parts = [
    foreign(lane.type, 'quiet key-type'),
    '/',
    foreign(lane.source, 'strong key-source'),
  ];
  return element('span', 'cut key', parts, { title: titleOfKey(lane) });
}

/** A holder, with its colour. */
function holderOf(label) {
  if (label === null || label === '') return element('span', 'quiet', '–');
  const swatch = element('span', 'swatch');
  swatch.style.background = `var(--${holderColour(label)})`;
  const parts = [swatch, foreign(label, 'cut holder-name')];
  return element('span', 'holder', parts, { title: isolated(label) });
}

const waitedFor = () => element('span', 'badge badge-waiting', 'waited for');

/** Writes a tile of the summary; `level` is `late`, `gone` or nothing. */
function showTile(name, number, detail, level = '') {
  const tile = find(`tile-${name}`);
  tile.dataset.level = level;
  show(tile.querySelector('.tile-number'), number);
  show(tile.querySelector('.tile-detail'), detail);
}

/** Writes what stands beside the heading of a panel, and in its place while it `isEmpty`. */
function showPanel(name, count, isEmpty, words) {
  find(`${name}-count`).textContent = count;
  find(`${name}-empty`).textContent = words;
  find(`${name}-empty`).hidden = !isEmpty;
}

const units = [
  [86400000, 'd', 3600000, 'h'],
  [3600000, 'h', 60000, 'min'],
  [60000, 'min', 1000, 's'],
];

/** A duration in at most two units: `250 ms`, `12.5 s`, `3 min 20 s`, `2 d 4 h`. */
function duration(milliseconds) {
  const length = Math.max(0, milliseconds);
  if (length < 1000) return `${Math.round(length)} ms`;
  if (length < 10000) return `${(Math.floor(length / 100) / 10).toFixed(1)} s`;
  if (length < 60000) return `${Math.floor(length / 1000)} s`;
  const [large, largeName, small, smallName] = units.find(([unit]) => length >= unit);
  const rest = Math.floor((length % large) / small);
  const whole = `${Math.floor(length / large)} ${largeName}`;
  return rest === 0 ? whole : `${whole} ${rest} ${smallName}`;
}

/** A duration in whole seconds, for text that is updated once a second. */
const seconds = (milliseconds) =>
  duration(Math.max(0, Math.floor(milliseconds / 1000)) * 1000)
    .replace(/^0 ms$/, '0 s')
    .replace('.0 s', ' s');

// The zone in which times are shown: UTC, as in the command's output and in the JSON, or the
// reader's.
const zone = {
  isLocal: false,
  format(pattern, at) {
    return (this.isLocal ? d3.timeFormat : d3.utcFormat)(pattern)(new Date(at));
  },
  scale() {
    return this.isLocal ? d3.scaleTime() : d3.scaleUtc();
  },
  name() {
    return this.isLocal ? this.format('%Z', Date.now()) : 'UTC';
  },
};

/** A point in time, to the millisecond. */
const time = (at) => `${zone.format('%Y-%m-%d %H:%M:%S.%L', at)} ${zone.name()}`;

const timeOfDay = (at) => zone.format('%H:%M:%S', at);

/** A number with its digits in groups: `12 345`. */
const number = (value) => d3.format(',')(value).replace(/,/g, '\u202f');

/** `1 key`, `12 345 keys`. */
const counted = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;
