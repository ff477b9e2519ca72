// The lanes that the filters choose, what is remarkable about each, and their order.
'use strict';

// A grant to another holder within a second of a release: it was waited for.
const atOnce = 1000;

const isPassedOn = ([a, b]) => b.begin - a.end < atOnce && a.holder !== b.holder;

/** What a lane has between `from` and `to`; `null` if it has nothing there that is wanted. */
function summary(history, lane, filters, from, to) {
  if (!filters.hasKey(lane.type, lane.text)) return null;
  const items = history.itemsBetween(lane, from, to);
  const isWaitedFor = Boolean(lane.lock?.waiting);
  if (items.length === 0 && !isWaitedFor) return null;
  const wanted = items.filter((item) => filters.hasHolder(item));
  if (filters.holder !== '' && wanted.length === 0) return null;
  const holds = items.filter((item) => item.isHold);
  return {
    lane,
    isWaitedFor,
    holds: holds.length,
    holders: new Set(holds.map((hold) => hold.holder)).size,
    passedOn: d3.pairs(holds).filter(isPassedOn).length,
    troubles: wanted.filter((item) => isTrouble(item) && item.end <= to),
    isHeld: items.some((item) => item.isOpen),
    latest: items.length > 0 ? Math.min(last(items).end, to) : to,
  };
}

const byName = (a, b) =>
  d3.ascending(a.lane.text, b.lane.text) || d3.ascending(a.lane.id, b.lane.id);

const laneOrders = {
  trouble: (a, b) =>
    b.troubles.length - a.troubles.length ||
    b.isWaitedFor - a.isWaitedFor ||
    b.isHeld - a.isHeld ||
    b.latest - a.latest ||
    byName(a, b),
  latest: (a, b) => b.latest - a.latest || byName(a, b),
  busiest: (a, b) => b.holds - a.holds || byName(a, b),
  name: byName,
};

/** The summaries of all lanes with something between `from` and `to`, in the chosen order. */
const summaries = (history, filters, from, to) =>
  Array.from(history.lanes.values(), (lane) => summary(history, lane, filters, from, to))
    .filter(Boolean)
    .sort(laneOrders[filters.order]);

/** `shown`, with what is new in `found` behind it: lanes do not jump while they are read. */
const extended = (shown, found) => [...new Set([...shown, ...found])];
