// The table of the locks that are held now, and the two tiles about them.
'use strict';

const rowsOfAPage = 50;

/** What is known of a holder's life, in words; `level` is `good`, `late`, `gone` or `plain`. */
function signOfLife(lock, elapsed) {
  const { state, ttl_ms: ttl } = lock;
  const hasLease = lock.sign_of_life_ms !== null && ttl !== null;
  const silence = hasLease ? lock.sign_of_life_ms + elapsed : null;
  const left = seconds(lock.remaining_ms - elapsed);
  if (state === 'busy') return { level: 'plain', words: 'row locked in a transaction' };
  if (state === 'closed') return { level: 'plain', words: `closed for another ${left}` };
  if (state === 'run out') {
    const ago = silence > ttl ? ` ${seconds(silence - ttl)} ago` : '';
    return { level: 'gone', words: `ran out${ago}`, silence };
  }
  if (!hasLease) return { level: 'plain', words: `for another ${left}` };
  const lease = seconds(ttl);
  if (lock.sign_of_life_ms < -60000) {
    return { level: 'late', words: `clock fault: ${left} left of a lease of ${lease}`, silence };
  }
  const part = Math.min(1, silence / ttl);
  const ago = seconds(silence);
  // A holder renews every third of its ttl: after half of it, a renewal is missing.
  if (part < 0.5) return { level: 'good', words: `renewed ${ago} ago, lease ${lease}`, part };
  return { level: 'late', words: `no sign for ${ago}, lease ${lease}`, part, silence };
}

const isAlarming = ({ life }) => life.level === 'late' || life.level === 'gone';

function notesOf({ waiting, failures, expiries, note, asked, forced }) {
  const badge = (words) => element('span', 'badge quiet', words);
  const reason = forced?.reason ? [': ', foreign(forced.reason)] : [];
  return [
    waiting ? waitedFor() : null,
    failures > 0 ? badge(counted(failures, 'failure')) : null,
    expiries > 0 ? badge(counted(expiries, 'expiry', 'expiries')) : null,
    note ? foreign(note, 'quiet two-lines note') : null,
    asked
      ? element('span', 'quiet two-lines note', [
          'asked for by ',
          foreign(asked.by),
          ': ',
          foreign(asked.reason),
        ])
      : null,
    forced
      ? element('span', 'quiet two-lines note', [
          'taken by force from ',
          foreign(forced.from ?? '–'),
          reason,
        ])
      : null,
  ];
}

function meterOf(part) {
  const meter = element('div', 'life-meter', [], { 'aria-hidden': 'true' });
  meter.style.setProperty('--left', `${((1 - part) * 100).toFixed(1)}%`);
  return meter;
}

class Locks {
  answer = null;
  at = 0;
  page = 0;

  /** `choose(lock)` is called when the reader picks a key. */
  constructor(filters, choose) {
    this.filters = filters;
    this.choose = choose;
    this.body = find('held-rows');
    find('held-back').addEventListener('click', () => this.turn(-1));
    find('held-on').addEventListener('click', () => this.turn(1));
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
    return this.answer.locks
      .filter(
        (lock) =>
          lock.state !== 'free' &&
          filters.hasKey(lock.type, `${lock.type}/${lock.source}`.toLowerCase()) &&
          filters.hasHolder(lock),
      )
      .map((lock) => ({ lock, life: signOfLife(lock, elapsed) }))
      .sort(
        (a, b) =>
          isAlarming(b) - isAlarming(a) ||
          b.lock.held_ms - a.lock.held_ms ||
          d3.ascending(a.lock.source, b.lock.source),
      );
  }

  draw() {
    if (!this.answer) return;
    const elapsed = Math.max(0, clock.now() - this.at);
    const chosen = this.chosen(elapsed);
    const pages = Math.max(1, Math.ceil(chosen.length / rowsOfAPage));
    this.page = Math.min(Math.max(0, this.page), pages - 1);
    const first = this.page * rowsOfAPage;
    const shown = chosen.slice(first, first + rowsOfAPage);
    this.drawRows(shown, elapsed);

    let count = chosen.length === 0 ? '' : counted(chosen.length, 'lock');
    if (pages > 1) count = `${first + 1}–${first + shown.length} of ${count}`;
    if (this.answer.truncated) count += ', and more: choose a type or a holder';
    const nothing = this.filters.isNarrow
      ? 'No held lock matches the filters.'
      : 'Nothing is held.';
    showPanel('held', count, chosen.length === 0, nothing);
    this.body.parentElement.hidden = chosen.length === 0;
    find('held-pager').hidden = pages === 1;
    find('held-back').disabled = this.page === 0;
    find('held-on').disabled = this.page === pages - 1;

    const longest = d3.max(chosen, ({ lock }) => lock.held_ms ?? 0) + elapsed;
    const length = `${chosen.length}${this.answer.truncated ? '+' : ''}`;
    showTile('held', length, chosen.length > 0 ? `longest ${seconds(longest)}` : '');
    const silent = chosen.filter(isAlarming);
    const [worst] = silent.sort((a, b) => b.life.silence - a.life.silence);
    showTile('silent', silent.length, worst ? keyOf(worst.lock) : '', worst ? 'late' : '');
  }

  drawRows(shown, elapsed) {
    d3.select(this.body)
      .selectAll('tr')
      .data(shown, ({ lock }) => JSON.stringify([lock.type, lock.source]))
      .join((enter) => enter.append(({ lock }) => this.row(lock)))
      .order()
      .attr('data-level', ({ life }) => life.level)
      .each(function update({ lock, life }) {
        const [, holder, age, sign, notes] = this.children;
        show(holder, holderOf(lock.holder));
        show(age, lock.held_ms === null ? '–' : seconds(lock.held_ms + elapsed));
        const meter = life.part === undefined ? null : meterOf(life.part);
        show(sign, [element('div', 'quiet life-words', life.words), meter]);
        show(notes.firstChild, notesOf(lock));
      });
  }

  row(lock) {
    const key = button('link', keyOf(lock), () => this.choose(lock));
    return element('tr', '', [
      element('th', 'held-key', key, { scope: 'row' }),
      element('td', 'held-holder'),
      element('td', 'number held-age'),
      element('td', 'held-life'),
      element('td', 'held-note', element('span', 'flex wrap notes')),
    ]);
  }
}
