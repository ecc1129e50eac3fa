/** Asks the server for a change; its own words are the error's where it refuses. */
export async function change(method, path, body, headers) {
  const answer = await fetch(path, {
    method, body: body && JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers },
  })
  const told = await answer.json().catch(() => ({}))
  if (answer.ok) return told
  throw Object.assign(new Error(told.detail ?? answer.status), { status: answer.status })
}

export async function readImage(id) {
  const answer = await fetch(imageURL(id), { cache: 'no-cache' })
  if (!answer.ok) throw new Error(answer.status)
  return [await answer.json(), answer.headers.get('ETag')]
}

export function imageURL(id) { return `/api/images/${encodeURIComponent(id)}` }
