// The lists of contended keys and of what failed lately.
'use strict';

const mostContended = 8;
const mostFailed = 30;
// A key that passes from holder to holder fewer times than this may do so by chance.
const oftenPassedOn = 3;

/** The mark of a trouble, as it stands in the legend. */
const markOf = (kind) => document.querySelector(`.legend .mark-${kind.replace(' ', '-')}`);

class Troubles {
  /** `choose(lane)` filters for a key; `reveal(item)` shows an item on the timeline. */
  constructor(choose, reveal) {
    this.choose = choose;
    this.reveal = reveal;
  }

  /** Shows what is in the summaries of the chosen lanes; `noFailure`: the words for none. */
  draw(summaries, noFailure) {
    this.drawContended(summaries);
    this.drawFailed(summaries, noFailure);
  }

  drawContended(summaries) {
    const contended = summaries
      .filter((about) => about.isWaitedFor || about.passedOn >= oftenPassedOn)
      .sort(
        (a, b) =>
          b.isWaitedFor - a.isWaitedFor ||
          b.passedOn - a.passedOn ||
          b.holds - a.holds ||
          d3.ascending(a.lane.id, b.lane.id),
      );
    const shown = contended.slice(0, mostContended);
    show(
      find('contended-rows'),
      shown.map((about) => this.contendedRow(about)),
    );
    const all = counted(contended.length, 'key');
    const nothing = 'No key is waited for, and none was passed on at once in this range.';
    const count = contended.length > shown.length ? `${shown.length} of ${all}` : '';
    showPanel('contended', count, shown.length === 0, nothing);
    const waited = contended.filter((about) => about.isWaitedFor).length;
    const others = contended.length - waited;
    const detail = others > 0 ? `${counted(others, 'more', 'more')} passed on at once` : '';
    showTile('contended', number(waited), detail);
  }

  contendedRow({ lane, isWaitedFor, holds, holders, passedOn }) {
    const key = button('link', keyOf(lane), () => this.choose(lane));
    const head = element('div', 'flex', [key, isWaitedFor ? waitedFor() : null]);
    const passed = passedOn > 0 ? `, ${number(passedOn)} passed on at once` : '';
    const words = `${counted(holds, 'hold')} by ${counted(holders, 'holder')}${passed}`;
    return element('li', 'row', [
      head,
      holds > 1 ? element('div', 'small row-detail', words) : null,
    ]);
  }

  drawFailed(summaries, nothing) {
    const failed = summaries.flatMap((about) => about.troubles).sort((a, b) => b.end - a.end);
    const shown = failed.slice(0, mostFailed);
    show(
      find('failed-rows'),
      shown.map((item) => this.failedRow(item)),
    );
    const all = counted(failed.length, 'event');
    const count = failed.length > shown.length ? `latest ${shown.length} of ${all}` : '';
    showPanel('failed', count, shown.length === 0, nothing);
    const numbers = d3
      .nest()
      .key((item) => item.how)
      .rollup((items) => items.length)
      .entries(failed);
    const detail = numbers.map(({ key, value }) => `${value} ${key}`).join(', ');
    showTile('failed', number(failed.length), detail, failed.length > 0 ? 'gone' : '');
  }

  failedRow(item) {
    const key = button('link', keyOf(item.lane), () => this.reveal(item));
    const at = element('span', 'small end', timeOfDay(item.end));
    const reason = item.reason ? [': ', foreign(item.reason, 'two-lines')] : [];
    return element('li', 'row', [
      element('div', 'flex', [markOf(item.how).cloneNode(true), key, at]),
      element('div', 'small row-detail', [`${item.how} `, holderOf(item.holder), reason]),
    ]);
  }
}
