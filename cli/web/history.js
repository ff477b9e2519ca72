// The loaded history: events, joined to holds, in a lane for each key.
//
// A hold is known from its last event (which has its `since` and `until`), or from its first
// (`granted`) while it lasts. Items of a lane are holds and points in time, sorted by their begin:
//   {begin, end, holder, token, how, reason, correlation, isHold, isOpen, reach, lane}
// `how` is the last event of a hold, `null` while it lasts; the event itself for a point. `reach`
// is the latest end so far, so that the first item visible after some time can be found by
// bisection.
'use strict';

rowlock.History = (() => {
  // 100,000 events take about 60 MB of the browser's memory.
  const mostEvents = 200000;
  const ends = new Set(['released', 'failed', 'handed over', 'ran out', 'forced']);
  const troubles = ['failed', 'ran out', 'forced'];

  const beginOf = d3.bisector((item) => item.begin).right;
  const reachOf = d3.bisector((item) => item.reach).left;

  const endsHold = (event) => Number.isFinite(event.held_ms);
  // A lease that ran out was over before that was found out.
  const endOf = (event) => (endsHold(event) ? Date.parse(event.until) : event.time);
  const beginOfHold = (event) => (endsHold(event) ? Date.parse(event.since) : event.time);

  // The order of a key's events. A grant after a handover has the version that the end moved to.
  const inOrder = (a, b) =>
    a.version - b.version || (a.what === 'granted') - (b.what === 'granted') || a.time - b.time;

  const eventIdentity = (event) => `${event.version} ${event.what}`;

  const identity = (type, source) => `${type.length}:${type}/${source}`;

  function itemOf(lane, event, begin, end, isHold) {
    return {
      lane,
      begin,
      end,
      isHold,
      isOpen: false,
      reach: end,
      holder: event.holder,
      token: event.token ?? (event.what === 'granted' ? event.version : null),
      how: event.what,
      reason: event.reason,
      correlation: event.correlation_id,
    };
  }

  function openItem(lane, event) {
    const item = itemOf(lane, event, event.time, Infinity, true);
    item.isOpen = true;
    item.how = null;
    return item;
  }

  function lastItem(lane, lock) {
    const { holder, from, until, how } = lock.last;
    const event = {
      holder,
      token: null,
      what: how,
      reason: how === 'forced' ? lock.force_reason : null,
      correlation_id: null,
    };
    return itemOf(lane, event, Date.parse(from), Date.parse(until), from !== until);
  }

  /** Ends `open` at `time`, as `event` says, or in a way that was not recorded. */
  function endItem(open, time, event) {
    open.isOpen = false;
    open.end = Math.max(open.begin, time);
    open.how = event ? event.what : 'unknown';
    if (event) {
      open.reason = event.reason;
      open.correlation = event.correlation_id ?? open.correlation;
      open.holder = open.holder ?? event.holder;
    }
  }

  /** Joins the events of one key, which are `inOrder`. */
  function join(lane) {
    const items = [];
    let open = null;
    for (const event of lane.events) {
      if (event.what === 'granted') {
        if (open) endItem(open, event.time, null);
        open = openItem(lane, event);
        items.push(open);
      } else if (
        open &&
        (event.token ?? open.token) === open.token &&
        (endsHold(event) || ends.has(event.what))
      ) {
        endItem(open, endOf(event), event);
        open = null;
      } else {
        items.push(itemOf(lane, event, beginOfHold(event), endOf(event), endsHold(event)));
      }
    }
    return { items, open };
  }

  /**
   * Adds what the locks say: the last hold, if its events are not known; a hold that began before
   * the first event, or none any more, if the key was free at `freeAt`.
   */
  function joinLock(lane, items, open, freeAt) {
    const lock = lane.lock;
    if (lock && lock.last && items.length === 0) items.push(lastItem(lane, lock));
    if (lock && lock.since !== null && ['held', 'run out'].includes(lock.state)) {
      const begin = Date.parse(lock.since);
      let held = open;
      if (!held && (items.length === 0 || items[items.length - 1].end < begin)) {
        held = openItem(lane, {
          time: begin,
          what: 'granted',
          version: lock.version,
          holder: lock.holder,
          reason: null,
          correlation_id: lock.correlation_id,
        });
        items.push(held);
      }
      if (held) held.isRunOut = lock.state === 'run out';
    } else if (open && open.begin < freeAt) {
      endItem(open, open.begin, null);
    }
  }

  function finish(lane, items) {
    items.sort((a, b) => a.begin - b.begin);
    lane.holds = [];
    lane.points = [];
    lane.troubles = new Map(troubles.map((kind) => [kind, []]));
    let reach = -Infinity;
    for (const item of items) {
      reach = Math.max(reach, item.end);
      item.reach = reach;
      if (troubles.includes(item.how)) lane.troubles.get(item.how).push(item);
      if (item.isHold) lane.holds.push(item);
      else if (!troubles.includes(item.how)) lane.points.push(item);
    }
    lane.items = items;
    lane.isStale = false;
  }

  return class History {
    constructor() {
      this.lanes = new Map();
      /** How many events are loaded. */
      this.size = 0;
      this.holders = new Map();
      this.types = new Map();
      /** Begin of the time that is loaded without a gap. */
      this.loadedFrom = Infinity;
      /** What to load older events with; `null` when there are none, `undefined` at first. */
      this.next = undefined;
      /** Time of the newest event. */
      this.newest = -Infinity;
      /** Time of the oldest event. */
      this.oldest = Infinity;
      this.isFull = false;
      /** Time of the last answer with all held locks, and of the one before the last events. */
      this.wholeAt = -Infinity;
      this.freeAt = -Infinity;
    }

    lane(type, source) {
      const id = identity(type, source);
      let lane = this.lanes.get(id);
      if (!lane) {
        lane = {
          id,
          type,
          source,
          text: `${type}/${source}`.toLowerCase(),
          events: [],
          known: new Set(),
          items: [],
          lock: null,
          isStale: true,
          isSorted: true,
        };
        this.lanes.set(id, lane);
        this.types.set(type, (this.types.get(type) ?? 0) + 1);
      }
      return lane;
    }

    /** Adds a page of events, newest first, or a part of one. Those that are known are left out. */
    add(events) {
      for (const event of events) {
        event.time = Date.parse(event.at);
        const lane = this.lane(event.type, event.source);
        const id = eventIdentity(event);
        if (lane.known.has(id)) continue;
        lane.known.add(id);
        this.size += 1;
        this.newest = Math.max(this.newest, event.time);
        this.oldest = Math.min(this.oldest, event.time);
        lane.events.push(event);
        lane.isStale = true;
        lane.isSorted = false;
        if (event.holder) this.holders.set(event.holder, (this.holders.get(event.holder) ?? 0) + 1);
      }
      if (this.size > mostEvents) this.forget();
    }

    /** Adds a page that ends at the oldest loaded event, or is the first. */
    addOlder(answer) {
      this.add(answer.events);
      if (this.isFull) return;
      this.next = answer.next;
      const last = answer.events[answer.events.length - 1];
      if (last) this.loadedFrom = Math.min(this.loadedFrom, last.time);
      if (answer.next === null) this.loadedFrom = -Infinity;
    }

    /** Forgets the oldest events, a tenth of all. */
    forget() {
      const times = new Float64Array(this.size);
      let count = 0;
      for (const lane of this.lanes.values()) {
        for (const event of lane.events) times[count++] = event.time;
      }
      const first = times.sort()[Math.floor(count / 10)];
      this.isFull = true;
      this.next = null;
      for (const lane of this.lanes.values()) {
        const kept = lane.events.filter((event) => event.time >= first);
        if (kept.length === lane.events.length) continue;
        this.size -= lane.events.length - kept.length;
        lane.events = kept;
        lane.known = new Set(kept.map(eventIdentity));
        lane.isStale = true;
      }
      this.loadedFrom = Math.max(this.loadedFrom, first);
      this.holders.clear();
      for (const lane of this.lanes.values()) {
        for (const { holder } of lane.events) {
          if (holder) this.holders.set(holder, (this.holders.get(holder) ?? 0) + 1);
        }
      }
    }

    /** Forgets lanes without events and lock, and holders that are in no lane. */
    prune() {
      const present = new Set();
      for (const lane of this.lanes.values()) {
        if (lane.lock) present.add(lane.lock.holder);
        if (lane.lock || lane.events.length > 0) continue;
        this.lanes.delete(lane.id);
        const left = this.types.get(lane.type) - 1;
        if (left > 0) this.types.set(lane.type, left);
        else this.types.delete(lane.type);
      }
      for (const [holder, count] of this.holders) {
        if (count === 0 && !present.has(holder)) this.holders.delete(holder);
      }
    }

    /** Takes over the answer about the locks. `isWhole`: a lock that it does not name is free. */
    setLocks(answer, isWhole) {
      const at = Date.parse(answer.at);
      for (const lane of this.lanes.values()) {
        if (!lane.lock) continue;
        if (isWhole) lane.lock = null;
        lane.isStale = true;
      }
      for (const lock of answer.locks) {
        const lane = this.lane(lock.type, lock.source);
        lane.lock = lock;
        lane.isStale = true;
        if (lock.holder) this.holders.set(lock.holder, this.holders.get(lock.holder) ?? 0);
      }
      this.wholeAt = isWhole ? at : -Infinity;
    }

    /** The events are newer than the locks now: a hold without an end, its key free, has ended. */
    settle() {
      this.freeAt = this.wholeAt;
      this.prune();
      for (const lane of this.lanes.values()) {
        const last = lane.items[lane.items.length - 1];
        if (last && last.isOpen) lane.isStale = true;
      }
    }

    /** The items of a lane, joined when they are first needed. */
    items(lane) {
      if (lane.isStale) {
        if (!lane.isSorted) {
          lane.events.sort(inOrder);
          lane.isSorted = true;
        }
        const { items, open } = join(lane);
        joinLock(lane, items, open, this.freeAt);
        finish(lane, items);
      }
      return lane.items;
    }

    /** The items of a lane that have a part of their time between `from` and `to`. */
    itemsBetween(lane, from, to) {
      const items = this.items(lane);
      const last = beginOf(items, to);
      return items
        .slice(Math.min(reachOf(items, from), last), last)
        .filter((item) => item.end >= from);
    }

    static reachOf = reachOf;
    static beginOf = beginOf;
    static troubles = troubles;
  };
})();
