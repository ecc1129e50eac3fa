/** A sign of the page's own, by its class, new each time. @param {string} name */
export function icon(name) { return document.querySelector('template').content.querySelector(`.${name}`).cloneNode(true) }
