// The details of one item: beside the pointer, or kept open.
'use strict';

rowlock.Details = (() => {
  const { text } = rowlock;
  const { element } = text;

  const words = {
    released: 'released',
    failed: 'failed',
    'handed over': 'handed over to the next waiter',
    'ran out': 'ran out: no sign of life, then taken over',
    forced: 'released by force',
    unknown: 'end not recorded',
    locked: 'row locked in a transaction',
    committed: 'committed',
    closed: 'closed for others after the hold',
    done: 'work remembered as done',
  };

  function howIn(item) {
    if (item.isOpen) return item.isRunOut ? 'ran out, not taken over yet' : 'still held';
    return words[item.how] ?? item.how;
  }

  /** Names and values of an item; a value is an element or a text of the page. */
  function factsOf(item, now) {
    const facts = [];
    const fact = (name, value) => facts.push([name, value]);
    if (item.holder) fact('Holder', text.holder(item.holder));
    if (item.token !== null && item.token !== undefined) fact('Token', String(item.token));
    if (item.isHold) {
      fact('Begin', text.time(item.begin));
      if (!item.isOpen) fact('End', item.how === 'unknown' ? '–' : text.time(item.end));
      fact(
        item.isOpen ? 'Held for' : 'Held',
        text.duration((item.isOpen ? now : item.end) - item.begin),
      );
      fact(item.isOpen ? 'State' : 'Ended', howIn(item));
    } else {
      fact('Time', text.time(item.end));
      fact('Event', howIn(item));
    }
    if (item.reason) fact('Reason', text.name(item.reason));
    if (item.correlation) fact('Correlation id', text.name(item.correlation));
    return facts;
  }

  return class Details {
    /** `on.zoom(item)`, `on.choose(item)` and `on.close()` are the buttons of details kept open. */
    constructor(on) {
      this.on = on;
      this.place = document.getElementById('details');
      this.announcement = document.getElementById('selected');
      this.isKept = false;
      /** Whether they stand at the item, not at the pointer. */
      this.isAtItem = false;
      this.item = null;
      this.place.addEventListener('keydown', (event) => {
        if (event.key === 'Escape') this.on.close();
      });
    }

    get isOpen() {
      return !this.place.hidden;
    }

    /** Shows `item` at a point of the window. `others`: how many more are on the same pixels. */
    show(item, x, y, now, { isKept = false, isAtItem = false, others = 0 } = {}) {
      this.item = item;
      this.isKept = isKept;
      this.isAtItem = isAtItem;
      const facts = factsOf(item, now);
      const head = element('p', 'details-key', [text.key(item.lane.type, item.lane.source)]);
      const list = element(
        'dl',
        '',
        facts.map(([name, value]) =>
          element('div', '', [element('dt', '', [name]), element('dd', '', [value])]),
        ),
      );
      const more =
        others > 0
          ? element('p', 'details-more', [
              `${text.counted(others, 'more', 'more')} at this place: zoom in`,
            ])
          : null;
      this.place.replaceChildren(
        ...[head, list, more, isKept ? this.buttons(item) : null].filter(Boolean),
      );
      this.place.setAttribute('role', isKept ? 'group' : 'tooltip');
      if (isKept) this.place.setAttribute('aria-label', 'Details');
      this.place.dataset.kept = String(isKept);
      this.place.hidden = false;
      this.move(x, y);
    }

    buttons(item) {
      const button = (label, pressed) => {
        const made = element('button', '', [label], { type: 'button' });
        made.addEventListener('click', pressed);
        return made;
      };
      return element('p', 'details-buttons', [
        button('Zoom to it', () => this.on.zoom(item)),
        button('Only this key', () => this.on.choose(item)),
        button('Close', () => this.on.close()),
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
    announce(item, now) {
      const said = factsOf(item, now).map(
        ([name, value]) => `${name} ${typeof value === 'string' ? value : value.textContent}`,
      );
      const key = `${text.isolated(item.lane.type)}/${text.isolated(item.lane.source)}`;
      this.announcement.textContent = `${key}. ${said.join(', ')}`;
    }

    hide() {
      this.isKept = false;
      this.isAtItem = false;
      this.item = null;
      this.place.hidden = true;
    }
  };
})();
