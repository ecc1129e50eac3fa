import { request } from '../web-url.js'
import { readText } from './size-limit.js'
import { SourceError } from './source-error.js'

/** Maximum bytes of a problem document, of which only one line is shown. */
const MAX_PROBLEM_BYTES = 1 << 16

/**
 * Requests a JSON document from any server.
 * @param {string | URL} address
 * @param {AbortSignal} [signal]
 * @param {RequestInit} [options] as `fetch` takes them
 * @returns {Promise<any>}
 * @throws {SourceError} if the server refuses it, or if it is too long or not JSON
 */
export async function fetchJSON(address, signal, options) {
  return parseJSON(await fetchText(address, signal, options))
}

/**
 * Requests a document from any server as text.
 * @param {string | URL} address
 * @param {AbortSignal} [signal]
 * @param {RequestInit} [options] as `fetch` takes them
 * @throws {SourceError} if the server refuses it, or if it is too long
 */
export async function fetchText(address, signal, options) {
  const response = await request(address, { ...options, signal })
  if (response.ok) return readText(response)
  const { status, headers } = response
  // RFC 9457: such a response contains a readable reason.
  const isProblem = headers.get('content-type')?.startsWith('application/problem+json')
  const { detail } = object(isProblem ? await readText(response, MAX_PROBLEM_BYTES).then(parseJSON).catch(() => null) : null)
  throw new SourceError(`the server answered ${status} for ${address}${detail ? `: ${line(detail)}` : ''}`, { status })
}

/**
 * Parses JSON.
 * @param {string} text
 * @returns {any}
 * @throws {SourceError}
 */
export function parseJSON(text) {
  try {
    return JSON.parse(text)
  } catch {
    throw new SourceError('the server sent no JSON')
  }
}

/**
 * Returns a member's value if it is an object, and otherwise one without members.
 * @param {any} value
 * @returns {Record<string, any>}
 */
export function object(value) { return typeof value === 'object' && value !== null ? value : {} }

/**
 * Returns a member's value if it is a list, and otherwise an empty one.
 * @param {any} value
 * @returns {any[]}
 */
export function list(value) { return Array.isArray(value) ? value : [] }

/** Maximum length of a title in characters; captions may be longer. */
const MAX_LINE = 1000
const MAX_TEXT = 20_000

/**
 * Returns a member's value as a single line, if it is text.
 * @param {unknown} value
 * @returns {string} empty if it is not text
 */
export function line(value) { return plain(value, MAX_LINE).replaceAll(/[\r\n\t]+/g, ' ') }

/**
 * Returns a member's value if it is text.
 * @param {unknown} value
 * @returns {string} empty if it is not text
 */
export function text(value) { return plain(value, MAX_TEXT) }

/**
 * Returns text without control characters and bidirectional controls. The latter could reorder the surrounding text of the
 * page (Unicode Technical Report 36, section 3.7).
 * @param {unknown} value
 * @param {number} maxLength
 */
function plain(value, maxLength) {
  return typeof value === 'string'
    ? wellFormed(value.slice(0, maxLength)).replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '')
    : ''
}

/**
 * Replaces lone surrogates, which are invalid in URLs.
 * @param {string} text
 */
export function wellFormed(text) { return text.replaceAll(/\p{Surrogate}/gu, '\ufffd') }

/**
 * Returns a number if it is finite and above 0.
 * @param {unknown} value
 * @returns {number | undefined}
 */
export function positive(value) { return typeof value === 'number' && value > 0 && value < Infinity ? value : undefined }

/**
 * Decodes the percent-encoded part of a path.
 * @param {string} segment
 * @returns {string} unchanged if it is malformed
 */
export function decodeSegment(segment) {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
