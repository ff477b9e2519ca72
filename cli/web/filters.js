// What the reader wants to see: a type, a holder, a part of the key, a range of time, an order of
// lanes.
//
// The choice stands in the address of the page (`#type=invoice&range=1h`), so that it can be passed
// on.
'use strict';

// In minutes.
const ranges = { '15m': 15, '1h': 60, '6h': 360, '24h': 1440, all: Infinity };
// More holders than this are no choice for a reader; the key filter and the bars lead to the
// others.
const mostOptions = 500;

class Filters {
  /** `changed(name)` is called after each choice. */
  constructor(changed, range) {
    this.changed = changed;
    this.form = find('filters');
    this.defaults = { type: '', holder: '', key: '', order: 'trouble', range };
    const address = new URLSearchParams(location.hash.slice(1));
    for (const [name, value] of Object.entries(this.defaults)) {
      this[name] = address.get(name) ?? value;
    }
    if (!Object.hasOwn(ranges, this.range)) this.range = range;
    if (!Object.hasOwn(laneOrders, this.order)) this.order = this.defaults.order;
    this.form.addEventListener('submit', (event) => event.preventDefault());
    for (const kind of ['input', 'change']) {
      this.form.addEventListener(kind, ({ target }) => {
        if (target.value !== this[target.name]) this.choose(target.name, target.value);
      });
    }
    this.form.addEventListener('click', ({ target }) => {
      if (target.dataset.range) this.choose('range', target.dataset.range);
    });
    find('clear').addEventListener('click', () => this.clear());
    this.setChoices({ types: new Set(), holders: new Map() });
    this.show();
  }

  get text() {
    return this.key.trim().toLowerCase();
  }

  /** Milliseconds of the chosen range. */
  get length() {
    return ranges[this.range] * 60000;
  }

  get isNarrow() {
    return this.type !== '' || this.holder !== '' || this.text !== '';
  }

  /** Whether a lane, or a lock, is of the chosen type and key. */
  hasKey(type, text) {
    return (this.type === '' || type === this.type) && text.includes(this.text);
  }

  hasHolder(of) {
    return this.holder === '' || of.holder === this.holder;
  }

  choose(name, value) {
    this[name] = value;
    this.show();
    this.write();
    this.changed(name);
  }

  clear() {
    this.type = '';
    this.holder = '';
    this.choose('key', '');
  }

  /** Offers the types and holders of `History.choices`. */
  setChoices({ types, holders }) {
    const frequent = [...holders].sort((a, b) => b[1] - a[1]).slice(0, mostOptions);
    this.offer('type', [...types]);
    this.offer(
      'holder',
      frequent.map(([holder]) => holder),
    );
  }

  offer(name, values) {
    const select = this.form.elements[name];
    // A list that is open must not change under the reader's hand.
    if (document.activeElement === select) return;
    const offered = [...new Set([...values, this[name]])].filter((value) => value !== '').sort();
    show(select, [
      select.options[0].cloneNode(true),
      offered.map((value) => element('option', '', isolated(shortened(value, 48)), { value })),
    ]);
    select.value = this[name];
  }

  show() {
    for (const name of ['type', 'holder', 'key', 'order']) {
      const field = this.form.elements[name];
      if (field.value !== this[name]) field.value = this[name];
    }
    for (const choice of this.form.querySelectorAll('[data-range]')) {
      choice.setAttribute('aria-pressed', String(choice.dataset.range === this.range));
    }
    find('clear').hidden = !this.isNarrow;
  }

  write() {
    const chosen = Object.keys(this.defaults).filter((name) => this[name] !== this.defaults[name]);
    const written = new URLSearchParams(chosen.map((name) => [name, this[name]])).toString();
    // A report that was opened from a disk has an address of its own kind, which some browsers
    // lock.
    try {
      window.history.replaceState(null, '', written ? `#${written}` : location.pathname);
    } catch (error) {
      if (error.name !== 'SecurityError') throw error;
    }
  }
}
