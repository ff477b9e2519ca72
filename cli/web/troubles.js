// The lists of contended keys and of what failed lately.
'use strict';

rowlock.Troubles = (() => {
  const { text } = rowlock;
  const { element } = text;
  const mostContended = 8;
  const mostFailed = 30;
  // A key that passes from holder to holder fewer times than this may do so by chance.
  const oftenPassedOn = 3;

  const shapes = {
    failed: 'M2.5 2.5l7 7m0-7l-7 7',
    'ran out': 'M6 1.2L10.8 6 6 10.8 1.2 6z',
    forced: 'M1.5 2h9L6 10.5z',
  };

  function mark(kind) {
    const space = 'http://www.w3.org/2000/svg';
    const drawn = document.createElementNS(space, 'svg');
    drawn.setAttribute('viewBox', '0 0 12 12');
    drawn.setAttribute('class', `mark mark-${kind.replace(' ', '-')}`);
    drawn.setAttribute('aria-hidden', 'true');
    const path = document.createElementNS(space, 'path');
    path.setAttribute('d', shapes[kind]);
    drawn.append(path);
    return drawn;
  }

  /** Replaces the rows of a list, if they are not the same as before. */
  function fill(list, rows) {
    const signature = JSON.stringify(rows.map((row) => row.signature));
    if (list.dataset.signature === signature) return;
    list.dataset.signature = signature;
    list.replaceChildren(...rows.map((row) => row.make()));
  }

  function keyButton(lane, chosen) {
    const button = element('button', 'link', [text.key(lane.type, lane.source)], {
      type: 'button',
    });
    button.addEventListener('click', chosen);
    return button;
  }

  return class Troubles {
    /** `choose(lane)` filters for a key; `reveal(item)` shows an item on the timeline. */
    constructor(filters, choose, reveal) {
      this.filters = filters;
      this.choose = choose;
      this.reveal = reveal;
    }

    /** Shows what is in the summaries of the chosen lanes. */
    draw(summaries) {
      this.drawContended(summaries);
      this.drawFailed(summaries);
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
      const rows = contended.slice(0, mostContended).map((about) => ({
        signature: [about.lane.id, about.isWaitedFor, about.holders, about.holds, about.passedOn],
        make: () =>
          element('li', 'row', [
            element('span', 'row-head', [
              keyButton(about.lane, () => this.choose(about.lane)),
              about.isWaitedFor ? element('span', 'badge badge-waiting', ['waited for']) : null,
            ]),
            about.holds > 1
              ? element('span', 'row-detail', [
                  `${text.counted(about.holds, 'hold')} by ${text.counted(about.holders, 'holder')}`,
                  about.passedOn > 0 ? `, ${text.number(about.passedOn)} passed on at once` : '',
                ])
              : '',
          ]),
      }));
      fill(document.getElementById('contended-rows'), rows);
      const waited = contended.filter((about) => about.isWaitedFor).length;
      const others = contended.length - waited;
      rowlock.tile(
        'contended',
        text.number(waited),
        others > 0 ? [`${text.counted(others, 'more', 'more')} passed on at once`] : [],
      );
      document.getElementById('contended-count').textContent =
        contended.length > rows.length
          ? `${rows.length} of ${text.counted(contended.length, 'key')}`
          : '';
      const empty = document.getElementById('contended-empty');
      empty.hidden = rows.length > 0;
      empty.textContent = 'No key is waited for, and none was passed on at once in this range.';
    }

    drawFailed(summaries) {
      const failed = summaries.flatMap((about) => about.troubles).sort((a, b) => b.end - a.end);
      const rows = failed.slice(0, mostFailed).map((item) => ({
        signature: [item.lane.id, item.end, item.how, rowlock.zone.isLocal],
        make: () =>
          element('li', 'row', [
            element('span', 'row-head', [
              mark(item.how),
              keyButton(item.lane, () => this.reveal(item)),
              element('span', 'row-time', [text.timeOfDay(item.end)]),
            ]),
            element('span', 'row-detail', [
              `${item.how} `,
              text.holder(item.holder),
              item.reason ? ': ' : '',
              item.reason ? text.name(item.reason, 'reason') : null,
            ]),
          ]),
      }));
      fill(document.getElementById('failed-rows'), rows);
      const numbers = d3
        .nest()
        .key((item) => item.how)
        .rollup((all) => all.length)
        .entries(failed);
      rowlock.tile(
        'failed',
        text.number(failed.length),
        [numbers.map(({ key, value }) => `${value} ${key}`).join(', ')],
        failed.length > 0 ? 'failed' : '',
      );
      document.getElementById('failed-count').textContent =
        failed.length > rows.length
          ? `latest ${rows.length} of ${text.counted(failed.length, 'event')}`
          : '';
      const empty = document.getElementById('failed-empty');
      empty.hidden = rows.length > 0;
      empty.textContent = 'Nothing failed, ran out or was forced in this range.';
    }
  };
})();
