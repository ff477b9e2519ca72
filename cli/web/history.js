// The loaded history: events, joined to holds, in a lane for each key.
//
// A hold is known from its last event (which has its `since` and `until`), or from its first
// (`granted`) while it lasts. Items of a lane are holds and points in time, sorted by their begin:
//   {begin, end, holder, token, how, reason, correlation, isHold, isOpen, reach, lane}
// `how` is the last event of a hold, `null` while it lasts; the event itself for a point. `reach`
// is the latest end so far, so that the first item visible after some time can be found by
// bisection.
'use strict';

// 100,000 events take about 60 MB of the browser's memory.
const mostEvents = 200000;
const endEvents = ['released', 'failed', 'handed over', 'ran out', 'forced'];
const troubleKinds = ['failed', 'ran out', 'forced'];

const isTrouble = (item) => troubleKinds.includes(item.how);

const indexOfBegin = d3.bisector((item) => item.begin).right;
const indexOfEnd = d3.bisector((item) => item.end).left;
const indexOfReach = d3.bisector((item) => item.reach).left;

/** Where an item ends, or has come to. */
const endSoFar = (item) => Math.min(item.end, clock.now());

const last = (items) => items[items.length - 1];

const endsHold = (event) => Number.isFinite(event.held_ms);
// A lease that ran out was over before that was found out.
const endOfEvent = (event) => (endsHold(event) ? Date.parse(event.until) : event.time);
const beginOfEvent = (event) => (endsHold(event) ? Date.parse(event.since) : event.time);

// The order of a key's events. A grant after a handover has the version that the end moved to.
const inOrder = (a, b) =>
  a.version - b.version || (a.what === 'granted') - (b.what === 'granted') || a.time - b.time;

const eventIdentity = (event) => `${event.version} ${event.what}`;

function itemOf(lane, event, begin, end, isHold) {
  const isOpen = end === Infinity;
  return {
    lane,
    begin,
    end,
    isHold,
    isOpen,
    holder: event.holder,
    token: event.token ?? (event.what === 'granted' ? event.version : null),
    how: isOpen ? null : event.what,
    reason: event.reason,
    correlation: event.correlation_id,
  };
}

/** Ends `open` at `end`, as `event` says, or in a way that was not recorded. */
function endItem(open, end, event) {
  open.isOpen = false;
  open.end = Math.max(open.begin, end);
  open.how = event?.what ?? 'unknown';
  open.reason = event?.reason;
  open.correlation = event?.correlation_id ?? open.correlation;
  open.holder ??= event?.holder;
}

/** Joins the events of one key, which are `inOrder`; `open` is the hold without an end. */
function join(lane) {
  const items = [];
  let open = null;
  for (const event of lane.events) {
    if (event.what === 'granted') {
      if (open) endItem(open, event.time);
      open = itemOf(lane, event, event.time, Infinity, true);
      items.push(open);
    } else if (
      open &&
      (event.token ?? open.token) === open.token &&
      (endsHold(event) || endEvents.includes(event.what))
    ) {
      endItem(open, endOfEvent(event), event);
      open = null;
    } else {
      items.push(itemOf(lane, event, beginOfEvent(event), endOfEvent(event), endsHold(event)));
    }
  }
  return { items, open };
}

/**
 * Adds what the locks say: the last hold, if its events are not known; a hold that began before
 * the first event, or none any more, if the key was free at `freeAt`.
 */
function joinLock(lane, items, open, freeAt) {
  const { lock } = lane;
  if (lock?.last && items.length === 0) {
    const { holder, from, until, how } = lock.last;
    const event = { holder, what: how, reason: how === 'forced' ? lock.force_reason : null };
    items.push(itemOf(lane, event, Date.parse(from), Date.parse(until), from !== until));
  }
  if (lock && lock.since !== null && ['held', 'run out'].includes(lock.state)) {
    const begin = Date.parse(lock.since);
    if (!open && (items.length === 0 || last(items).end < begin)) {
      open = itemOf(lane, { ...lock, what: 'granted' }, begin, Infinity, true);
      items.push(open);
    }
    if (open) open.isRunOut = lock.state === 'run out';
  } else if (open && open.begin < freeAt) {
    endItem(open, open.begin);
  }
}

function finish(lane, items) {
  items.sort((a, b) => a.begin - b.begin);
  let reach = -Infinity;
  for (const item of items) {
    reach = Math.max(reach, item.end);
    item.reach = reach;
  }
  lane.items = items;
  lane.holds = items.filter((item) => item.isHold);
  lane.points = items.filter((item) => !item.isHold && !isTrouble(item));
  lane.troubles = troubleKinds.map((kind) => items.filter((item) => item.how === kind));
  lane.isStale = false;
}

