// The page: puts its parts together, for a running server or for a report.
'use strict';

const stored = find('rowlock-data');
const isReport = stored !== null;

const history = new History();
const filters = new Filters(filtersChanged, isReport ? 'all' : '1h');
const locks = new Locks(filters, chooseKey);
const timeline = new Timeline(history, filters, chooseKey);
new Gestures(timeline);
const troubles = new Troubles(chooseKey, (item) => {
  if (hasHistory) timeline.present(item);
  else chooseKey(item.lane);
});
let fault = null;
let hasHistory = true;
/** Where the events began at the last drawing. */
let loaded = null;
const updates = isReport
  ? null
  : new Updates(history, wanted, { locks: setLocks, history: setHistory, fault: setFault });

function wanted() {
  return { type: filters.type, holder: filters.holder, from: timeline.outer().from };
}

/** Shows one key only. */
function chooseKey({ type, source }) {
  filters.key = source;
  filters.choose('type', type);
}

function filtersChanged(name) {
  locks.page = 0;
  locks.draw();
  draw(true);
  if (name === 'range') {
    timeline.reset();
    updates?.more();
  }
}

// -- What is known ----------------------------------------------------------------------------

/** Draws what depends on the events; `isNewOrder`: the lanes may change their places. */
function draw(isNewOrder) {
  filters.setChoices(history.choices());
  if (!hasHistory) {
    // The locks tell what waits now, and how the last hold of each key ended.
    const now = clock.now();
    const about = summaries(history, filters, now - 86400000, now);
    troubles.draw(about, 'No listed lock failed, ran out or was forced lately.');
    return;
  }
  const { from, to } = timeline.outer();
  const about = summaries(history, filters, from, to);
  const found = about.map(({ lane }) => lane);
  timeline.setLanes(isNewOrder ? found : extended(timeline.shown, found));
  troubles.draw(about, 'Nothing failed, ran out or was forced in this range.');
  const isComplete = history.next === null || history.loadedFrom <= from;
  const nothing = filters.isNarrow
    ? 'No hold matches the filters in this range.'
    : 'No lock was held in this range.';
  const parts = [counted(found.length, 'key'), counted(history.size, 'event')];
  if (history.isFull) parts.push('older ones are left out');
  else if (isReport && history.next !== null) parts.push('older ones are not in this report');
  else if (!isReport && !isComplete) parts.push('loading older ones…');
  showPanel('timeline', parts.join(' · '), timeline.shown.length === 0, nothing);
  Object.assign(find('main').dataset, { events: history.size, complete: isComplete });
}

function setLocks(answer, isWhole) {
  locks.set(answer);
  history.setLocks(answer, isWhole);
  if (!hasHistory) draw(false);
}

function setHistory(isThere) {
  hasHistory = isThere;
  document.documentElement.dataset.history = isThere ? 'there' : 'none';
  find('timeline-section').hidden = !isThere;
  find('no-history').hidden = isThere;
  history.settle();
  // While older pages come in, lanes go to their places; later, new ones come last.
  const isNewOrder = history.loadedFrom !== loaded;
  if (loaded === null) timeline.reset();
  loaded = history.loadedFrom;
  draw(isNewOrder);
  if (isNewOrder && timeline.isWhole) timeline.reset();
}

// -- The state of the page ------------------------------------------------------------------------

/** The level of the dot, and the words beside it. */
function stateOfPage() {
  const now = clock.now();
  if (isReport) return ['', `report, taken ${time(now).replace(/\.\d+/, '')}`];
  if (fault !== null) return ['gone', 'not up to date'];
  const at = `${timeOfDay(now)} ${zone.name()}`;
  return updates.isPaused ? ['late', `paused at ${at}`] : ['good', `live, ${at}`];
}

function showState() {
  const [level, words] = stateOfPage();
  find('state-dot').dataset.level = level;
  show(find('state-text'), words);
  find('main').classList.toggle('is-old', fault !== null);
  find('banner').hidden = fault === null;
  show(find('banner-text'), fault === null ? '' : `No data: ${isolated(fault)}`);
  const known = locks.answer
    ? `What you see is ${seconds(clock.age())} old.`
    : 'Nothing is known yet.';
  find('banner-age').textContent = `${known} Trying again every 2 s.`;
}

function setFault(words) {
  if (words !== null) clock.stop();
  fault = words;
  showState();
}

function setPaused(isPaused) {
  find('pause').setAttribute('aria-pressed', String(isPaused));
  find('pause').textContent = isPaused ? 'Go on' : 'Pause';
  if (isPaused) clock.stop();
  updates.setPaused(isPaused);
  showState();
}

function tick() {
  showState();
  if (document.hidden || fault !== null || updates.isPaused) return;
  locks.draw();
  timeline.tick();
}

find('zone').addEventListener('click', () => {
  zone.isLocal = !zone.isLocal;
  find('zone').textContent = zone.isLocal ? 'Local time' : 'UTC';
  draw(false);
  showState();
});

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  knownColours.clear();
  timeline.schedule();
});

if (isReport) {
  find('pause').hidden = true;
  const data = JSON.parse(stored.textContent);
  clock.set(data.history.at);
  clock.stop();
  history.addOlder(data.history);
  setLocks(data.locks, !data.locks.truncated);
  setHistory(data.history.has_history);
  showState();
} else {
  find('pause').addEventListener('click', () => setPaused(!updates.isPaused));
  updates.start();
  setInterval(tick, 1000);
}
