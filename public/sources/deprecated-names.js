/*
 * Names of version 0.1, which old servers and responses in the offline cache contain. To be removed together with the old
 * names that the server accepts.
 */

const MEMBERS = { in: 'book', moves: 'animated', place: 'location', next: 'nextCursor' }
const PARAMETERS = /** @type {[RegExp, string][]} */ ([
  [/([?&])v=/, '$1g='], [/([?&])book=/, '$1in='], [/([?&])include=overview,description/, '$1overview=true&describe=true'],
])

/**
 * Converts a description or a list of images to the current names.
 * @param {Record<string, any>} answer a response of the API
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
 * Returns the address of the same resource in version 0.1.
 * @param {string} address
 */
export function formerAddress(address) {
  return PARAMETERS.reduce((former, [name, before]) => former.replace(name, before), address)
}
