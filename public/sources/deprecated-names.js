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
 * @param {Record<string, any>} response a response of the API
 * @returns {Record<string, any>}
 */
export function currentNames(response) {
  const result = { ...response }
  if (result.book === true) {
    result.isBook = true
    delete result.book
  }
  for (const [deprecated, name] of Object.entries(MEMBERS)) {
    if (result[deprecated] !== undefined) result[name] ??= result[deprecated]
    delete result[deprecated]
  }
  return result
}

/**
 * Returns the address of the same resource in version 0.1.
 * @param {string} address
 */
export function deprecatedAddress(address) {
  return PARAMETERS.reduce((result, [current, deprecated]) => result.replace(current, deprecated), address)
}
