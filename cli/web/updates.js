// Fetching: the first page, older pages, and what is new every two seconds.
'use strict';

const pauseBetween = 2000;
const patience = 15000;
const pageLength = 5000;
const mostLocks = 1000;
// Events become visible when their transactions commit, so some come after later ones.
const overlap = 10000;

// The time of the database. Only durations are measured here: the clock of this machine may be
// wrong.
const clock = {
  at: 0,
  receivedAt: 0,
  isStopped: true,
  /** The database's time as `text` says, from now on. */
  set(text) {
    this.at = Date.parse(text);
    this.receivedAt = performance.now();
    this.isStopped = false;
  },
  /** Stands still: nothing is known of the time since the last answer. */
  stop() {
    this.isStopped = true;
  },
  /** The database's time, as far as it is known. */
  now() {
    return this.isStopped ? this.at : this.at + this.age();
  },
  /** How long ago the last answer came. */
  age() {
    return performance.now() - this.receivedAt;
  },
};

async function get(path, parameters) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value));
  const signal = AbortSignal.timeout(patience);
  try {
    const answer = await fetch(`${path}?${query}`, { signal, cache: 'no-store' });
    const content = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(content.error || `${path} answers ${answer.status}`);
    return content;
  } catch (error) {
    if (error.name === 'TimeoutError') throw new Error(`no answer within ${patience / 1000} s`);
    if (error instanceof TypeError) throw new Error('rowlock serve does not answer');
    throw error;
  }
}

class Updates {
  isPaused = false;
  isRunning = false;
  tooManyLocks = false;
  timer = null;

  /**
   * `on.locks(answer, isWhole)`, `on.history(isThere)` and `on.fault(text)`, `null` when all is
   * well, are called with what came; `wanted()` is the filter for the locks and the time that the
   * events should reach back to.
   */
  constructor(history, wanted, on) {
    this.history = history;
    this.wanted = wanted;
    this.on = on;
    document.addEventListener('visibilitychange', () => this.start());
  }

  setPaused(isPaused) {
    this.isPaused = isPaused;
    clearTimeout(this.timer);
    this.start();
  }

  /** Fetches now, and then every two seconds while the page is visible. */
  start() {
    if (this.isPaused || document.hidden) return;
    this.run(async () => {
      await this.fetchLocks();
      await this.fetchNewer();
      this.on.fault(null);
      await this.fetchOlder();
    });
  }

  /** Fetches older events now, even while paused: the reader has asked for more. */
  more() {
    this.run(() => this.fetchOlder());
  }

  async run(step) {
    if (this.isRunning) return;
    clearTimeout(this.timer);
    this.isRunning = true;
    try {
      await step();
    } catch (error) {
      this.on.fault(error.message);
    } finally {
      this.isRunning = false;
      if (!this.isPaused && !document.hidden)
        this.timer = setTimeout(() => this.start(), pauseBetween);
    }
  }

  async fetchLocks() {
    // All locks, if they are few; otherwise those that the filters choose.
    const { type, holder } = this.wanted();
    const filter = this.tooManyLocks ? { type, holder } : {};
    const answer = await get('api/locks', { ...filter, limit: mostLocks });
    const isWhole = !answer.truncated && !filter.type && !filter.holder;
    this.tooManyLocks = !isWhole;
    clock.set(answer.at);
    this.on.locks(answer, isWhole);
  }

  async fetchNewer() {
    const { history } = this;
    if (history.next === undefined) return;
    const from = Math.max(history.newest - overlap, history.loadedFrom);
    const since = Number.isFinite(from) ? new Date(from).toISOString() : '';
    let before = null;
    let isForgotten = false;
    do {
      const answer = await get('api/history', { since, before, limit: pageLength });
      history.add(answer.events);
      before = answer.next;
      // After a long pause there may be more than the page keeps.
      isForgotten = answer.events.some((event) => event.time < history.loadedFrom);
    } while (before !== null && !isForgotten);
    this.on.history(true);
  }

  async fetchOlder() {
    const { history } = this;
    while (history.next !== null && history.loadedFrom > this.wanted().from) {
      const answer = await get('api/history', { before: history.next, limit: pageLength });
      if (!answer.has_history) {
        // Asked again with the next update: it may be installed meanwhile.
        this.on.history(false);
        return;
      }
      history.addOlder(answer);
      this.on.history(true);
    }
  }
}
