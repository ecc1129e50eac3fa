/** The service worker's path from the server's root; none where the sources are served. @type {string | null} */
export const WORKER = null
