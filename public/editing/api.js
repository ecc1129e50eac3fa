import { writing } from '../text/writing.js'
import { request } from '../web-url.js'

/** What went wrong, in people's words, by the status of the answer. */
const FAULTS = { 401: 'notAllowed', 403: 'notAllowed', 404: 'gone', 409: 'isTaken', 413: 'tooLong', 507: 'noRoom' }

/**
 * Asks the server for something that only who may write can ask for.
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @param {Record<string, string>} [headers]
 * @returns {Promise<any>} the answer, with its entity tag as `tag`; it is rejected with people's words, and the `status`
 */
export async function callAPI(method, path, body, headers) {
  const answer = await request(path, {
    method, cache: 'no-cache', body: body && JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers },
  }).catch(() => null)
  if (answer?.ok) return { ...await answer.json().catch(() => null), tag: answer.headers.get('ETag') }
  throw Object.assign(new Error(writing()(FAULTS[answer?.status] ?? 'notSaved')), { status: answer?.status })
}

/** Whether a picture is one of the private space that is open. @param {string} id */
export function isPrivate(id) { return id.startsWith('~/') }
