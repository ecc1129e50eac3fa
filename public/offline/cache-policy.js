/*
 * The policy of the offline cache: which responses are stored, and how many. Responses that need a session are never stored.
 * The server marks them `private` or `no-store`, and private images are recognized by their ids.
 */

/** Maximum bytes of all stored responses, and of one response. */
export const MAX_BYTES = { all: 96 << 20, one: 16 << 20 }

/** Paths whose responses depend on time or on the visitor. */
const NEVER = /\/api\/(session|events|uploads|trash|pairing\.svg)|\/(original|move|healthz|metrics)$|\/api\/images\/.*\/animation$/
/** Private images, in any percent-encoding. */
const PRIVATE = /(?:\/|%2f|=)(?:~|%7e)(?:\/|%2f|&|$)/i

/**
 * Returns the cache key of a request; null if its response is never stored.
 * @param {{ method: string, url: string, mode?: string, headers: Headers }} request
 * @param {string} root the address of the server's root
 */
export function cacheKey({ method, url, mode, headers }, root) {
  if (method !== 'GET' || !url.startsWith(root) || headers.has('range') || headers.has('authorization')) return null
  const { pathname, search } = new URL(url)
  if (NEVER.test(pathname) || PRIVATE.test(pathname + search)) return null
  const path = url.slice(root.length).replace(/[?#].*/, '')
  // All images share one page, and so do all folders and searches.
  if (mode === 'navigate') return path === '' ? root : path.startsWith('view/') ? `${root}view/` : null
  return url.replace(/#.*/, '')
}

/**
 * Whether a response may be stored.
 * @param {Response} response
 */
export function isCacheable(response) {
  const control = response.headers.get('cache-control') ?? ''
  return response.status === 200 && response.type === 'basic' && !response.redirected && !/private|no-store/.test(control)
}

/**
 * Returns the keys of the entries to remove so that the rest fits, oldest first.
 * @param {{ key: string, bytes: number }[]} entries oldest first
 * @returns {string[]}
 */
export function excessEntries(entries) {
  let sum = entries.reduce((all, { bytes }) => all + bytes, 0)
  const excess = []
  for (const { key, bytes } of entries) {
    if (sum <= MAX_BYTES.all) break
    excess.push(key)
    sum -= bytes
  }
  return excess
}
