/**
 * The path of the service worker from the server's root; null if the sources are served unbundled.
 * @type {string | null}
 */
export const WORKER = null
