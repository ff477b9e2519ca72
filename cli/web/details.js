// The details of one item: beside the pointer, or kept open.
'use strict';

/** What events say; those that are not named here say their names. */
const eventWords = {
  'handed over': 'handed over to the next waiter',
  'ran out': 'ran out: no sign of life, then taken over',
  forced: 'released by force',
  unknown: 'end not recorded',
  locked: 'row locked in a transaction',
  closed: 'closed for others after the hold',
  done: 'work remembered as done',
  asked: 'holder asked to yield',
};

function howIn(item) {
  if (item.isOpen) return item.isRunOut ? 'ran out, not taken over yet' : 'still held';
  return eventWords[item.how] ?? item.how;
}

function timesOf(item) {
  if (!item.isHold)
    return [
      ['Time', time(item.end)],
      ['Event', howIn(item)],
    ];
  const begin = ['Begin', time(item.begin)];
  if (item.isOpen)
    return [begin, ['Held for', duration(clock.now() - item.begin)], ['State', howIn(item)]];
  const end = item.how === 'unknown' ? '–' : time(item.end);
  return [begin, ['End', end], ['Held', duration(item.end - item.begin)], ['Ended', howIn(item)]];
}

/** Names and values of an item; a value is an element or a text of the page. */
const factsOf = (item) =>
  [
    ['Holder', item.holder && holderOf(item.holder)],
    ['Token', item.token !== null && String(item.token)],
    ...timesOf(item),
    ['Reason', item.reason && foreign(item.reason)],
    ['Correlation id', item.correlation && foreign(item.correlation)],
  ].filter(([, value]) => value);

class Details {
  isKept = false;
  /** Whether they stand at the item, not at the pointer. */
  isAtItem = false;
  /** What they show; `null` while they are hidden. */
  item = null;

  /** `on.zoom(item)`, `on.choose(item)` and `on.close()` are the buttons of details kept open. */
  constructor(on) {
    this.on = on;
    this.place = find('details');
    this.place.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.on.close();
    });
  }

  /** Shows `item` at a point of the window. `others`: how many more are on the same pixels. */
  show(item, { x, y }, { isKept = false, isAtItem = false, others = 0 } = {}) {
    Object.assign(this, { item, isKept, isAtItem });
    const facts = factsOf(item).map((fact) =>
      element('div', '', [element('dt', 'quiet', fact[0]), element('dd', '', fact[1])]),
    );
    const more = `${counted(others, 'more', 'more')} at this place: zoom in`;
    fill(this.place, [
      element('p', '', keyOf(item.lane)),
      element('dl', '', facts),
      others > 0 ? element('p', 'small', more) : null,
      isKept ? this.buttons(item) : null,
    ]);
    this.place.setAttribute('role', isKept ? 'group' : 'tooltip');
    if (isKept) this.place.setAttribute('aria-label', 'Details');
    this.place.dataset.kept = String(isKept);
    this.place.hidden = false;
    this.move(x, y);
  }

  buttons(item) {
    return element('p', 'flex wrap details-buttons', [
      button('', 'Zoom to it', () => this.on.zoom(item)),
      button('', 'Only this key', () => this.on.choose(item)),
      button('', 'Close', () => this.on.close()),
    ]);
  }

  /** Puts the details beside a point of the window, where they do not leave it. */
  move(x, y) {
    const { place } = this;
    // On a telephone the style sheet gives it a place of its own.
    if (place.offsetParent === null) return;
    const around = place.offsetParent.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = place;
    const room = document.documentElement.clientWidth;
    const left = x + 16 + width > room - 8 ? Math.max(8, x - 16 - width) : x + 16;
    const below = y + 18 + height <= window.innerHeight - 8;
    const top = below ? y + 18 : Math.max(8, y - 14 - height);
    place.style.left = `${left - around.left}px`;
    place.style.top = `${top - around.top}px`;
  }

  /** Says `item` to a screen reader. */
  announce(item) {
    const said = factsOf(item).map(([name, value]) => `${name} ${value.textContent ?? value}`);
    find('selected').textContent = `${titleOfKey(item.lane)}. ${said.join(', ')}`;
  }

  hide() {
    Object.assign(this, { item: null, isKept: false, isAtItem: false });
    this.place.hidden = true;
  }
}
