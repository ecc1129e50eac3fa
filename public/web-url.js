/**
 * @file The only way in which an external address may become a link, a request or the source of an image. Descriptions come
 *   from untrusted servers, and a `javascript:` URL in a link would run in the page that embeds the viewer.
 *   `Tests/viewer/urls` finds each use of an address in these modules that bypasses it.
 */

import { SourceError } from './sources/source-error.js'

/** Maximum length of an address in UTF-16 code units, which leaves room for a content state in a query. */
const LONGEST = 1 << 16

/**
 * Parses an address as browsers do: spaces, control characters and the case of a scheme are ignored. Credentials are
 * removed, because `fetch` rejects a URL that has them, and in a link they disguise the host.
 * @param {unknown} address
 * @param {string | URL} [base] the base of a relative address (default: the document)
 * @returns {URL} with the scheme http or https
 * @throws {SourceError} for anything else
 */
export function webURL(address, base = globalThis.document?.baseURI) {
  const text = address instanceof URL ? address.href : address
  if (typeof text !== 'string' || text.length > LONGEST) throw new SourceError('an address is not a string, or too long')
  let url
  try {
    url = new URL(text, base)
  } catch {
    throw new SourceError(`invalid URL: ${text.slice(0, 200)}`)
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new SourceError(`the scheme of ${url.href.slice(0, 200)} is neither http nor https`, { reason: 'unsafeAddress' })
  }
  url.username = url.password = ''
  return url
}

/**
 * Returns another address on the same server. `new URL(path, url)` would parse `//host/path` as an address on another
 * server.
 * @param {URL} url
 * @param {string} path
 * @param {string} [query] with its question mark
 */
export function withPath(url, path, query = '') {
  const other = new URL(url)
  other.pathname = path
  other.search = query
  other.hash = ''
  return other
}

/**
 * Requests an address.
 * @param {string | URL} address relative to the document, or absolute
 * @param {RequestInit} [options] the options of `fetch`
 * @returns {Promise<Response>} rejected with a `SourceError` if the address is invalid, and with a `TypeError` if the
 *   network fails
 */
export async function request(address, options) { return fetch(webURL(address).href, options) }
