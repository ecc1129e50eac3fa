import { text } from '../text/writing.js'
export async function ask(method, path, body, headers) {
  const answer = await fetch(path, {
    method, cache: 'no-cache', body: body && JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers },
  }).catch(() => null)
  const told = await answer?.json().catch(() => null)
  if (answer?.ok) return { ...told, tag: answer.headers.get('ETag') }
  throw Object.assign(new Error(told?.detail ?? text.notSaved), { status: answer?.status })
}
export function isOwn(id) { return id.startsWith('~/') }
