// The lanes that the filters choose, what is remarkable about each, and their order.
'use strict';

rowlock.lanes = (() => {
  const { History } = rowlock;
  // A grant to another holder within a second of a release: it was waited for.
  const atOnce = 1000;

  /** What a lane has between `from` and `to`; `null` if it has nothing there that is wanted. */
  function summary(history, lane, filters, from, to) {
    if (!filters.hasKey(lane.type, lane.text)) return null;
    const items = history.itemsBetween(lane, from, to);
    if (items.length === 0 && !(lane.lock && lane.lock.waiting)) return null;
    const wanted = filters.holder;
    if (wanted !== '' && !items.some((item) => item.holder === wanted)) return null;
    const holders = new Set();
    const troubles = [];
    let holds = 0;
    let passedOn = 0;
    let isHeld = false;
    let before = null;
    for (const item of items) {
      if (item.isHold) {
        holds += 1;
        holders.add(item.holder);
        const isAtOnce = before && item.begin - before.end < atOnce;
        if (isAtOnce && item.holder !== before.holder) passedOn += 1;
        before = item;
      }
      isHeld = isHeld || item.isOpen;
      const isTrouble = History.troubles.includes(item.how) && item.end <= to;
      if (isTrouble && (wanted === '' || item.holder === wanted)) troubles.push(item);
    }
    const last = items[items.length - 1];
    return {
      lane,
      holds,
      holders: holders.size,
      passedOn,
      troubles,
      isHeld,
      isWaitedFor: Boolean(lane.lock && lane.lock.waiting),
      latest: last ? Math.min(last.end, to) : to,
    };
  }

  const byName = (a, b) =>
    d3.ascending(a.lane.text, b.lane.text) || d3.ascending(a.lane.id, b.lane.id);

  const orders = {
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
  function chosen(history, filters, from, to) {
    const found = [];
    for (const lane of history.lanes.values()) {
      const about = summary(history, lane, filters, from, to);
      if (about) found.push(about);
    }
    return found.sort(orders[filters.order] ?? orders.trouble);
  }

  /** `shown`, with what is new in `found` behind it: lanes do not jump while they are read. */
  function extended(shown, found) {
    const known = new Set(shown);
    return shown.concat(found.filter((lane) => !known.has(lane)));
  }

  return { chosen, extended };
})();
