import { request, withPath } from '../web-url.js'

/** What a page asks before its scripts are there, and for which address. */
const AHEAD = Symbol.for('ziggurat.ahead')

/**
 * The address that answers a view of an image with its description and its tiles.
 * @param {URL} address the image's in the API
 * @param {string} query the view, as `viewQuery` has it
 */
export function firstViewURL(address, query) {
  return withPath(address, `${address.pathname}/viewport.tiles`, `?${query}&include=overview,description`).href
}

/**
 * Requests a first view before the script that shows it is loaded; `takePreloaded` has the answer. Does nothing if this address
 * is requested already.
 * @param {string} url
 */
export function preloadFirstView(url) {
  if (globalThis[AHEAD]?.url === url) return
  forgetPreloaded()
  // What was changed a moment ago is seen.
  const answer = request(url, { cache: 'no-cache' })
  // Who takes it hears of it; that nobody does is no fault.
  answer.catch(() => {})
  globalThis[AHEAD] = { url, answer }
}

/**
 * The answer to what was asked ahead, once.
 * @returns {Promise<Response> | null} null where nothing or something else was asked; that answer is given up
 */
export function takePreloaded(url) {
  const ahead = globalThis[AHEAD]
  if (!ahead) return null
  delete globalThis[AHEAD]
  if (ahead.url === url) return ahead.answer
  ahead.answer.then((answer) => answer.body?.cancel()).catch(() => {})
  return null
}

/** Gives up what was asked and not taken. */
export function forgetPreloaded() { takePreloaded('') }
