/*
 * Names of version 0.1, as such servers answer, and as answers have that were kept for when there is no network. To be removed
 * with the names that the server accepts of it.
 */

const MEMBERS = { in: 'book', moves: 'animated', place: 'location', next: 'nextCursor' }
const PARAMETERS = /** @type {[RegExp, string][]} */ ([
  [/([?&])v=/, '$1g='], [/([?&])book=/, '$1in='], [/([?&])include=overview,description/, '$1overview=true&describe=true'],
])

/**
 * A description of an image, or a list of them, with the present names.
 * @param {Record<string, any>} answer of the API
 * @returns {Record<string, any>}
 */
export function presentNames(answer) {
  const present = { ...answer }
  if (present.book === true) {
    present.isBook = true
    delete present.book
  }
  for (const [former, name] of Object.entries(MEMBERS)) {
    if (present[former] !== undefined) present[name] ??= present[former]
    delete present[former]
  }
  return present
}

/**
 * The address that the same answer had.
 * @param {string} address
 */
export function formerAddress(address) {
  return PARAMETERS.reduce((former, [name, before]) => former.replace(name, before), address)
}
