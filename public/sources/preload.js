import { request, withPath } from '../web-url.js'

/** The property of the global object that holds the request that a page sent before its scripts were loaded. */
const PRELOADED = Symbol.for('ziggurat.firstView')

/**
 * Returns the address of a view of an image together with its description and tiles.
 * @param {URL} address the image's address in the API
 * @param {string} query the view, as encoded by `viewQuery`
 */
export function firstViewURL(address, query) {
  return withPath(address, `${address.pathname}/viewport.tiles`, `?${query}&include=overview,description`).href
}

/**
 * Requests a first view before the script that shows it is loaded. `takePreloaded` returns the response. Does nothing if the
 * same address was already requested.
 * @param {string} url
 */
export function preloadFirstView(url) {
  if (globalThis[PRELOADED]?.url === url) return
  cancelPreloaded()
  // Revalidated, so that recent changes are visible.
  const response = request(url, { cache: 'no-cache' })
  // A failure is reported by `takePreloaded`; otherwise it is ignored.
  response.catch(() => {})
  globalThis[PRELOADED] = { url, response }
}

/**
 * Returns the preloaded response, once.
 * @returns {Promise<Response> | null} null if there is none for this address; a response for another address is cancelled
 */
export function takePreloaded(url) {
  const preloaded = globalThis[PRELOADED]
  if (!preloaded) return null
  delete globalThis[PRELOADED]
  if (preloaded.url === url) return preloaded.response
  preloaded.response.then((response) => response.body?.cancel()).catch(() => {})
  return null
}

/** Cancels the preloaded request if it was not taken. */
export function cancelPreloaded() { takePreloaded('') }
