/**
 * Returns a copy of one of the page's icons.
 * @param {string} name its class
 */
export function icon(name) { return document.querySelector('template').content.querySelector(`.${name}`).cloneNode(true) }
