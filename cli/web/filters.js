// What the reader wants to see: a type, a holder, a part of the key, a range of time, an order of
// lanes.
//
// The choice stands in the address of the page (`#type=invoice&range=1h`), so that it can be passed
// on.
'use strict';

rowlock.Filters = (() => {
  const minute = 60000;
  const ranges = new Map([
    ['15m', 15 * minute],
    ['1h', 60 * minute],
    ['6h', 360 * minute],
    ['24h', 1440 * minute],
    ['all', Infinity],
  ]);
  // More holders than this are no choice for a reader; the key filter and the bars lead to the
  // others.
  const mostOptions = 500;

  const { isolated, shortened, element } = rowlock.text;

  function fill(select, values, everything) {
    const chosen = select.value;
    const known = Array.from(select.options, (option) => option.value);
    const wanted = ['', ...values];
    if (known.length === wanted.length && wanted.every((value, i) => value === known[i])) return;
    select.replaceChildren(
      ...wanted.map((value) => {
        const label = value === '' ? everything : isolated(shortened(value, 48));
        return element('option', '', [label], { value });
      }),
    );
    select.value = chosen;
  }

  return class Filters {
    /** `changed(name)` is called after each choice. */
    constructor(changed, range) {
      this.changed = changed;
      this.form = document.getElementById('filters');
      const named = (name) => this.form.elements.namedItem(name);
      this.fields = {
        type: named('type'),
        holder: named('holder'),
        key: named('key'),
        order: named('order'),
      };
      this.defaultRange = range;
      this.range = range;
      this.form.addEventListener('submit', (event) => event.preventDefault());
      for (const [name, field] of Object.entries(this.fields)) {
        const event = field.tagName === 'SELECT' ? 'change' : 'input';
        field.addEventListener(event, () => this.choose(name, field.value));
      }
      for (const button of this.form.querySelectorAll('[data-range]')) {
        button.addEventListener('click', () => this.choose('range', button.dataset.range));
      }
      document.getElementById('clear').addEventListener('click', () => this.clear());
      this.read();
    }

    get type() {
      return this.fields.type.value;
    }

    get holder() {
      return this.fields.holder.value;
    }

    get order() {
      return this.fields.order.value;
    }

    get text() {
      return this.fields.key.value.trim().toLowerCase();
    }

    get length() {
      return ranges.get(this.range);
    }

    get isNarrow() {
      return this.type !== '' || this.holder !== '' || this.text !== '';
    }

    /** Whether a lane, or a lock, is of the chosen type and key. */
    hasKey(type, text) {
      return (this.type === '' || type === this.type) && text.includes(this.text);
    }

    choose(name, value) {
      if (name === 'range') {
        this.range = value;
      } else {
        const field = this.fields[name];
        if (field.tagName === 'SELECT') this.offer(field, value);
        field.value = value;
      }
      this.show();
      this.write();
      this.changed(name);
    }

    clear() {
      for (const name of ['type', 'holder', 'key']) this.fields[name].value = '';
      this.choose('key', '');
    }

    /** Makes sure that `value` can be chosen. */
    offer(select, value) {
      if (value === '' || Array.from(select.options).some((option) => option.value === value))
        return;
      select.append(element('option', '', [isolated(shortened(value, 48))], { value }));
    }

    /** Offers the types and holders that were seen: Maps from a name to how often. */
    setChoices(types, holders) {
      const frequent = [...holders].sort((a, b) => b[1] - a[1]).slice(0, mostOptions);
      const listed = new Set(frequent.map(([holder]) => holder));
      if (this.holder !== '') listed.add(this.holder);
      const listedTypes = new Set(types.keys());
      if (this.type !== '') listedTypes.add(this.type);
      // A list that is open must not change under the reader's hand.
      const isOpen = (field) => document.activeElement === field;
      const { type, holder } = this.fields;
      if (!isOpen(type)) fill(type, [...listedTypes].sort(), 'All types');
      if (!isOpen(holder)) fill(holder, [...listed].sort(), 'All holders');
    }

    show() {
      for (const button of this.form.querySelectorAll('[data-range]')) {
        button.setAttribute('aria-pressed', String(button.dataset.range === this.range));
      }
      document.getElementById('clear').hidden = !this.isNarrow;
    }

    read() {
      const chosen = new URLSearchParams(location.hash.slice(1));
      for (const [name, field] of Object.entries(this.fields)) {
        const value = chosen.get(name);
        if (value === null) continue;
        if (name === 'type' || name === 'holder') this.offer(field, value);
        field.value = value;
        if (field.tagName === 'SELECT' && field.selectedIndex < 0) field.selectedIndex = 0;
      }
      if (ranges.has(chosen.get('range'))) this.range = chosen.get('range');
      this.show();
    }

    write() {
      const chosen = new URLSearchParams();
      for (const [name, field] of Object.entries(this.fields)) {
        const isDefault = field.value === '' || (name === 'order' && field.selectedIndex === 0);
        if (!isDefault) chosen.set(name, field.value);
      }
      if (this.range !== this.defaultRange) chosen.set('range', this.range);
      const written = chosen.toString();
      // A report that was opened from a disk has an address of its own kind, which some browsers
      // lock.
      try {
        window.history.replaceState(null, '', written ? `#${written}` : location.pathname);
      } catch (error) {
        if (error.name !== 'SecurityError') throw error;
      }
    }
  };
})();
