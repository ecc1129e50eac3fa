/**
 * Calls `body` once nothing else is to be done, and after five seconds in any case: a browser that is always at work, or holds the
 * page for hidden, would never come to it.
 * @param {() => void} body
 */
export function whenIdle(body) {
  if (globalThis.requestIdleCallback) requestIdleCallback(() => body(), { timeout: 5000 })
  else setTimeout(body)
}
