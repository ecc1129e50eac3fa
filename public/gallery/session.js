import { serverURL } from '../urls.js'

let asked

/** Asked once a page; `expiresIn` is in seconds. */
export function session(again = false) {
  if (again || !asked) asked = fetch(serverURL('api/session')).then((answer) => answer.json()).catch(() => ({}))
  return asked
}

/**
 * Begins a session; what was known of the last one is asked for anew.
 * @param {object} credential as `POST /api/session` takes it
 * @returns {Promise<Response>}
 */
export function logIn(credential) {
  asked = null
  return fetch(serverURL('api/session'), {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(credential),
  })
}

/** Logs in by the token in the address, and takes it out of there; answers false where the server refused it. */
export async function takeToken() {
  const token = /^#token=(.+)/.exec(location.hash)
  if (!token) return true
  history.replaceState(history.state, '', location.pathname + location.search)
  const answer = await logIn({ token: token[1] }).catch(() => null)
  return answer?.ok ?? false
}
