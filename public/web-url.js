/**
 * @file The one way by which an address from outside becomes a link, a request or the source of an image. Descriptions come
 * from any server, and a `javascript:` URL in a link runs in the page that embeds the viewer. `Tests/viewer/urls` finds every
 * place in these modules that uses an address without it.
 */

import { SourceError } from './sources/source-error.js'

/** Longest address, in UTF-16 code units: room for a content state in a query. */
const LONGEST = 1 << 16

/**
 * Parses an address as browsers do, which ignore spaces, control characters and case in a scheme. Credentials are removed:
 * `fetch` rejects a URL that has them, and in a link they disguise the host.
 * @param {unknown} address
 * @param {string | URL} [base] what a relative address is relative to; the document by default
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
 * Returns another address of the same server. `new URL(path, url)` would take `//host/path` for that of another one.
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
 * @param {RequestInit} [options] as `fetch` takes them
 */
export async function request(address, options) { return fetch(webURL(address).href, options) }
