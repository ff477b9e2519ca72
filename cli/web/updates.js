// Fetching: the first page, older pages, and what is new every two seconds.
'use strict';

// The time of the database. Only durations are measured here: the clock of this machine may be
// wrong.
rowlock.clock = (() => {
  let at = 0;
  let receivedAt = 0;
  let isStopped = true;

  return {
    /** The database's time as `text` says, from now on. */
    set(text) {
      at = Date.parse(text);
      receivedAt = performance.now();
      isStopped = false;
    },
    /** Stands still: nothing is known of the time since the last answer. */
    stop() {
      isStopped = true;
    },
    /** The database's time, as far as it is known. */
    now: () => (isStopped ? at : at + (performance.now() - receivedAt)),
    /** How long ago the last answer came. */
    age: () => performance.now() - receivedAt,
  };
})();

rowlock.Updates = (() => {
  const pause = 2000;
  const patience = 15000;
  const pageLength = 5000;
  const mostLocks = 1000;
  // Events become visible when their transactions commit, so some come after later ones.
  const overlap = 10000;

  async function get(path, parameters) {
    const query = new URLSearchParams(
      Object.entries(parameters).filter(([, value]) => value !== '' && value !== null),
    );
    const abandon = new AbortController();
    const timer = setTimeout(() => abandon.abort(), patience);
    try {
      const answer = await fetch(`${path}?${query}`, { signal: abandon.signal, cache: 'no-store' });
      const content = await answer.json().catch(() => ({}));
      if (!answer.ok) throw new Error(content.error || `${path} answers ${answer.status}`);
      return content;
    } catch (error) {
      if (error.name === 'AbortError') throw new Error(`no answer within ${patience / 1000} s`);
      if (error instanceof TypeError) throw new Error('rowlock serve does not answer');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  return class Updates {
    /**
     * `on.locks(answer, isWhole)`, `on.history()`, `on.noHistory()`, `on.fault(text)` and
     * `on.recovered()` are called with what came; `wanted()` is the filter for the locks and the
     * time that the events should reach back to.
     */
    constructor(history, wanted, on) {
      this.history = history;
      this.wanted = wanted;
      this.on = on;
      this.isPaused = false;
      this.isRunning = false;
      this.tooManyLocks = false;
      this.timer = null;
      document.addEventListener('visibilitychange', () => this.start());
    }

    pause() {
      this.isPaused = true;
      clearTimeout(this.timer);
    }

    resume() {
      this.isPaused = false;
      this.start();
    }

    /** Fetches now, and then every two seconds while the page is visible. */
    start() {
      if (this.isPaused || document.hidden) return;
      this.run(async () => {
        await this.fetchLocks();
        await this.fetchNewer();
        this.on.recovered();
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
        if (!this.isPaused && !document.hidden) this.timer = setTimeout(() => this.start(), pause);
      }
    }

    async fetchLocks() {
      // All locks, if they are few; otherwise those that the filters choose.
      const { type, holder } = this.wanted();
      const filter = this.tooManyLocks ? { type, holder } : {};
      const answer = await get('api/locks', { ...filter, limit: mostLocks });
      const isFiltered = Boolean(filter.type || filter.holder);
      this.tooManyLocks = answer.truncated || isFiltered;
      rowlock.clock.set(answer.at);
      this.on.locks(answer, !answer.truncated && !isFiltered);
    }

    async fetchNewer() {
      const history = this.history;
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
      this.on.history();
    }

    async fetchOlder() {
      const history = this.history;
      const isWanted = () => history.next !== null && history.loadedFrom > this.wanted().from;
      while (isWanted()) {
        const answer = await get('api/history', {
          before: history.next ?? null,
          limit: pageLength,
        });
        if (!answer.has_history) {
          // Asked again with the next update: it may be installed meanwhile.
          this.on.noHistory();
          return;
        }
        history.addOlder(answer);
        this.on.history();
      }
    }
  };
})();
