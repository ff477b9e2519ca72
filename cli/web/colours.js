// The colour of a holder: the same in every view, on every machine, after every restart.
'use strict';

rowlock.colours = (() => {
  // The colours themselves are --holder-0 to --holder-9 of page.css, for light and dark.
  const number = 10;
  let read = null;

  /** FNV-1a, with a last mix: neighbouring labels (`web1`, `web2`) get different colours. */
  function indexOf(label) {
    let hash = 0x811c9dc5;
    for (let i = 0; i < label.length; i += 1) {
      hash = Math.imul(hash ^ label.charCodeAt(i), 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    return ((hash ^ (hash >>> 13)) >>> 0) % number;
  }

  /** White or nearly black, whichever is easier to read on `colour`, written `#rrggbb`. */
  function textOn(colour) {
    const [red, green, blue] = [1, 3, 5].map((at) => {
      const part = parseInt(colour.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    // The luminance at which both have the same contrast (WCAG 2).
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? '#0b1016' : '#ffffff';
  }

  /** The colours of the style sheet, for the canvas. */
  function current() {
    if (read === null) {
      const style = getComputedStyle(document.documentElement);
      const value = (name) => style.getPropertyValue(`--${name}`).trim();
      read = { holders: [] };
      for (let i = 0; i < number; i += 1) {
        const bar = value(`holder-${i}`);
        read.holders.push({ bar, text: textOn(bar) });
      }
      for (const name of [
        'ground',
        'text',
        'quiet',
        'line',
        'line-strong',
        'several',
        'failed',
        'ran-out',
        'forced',
        'accent',
        'unloaded',
      ]) {
        read[name] = value(name);
      }
      read.font = style.getPropertyValue('font-family');
    }
    return read;
  }

  /** Calls `changed` when the reader's system switches between light and dark. */
  function watch(changed) {
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      read = null;
      changed();
    });
  }

  return { indexOf, current, watch };
})();
