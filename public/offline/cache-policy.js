/*
 * What of this server's answers may be kept for when there is no network, and for how much of it there is room. Nothing that
 * a session was needed for: the server marks that `private` or `no-store`, and private pictures by their names.
 */

/** Bytes of pictures that are kept, and of one answer. */
export const MOST = { all: 96 << 20, one: 16 << 20 }

/** Questions whose answers are of the moment, or of who asks. */
const NEVER = /\/api\/(session|events|uploads|trash|pairing\.svg)|\/(original|move|healthz|metrics)$|\/api\/images\/.*\/animation$/
/** Private pictures, however they are spelled. */
const PRIVATE = /(?:\/|%2f|=)(?:~|%7e)(?:\/|%2f|&|$)/i

/**
 * Under which address an answer is kept; null for one that never is.
 * @param {{ method: string, url: string, mode?: string, headers: Headers }} request
 * @param {string} root the address of the server's root
 */
export function placeOf({ method, url, mode, headers }, root) {
  if (method !== 'GET' || !url.startsWith(root) || headers.has('range') || headers.has('authorization')) return null
  const { pathname, search } = new URL(url)
  if (NEVER.test(pathname) || PRIVATE.test(pathname + search)) return null
  const path = url.slice(root.length).replace(/[?#].*/, '')
  // All pictures have one page, and so have all folders and searches.
  if (mode === 'navigate') return path === '' ? root : path.startsWith('view/') ? `${root}view/` : null
  return url.replace(/#.*/, '')
}

/**
 * Whether an answer may be kept.
 * @param {Response} answer
 */
export function isCacheable(answer) {
  const control = answer.headers.get('cache-control') ?? ''
  return answer.status === 200 && answer.type === 'basic' && !answer.redirected && !/private|no-store/.test(control)
}

/**
 * Which entries have to go, the oldest first, so that there is room.
 * @param {{ key: string, bytes: number }[]} entries the oldest first
 * @returns {string[]} their keys
 */
export function excessEntries(entries) {
  let sum = entries.reduce((all, { bytes }) => all + bytes, 0)
  const gone = []
  for (const { key, bytes } of entries) {
    if (sum <= MOST.all) break
    gone.push(key)
    sum -= bytes
  }
  return gone
}
