// The page: puts its parts together, for a running server or for a report.
'use strict';

(() => {
  const { text } = rowlock;
  const find = (id) => document.getElementById(id);
  const stored = find('rowlock-data');
  const isReport = stored !== null;

  const history = new rowlock.History();
  const filters = new rowlock.Filters(filtersChanged, isReport ? 'all' : '1h');
  const locks = new rowlock.Locks(filters, chooseKey);
  const timeline = new rowlock.Timeline(history, filters, chooseKey);
  new rowlock.Gestures(timeline);
  const troubles = new rowlock.Troubles(filters, chooseKey, (item) => {
    if (hasHistory) timeline.present(item);
    else chooseKey(item.lane);
  });
  let updates = null;
  let fault = null;
  let hasHistory = true;

  /** Shows one key only. */
  function chooseKey({ type, source }) {
    filters.fields.key.value = source;
    filters.choose('type', type);
  }

  function filtersChanged(name) {
    locks.page = 0;
    locks.draw();
    if (hasHistory) drawHistory(true);
    else drawTroublesAlone();
    if (name === 'range') {
      timeline.reset();
      if (updates) updates.more();
    }
  }

  /** Draws what depends on the events; `isNewOrder`: the lanes may change their places. */
  function drawHistory(isNewOrder) {
    const { from, to } = timeline.outer();
    const summaries = rowlock.lanes.chosen(history, filters, from, to);
    const found = summaries.map((about) => about.lane);
    timeline.setLanes(isNewOrder ? found : rowlock.lanes.extended(timeline.shown, found));
    troubles.draw(summaries);
    filters.setChoices(history.types, history.holders);
    find('timeline-count').textContent = countIn(found.length);
    const empty = find('timeline-empty');
    empty.hidden = timeline.shown.length > 0;
    empty.textContent = filters.isNarrow
      ? 'No hold matches the filters in this range.'
      : 'No lock was held in this range.';
    find('main').dataset.events = String(history.size);
    find('main').dataset.complete = String(isLoaded(from));
  }

  const isLoaded = (from) => history.next === null || history.loadedFrom <= from;

  function countIn(number) {
    const parts = [text.counted(number, 'key'), text.counted(history.size, 'event')];
    if (history.isFull) parts.push('older ones are left out');
    else if (isReport && history.loadedFrom !== -Infinity)
      parts.push('older ones are not in this report');
    else if (!isReport && !isLoaded(timeline.outer().from)) parts.push('loading older ones…');
    return parts.join(' · ');
  }

  function setLocks(answer, isWhole) {
    locks.set(answer);
    history.setLocks(answer, isWhole);
    if (!hasHistory) {
      filters.setChoices(history.types, history.holders);
      drawTroublesAlone();
    }
  }

  let loaded = 0;

  function setHistory() {
    history.settle();
    if (!hasHistory) showHistory(true);
    // While older pages come in, lanes go to their places; later, new ones come last.
    const isNewOrder = history.loadedFrom !== loaded;
    const isFirst = loaded === 0;
    loaded = history.loadedFrom;
    if (isFirst) timeline.reset();
    drawHistory(isNewOrder);
    if (isNewOrder && timeline.isFollowing && timeline.isWhole) timeline.reset();
  }

  function showHistory(isThere) {
    hasHistory = isThere;
    document.documentElement.dataset.history = isThere ? 'there' : 'none';
    find('timeline-section').hidden = !isThere;
    find('no-history').hidden = isThere;
  }

  function setNoHistory() {
    showHistory(false);
    history.prune();
    drawTroublesAlone();
  }

  /** Without a history, the locks tell what waits now, and how the last hold of each key ended. */
  function drawTroublesAlone() {
    const now = rowlock.clock.now();
    troubles.draw(rowlock.lanes.chosen(history, filters, now - 86400000, now));
    find('failed-empty').textContent = 'No listed lock failed, ran out or was forced lately.';
  }

  // -- The state of the page ----------------------------------------------------------------------

  function showState() {
    let state = 'live';
    let words = `live, ${text.timeOfDay(rowlock.clock.now())} ${rowlock.zone.name()}`;
    if (isReport) {
      state = 'report';
      words = `report, taken ${text.time(rowlock.clock.now()).replace(/\.\d+/, '')}`;
    } else if (fault !== null) {
      state = 'away';
      words = 'not up to date';
    } else if (updates.isPaused) {
      state = 'paused';
      words = `paused at ${text.timeOfDay(rowlock.clock.now())} ${rowlock.zone.name()}`;
    }
    document.documentElement.dataset.state = state;
    if (find('state-text').textContent !== words) find('state-text').textContent = words;
    if (fault !== null) {
      find('banner-age').textContent = locks.answer
        ? `What you see is ${text.seconds(rowlock.clock.age())} old. Trying again every 2 s.`
        : 'Nothing is known yet. Trying again every 2 s.';
    }
  }

  function setFault(words) {
    rowlock.clock.stop();
    if (fault !== words) find('banner-text').textContent = `No data: ${text.isolated(words)}`;
    fault = words;
    find('banner').hidden = false;
    showState();
  }

  function setRecovered() {
    if (fault !== null) {
      fault = null;
      find('banner').hidden = true;
      find('banner-text').textContent = '';
    }
    showState();
  }

  function tick() {
    showState();
    if (document.hidden || isReport) return;
    if (fault === null && !updates.isPaused) {
      locks.draw();
      timeline.tick();
    }
  }

  function setPaused(isPaused) {
    const button = find('pause');
    button.setAttribute('aria-pressed', String(isPaused));
    button.textContent = isPaused ? 'Go on' : 'Pause';
    if (isPaused) {
      rowlock.clock.stop();
      updates.pause();
    } else {
      updates.resume();
    }
    showState();
  }

  find('zone').addEventListener('click', () => {
    rowlock.zone.isLocal = !rowlock.zone.isLocal;
    find('zone').textContent = rowlock.zone.isLocal ? 'Local time' : 'UTC';
    if (hasHistory) drawHistory(false);
    else drawTroublesAlone();
    showState();
  });

  rowlock.colours.watch(() => timeline.schedule());

  if (isReport) {
    find('pause').hidden = true;
    const data = JSON.parse(stored.textContent);
    rowlock.clock.set(data.history.at);
    rowlock.clock.stop();
    history.addOlder(data.history);
    setLocks(data.locks, !data.locks.truncated);
    if (data.history.has_history) setHistory();
    else setNoHistory();
    showState();
  } else {
    updates = new rowlock.Updates(
      history,
      () => ({
        type: filters.type,
        holder: filters.holder,
        from: timeline.outer().from,
      }),
      {
        locks: setLocks,
        history: setHistory,
        noHistory: setNoHistory,
        fault: setFault,
        recovered: setRecovered,
      },
    );
    find('pause').addEventListener('click', () => setPaused(!updates.isPaused));
    updates.start();
  }
  setInterval(tick, 1000);
})();
