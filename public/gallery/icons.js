export function icon(name) { return document.querySelector('template').content.querySelector(`.${name}`).cloneNode(true) }
