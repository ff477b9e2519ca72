// The table of the locks that are held now, and the two tiles about them.
'use strict';

rowlock.Locks = (() => {
  const { text } = rowlock;
  const { element } = text;
  const rowsOfAPage = 50;

  /** What is known of a holder's life, in words; `level` is `good`, `late`, `gone` or `plain`. */
  function signOfLife(lock, elapsed) {
    const silence = lock.sign_of_life_ms === null ? null : lock.sign_of_life_ms + elapsed;
    if (lock.state === 'busy') return { level: 'plain', words: 'row locked in a transaction' };
    if (lock.state === 'closed') {
      return {
        level: 'plain',
        words: `closed for another ${text.seconds(lock.remaining_ms - elapsed)}`,
      };
    }
    if (lock.state === 'run out') {
      const since = lock.ttl_ms !== null && silence !== null ? silence - lock.ttl_ms : null;
      return {
        level: 'gone',
        words: since > 0 ? `ran out ${text.seconds(since)} ago` : 'ran out',
        silence,
      };
    }
    if (silence === null || lock.ttl_ms === null) {
      return { level: 'plain', words: `for another ${text.seconds(lock.remaining_ms - elapsed)}` };
    }
    if (lock.sign_of_life_ms < -60000) {
      const left = text.seconds(lock.remaining_ms - elapsed);
      const lasts = text.seconds(lock.ttl_ms);
      return { level: 'late', words: `clock fault: ${left} left of a lease of ${lasts}`, silence };
    }
    const part = Math.min(1, silence / lock.ttl_ms);
    const of = text.seconds(lock.ttl_ms);
    // A holder renews every third of its ttl: after half of it, a renewal is missing.
    if (part < 0.5)
      return { level: 'good', words: `renewed ${text.seconds(silence)} ago, lease ${of}`, part };
    return { level: 'late', words: `no sign for ${text.seconds(silence)}, lease ${of}`, part, silence };
  }

  const isAlarming = (life) => life.level === 'late' || life.level === 'gone';

  function note(lock) {
    const parts = [];
    if (lock.waiting) parts.push(element('span', 'badge badge-waiting', ['waited for']));
    if (lock.failures > 0)
      parts.push(element('span', 'badge', [text.counted(lock.failures, 'failure')]));
    if (lock.expiries > 0)
      parts.push(element('span', 'badge', [text.counted(lock.expiries, 'expiry', 'expiries')]));
    if (lock.note) parts.push(text.name(lock.note, 'note'));
    if (lock.forced) {
      parts.push(
        element('span', 'note', [
          'taken by force from ',
          text.name(lock.forced.from ?? '–'),
          lock.forced.reason ? ': ' : '',
          text.name(lock.forced.reason ?? ''),
        ]),
      );
    }
    return parts;
  }

  return class Locks {
    /** `choose(lock)` is called when the reader picks a key. */
    constructor(filters, choose) {
      this.filters = filters;
      this.choose = choose;
      this.answer = null;
      this.at = 0;
      this.page = 0;
      this.rows = new Map();
      this.body = document.getElementById('held-rows');
      document.getElementById('held-back').addEventListener('click', () => this.turn(-1));
      document.getElementById('held-on').addEventListener('click', () => this.turn(1));
    }

    set(answer) {
      this.answer = answer;
      this.at = Date.parse(answer.at);
      this.draw();
    }

    turn(by) {
      this.page += by;
      this.draw();
    }

    /** The locks that the filters choose: those without a sign of life, then the longest held. */
    chosen(elapsed) {
      const { filters } = this;
      const chosen = this.answer.locks
        .filter(
          (lock) =>
            lock.state !== 'free' &&
            filters.hasKey(lock.type, `${lock.type}/${lock.source}`.toLowerCase()) &&
            (filters.holder === '' || lock.holder === filters.holder),
        )
        .map((lock) => ({ lock, life: signOfLife(lock, elapsed) }));
      return chosen.sort(
        (a, b) =>
          isAlarming(b.life) - isAlarming(a.life) ||
          (b.lock.held_ms ?? 0) - (a.lock.held_ms ?? 0) ||
          d3.ascending(a.lock.source, b.lock.source),
      );
    }

    draw() {
      if (!this.answer) return;
      const elapsed = Math.max(0, rowlock.clock.now() - this.at);
      const chosen = this.chosen(elapsed);
      const pages = Math.max(1, Math.ceil(chosen.length / rowsOfAPage));
      this.page = Math.min(Math.max(0, this.page), pages - 1);
      const shown = chosen.slice(this.page * rowsOfAPage, (this.page + 1) * rowsOfAPage);
      const rows = new Map();
      for (const { lock, life } of shown) {
        const id = JSON.stringify([
          lock.type,
          lock.source,
          lock.version,
          lock.state,
          lock.holder,
          lock.note,
          lock.waiting,
          lock.failures,
          lock.expiries,
          lock.forced,
        ]);
        const row = this.rows.get(id) ?? this.row(lock);
        this.update(row, lock, life, elapsed);
        rows.set(id, row);
      }
      this.rows = rows;
      const elements = [...rows.values()].map((row) => row.element);
      // Rows that stay are not touched: the reader may be marking text in one.
      if (
        elements.length !== this.body.children.length ||
        elements.some((row, i) => row !== this.body.children[i])
      ) {
        this.body.replaceChildren(...elements);
      }
      this.drawAround(chosen, pages);
      this.drawTiles(chosen);
    }

    row(lock) {
      const key = element('button', 'link', [text.key(lock.type, lock.source)], { type: 'button' });
      key.addEventListener('click', () => this.choose(lock));
      const age = element('td', 'number held-age');
      const words = element('span', 'life-words');
      const meter = element('span', 'life-meter', [element('span', 'life-left')], {
        'aria-hidden': 'true',
      });
      const made = element('tr', '', [
        element('th', 'held-key', [key], { scope: 'row' }),
        element('td', 'held-holder', [text.holder(lock.holder)]),
        age,
        element('td', 'held-life', [words, meter]),
        element('td', 'held-note', [element('span', 'notes', note(lock))]),
      ]);
      return { element: made, age, words, meter };
    }

    update(row, lock, life, elapsed) {
      const write = (place, words) => {
        if (place.textContent !== words) place.textContent = words;
      };
      write(row.age, lock.held_ms === null ? '–' : text.seconds(lock.held_ms + elapsed));
      write(row.words, life.words);
      row.element.dataset.life = life.level;
      row.meter.hidden = life.part === undefined;
      if (life.part !== undefined)
        row.meter.firstChild.style.width = `${((1 - life.part) * 100).toFixed(1)}%`;
    }

    drawAround(chosen, pages) {
      const { answer, filters } = this;
      const first = this.page * rowsOfAPage + 1;
      const last = Math.min(chosen.length, first + rowsOfAPage - 1);
      let count = chosen.length === 0 ? '' : text.counted(chosen.length, 'lock');
      if (pages > 1) count = `${first}–${last} of ${count}`;
      if (answer.truncated) count += ', and more: choose a type or a holder';
      document.getElementById('held-count').textContent = count;
      document.getElementById('held-pager').hidden = pages === 1;
      document.getElementById('held-back').disabled = this.page === 0;
      document.getElementById('held-on').disabled = this.page === pages - 1;
      const empty = document.getElementById('held-empty');
      empty.hidden = chosen.length > 0;
      empty.textContent = filters.isNarrow
        ? 'No held lock matches the filters.'
        : 'Nothing is held.';
      this.body.parentElement.hidden = chosen.length === 0;
    }

    drawTiles(chosen) {
      const silent = chosen.filter(({ life }) => isAlarming(life));
      const oldest = chosen.reduce((found, { lock }) => Math.max(found, lock.held_ms ?? 0), 0);
      const elapsed = Math.max(0, rowlock.clock.now() - this.at);
      const more = this.answer.truncated ? '+' : '';
      rowlock.tile(
        'held',
        `${chosen.length}${more}`,
        chosen.length > 0 ? [`longest ${text.seconds(oldest + elapsed)}`] : [],
      );
      const worst = silent.reduce(
        (found, one) =>
          !found || (one.life.silence ?? 0) > (found.life.silence ?? 0) ? one : found,
        null,
      );
      rowlock.tile(
        'silent',
        String(silent.length),
        worst ? [text.key(worst.lock.type, worst.lock.source)] : [],
        silent.length > 0 ? 'late' : '',
      );
    }
  };
})();

/** Writes a tile of the summary; `level` is `late`, `failed` or nothing. */
rowlock.tile = (name, number, detail, level = '') => {
  const tile = document.getElementById(`tile-${name}`);
  tile.dataset.level = level;
  tile.querySelector('.tile-number').textContent = number;
  const place = tile.querySelector('.tile-detail');
  const wanted = rowlock.text.element('span', '', detail);
  if (place.textContent !== wanted.textContent) place.replaceChildren(...wanted.childNodes);
};
