import { serverURL } from '../urls.js'

let cached

/** Returns the session's state, which is requested once per page; `expiresIn` is in seconds. */
export function session(isForced = false) {
  if (isForced || !cached) cached = fetch(serverURL('api/session')).then((response) => response.json()).catch(() => ({}))
  return cached
}

/**
 * Logs in. The cached state of the session is discarded.
 * @param {object} credential the body of `POST /api/session`
 * @returns {Promise<Response>}
 */
export function logIn(credential) {
  cached = null
  return fetch(serverURL('api/session'), {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(credential),
  })
}

/**
 * Logs in with the token in the address's fragment, and removes it from the address. Resolves to false if the server refused
 * the token.
 */
export async function takeToken() {
  const token = /^#token=(.+)/.exec(location.hash)
  if (!token) return true
  history.replaceState(history.state, '', location.pathname + location.search)
  const response = await logIn({ token: token[1] }).catch(() => null)
  return response?.ok ?? false
}
