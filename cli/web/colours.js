// The colour of a holder: the same in every view, on every machine, after every restart.
'use strict';

/** The name of a holder's colour in page.css. */
function holderColour(label) {
  // FNV-1a, with a last mix: neighbouring labels (`web1`, `web2`) get different colours.
  let hash = 0x811c9dc5;
  for (let i = 0; i < label.length; i += 1) {
    hash = Math.imul(hash ^ label.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return `holder-${((hash ^ (hash >>> 13)) >>> 0) % 10}`;
}

/** The colours that were asked for; to be cleared when light and dark change. */
const knownColours = new Map();

/** A colour of page.css, for the canvas. */
function colour(name) {
  if (!knownColours.has(name)) {
    // The canvas has no text, so its own colour may be any.
    const canvas = find('bars');
    canvas.style.color = `var(--${name})`;
    knownColours.set(name, getComputedStyle(canvas).color);
  }
  return knownColours.get(name);
}

/** White or nearly black, whichever has the greater contrast on `ground` (WCAG 2). */
const textOn = (ground) => (d3.lab(ground).l > 49.5 ? '#0b1016' : '#ffffff');