class History {
  lanes = new Map();
  /** How many events are loaded. */
  size = 0;
  /** Begin of the time that is loaded without a gap. */
  loadedFrom = Infinity;
  /** What to load older events with; `null` when there are none, `undefined` at first. */
  next = undefined;
  /** Times of the newest and of the oldest event. */
  newest = -Infinity;
  oldest = Infinity;
  isFull = false;
  /** Time of the last answer with all held locks, and of the one before the last events. */
  wholeAt = -Infinity;
  freeAt = -Infinity;

  lane(type, source) {
    const id = `${type.length}:${type}/${source}`;
    let lane = this.lanes.get(id);
    if (!lane) {
      const text = `${type}/${source}`.toLowerCase();
      lane = { id, type, source, text, events: [], known: new Set(), items: [], lock: null };
      lane.isStale = true;
      this.lanes.set(id, lane);
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
      lane.events.push(event);
      lane.isStale = true;
      lane.isSorted = false;
      this.size += 1;
      this.newest = Math.max(this.newest, event.time);
      this.oldest = Math.min(this.oldest, event.time);
    }
    if (this.size > mostEvents) this.forget();
  }

  /** Adds a page that ends at the oldest loaded event, or is the first. */
  addOlder(answer) {
    this.add(answer.events);
    if (this.isFull) return;
    this.next = answer.next;
    if (answer.events.length > 0)
      this.loadedFrom = Math.min(this.loadedFrom, last(answer.events).time);
    if (answer.next === null) this.loadedFrom = -Infinity;
  }

  /** Forgets the oldest events, a tenth of all. */
  forget() {
    const events = d3.merge(Array.from(this.lanes.values(), (lane) => lane.events));
    const first = Float64Array.from(events, (event) => event.time).sort()[
      Math.floor(this.size / 10)
    ];
    this.isFull = true;
    this.next = null;
    this.loadedFrom = Math.max(this.loadedFrom, first);
    for (const lane of this.lanes.values()) {
      const kept = lane.events.filter((event) => event.time >= first);
      if (kept.length === lane.events.length) continue;
      this.size -= lane.events.length - kept.length;
      lane.events = kept;
      lane.known = new Set(kept.map(eventIdentity));
      lane.isStale = true;
    }
  }

  /** The types there are, and the holders with their numbers of events. */
  choices() {
    const types = new Set();
    const holders = new Map();
    const count = (holder, by) => holder && holders.set(holder, (holders.get(holder) ?? 0) + by);
    for (const lane of this.lanes.values()) {
      types.add(lane.type);
      count(lane.lock?.holder, 0);
      for (const event of lane.events) count(event.holder, 1);
    }
    return { types, holders };
  }

  /** Takes over the answer about the locks. `isWhole`: a lock that it does not name is free. */
  setLocks(answer, isWhole) {
    for (const lane of this.lanes.values()) {
      if (!lane.lock) continue;
      if (isWhole) lane.lock = null;
      lane.isStale = true;
    }
    for (const lock of answer.locks) {
      const lane = this.lane(lock.type, lock.source);
      lane.lock = lock;
      lane.isStale = true;
    }
    this.wholeAt = isWhole ? Date.parse(answer.at) : -Infinity;
  }

  /**
   * The events are newer than the locks now: a hold without an end, its key free, has ended. Lanes
   * without events and lock are forgotten.
   */
  settle() {
    this.freeAt = this.wholeAt;
    for (const lane of this.lanes.values()) {
      if (!lane.lock && lane.events.length === 0) this.lanes.delete(lane.id);
      else if (last(lane.items)?.isOpen) lane.isStale = true;
    }
  }

  /** The items of a lane, joined when they are first needed. */
  items(lane) {
    if (lane.isStale) {
      if (!lane.isSorted) lane.events.sort(inOrder);
      lane.isSorted = true;
      const { items, open } = join(lane);
      joinLock(lane, items, open, this.freeAt);
      finish(lane, items);
    }
    return lane.items;
  }

  /** The items of a lane that have a part of their time between `from` and `to`. */
  itemsBetween(lane, from, to) {
    const items = this.items(lane);
    const end = indexOfBegin(items, to);
    return items
      .slice(Math.min(indexOfReach(items, from), end), end)
      .filter((item) => item.end >= from);
  }
}
