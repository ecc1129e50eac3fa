/**
 * Calls `body` when the browser is idle, and after five seconds in any case. A browser that is always busy, or regards the
 * page as hidden, would never be idle.
 * @param {() => void} body
 */
export function whenIdle(body) {
  if (globalThis.requestIdleCallback) requestIdleCallback(() => body(), { timeout: 5000 })
  else setTimeout(body)
}
