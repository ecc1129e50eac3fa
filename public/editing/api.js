import { editingTranslator } from '../i18n/editing.js'
import { request } from '../web-url.js'

/** The keys of error messages by response status. */
const ERROR_MESSAGES = { 401: 'notAllowed', 403: 'notAllowed', 404: 'gone', 409: 'isTaken', 413: 'tooLong', 507: 'noRoom' }

/**
 * Sends a request to an endpoint that requires write access.
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @param {Record<string, string>} [headers]
 * @returns {Promise<any>} the response with its entity tag as `tag`; rejected with an `Error` with a localized message and
 *   the `status`
 */
export async function callAPI(method, path, body, headers) {
  const response = await request(path, {
    method, cache: 'no-cache', body: body && JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers },
  }).catch(() => null)
  if (response?.ok) return { ...await response.json().catch(() => null), tag: response.headers.get('ETag') }
  throw Object.assign(new Error(editingTranslator()(ERROR_MESSAGES[response?.status] ?? 'notSaved')), { status: response?.status })
}

/**
 * Whether an image belongs to the open private space.
 * @param {string} id
 */
export function isPrivate(id) { return id.startsWith('~/') }
