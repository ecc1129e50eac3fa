let asked

/**
 * What this visitor may do, asked once a page: `{writable, space, spaceWritable, password, expires}`, flags but for
 * the seconds until a session ends.
 */
export function session(again = false) {
  if (again || !asked) asked = fetch('/api/session').then((answer) => answer.json()).catch(() => ({}))
  return asked
}

/** Begins a session by `{password}` or `{token}`. */
export function logIn(credential) {
  asked = null
  return fetch('/api/session', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(credential),
  })
}

/** Turns a printed address's `#token=…` into a session. */
export async function takeToken() {
  const token = /^#token=(.+)/.exec(location.hash)
  if (!token) return
  history.replaceState(history.state, '', location.pathname)
  await logIn({ token: token[1] })
}
