/** Where the server's root is, seen from the script that has these words: a folder above the viewer's. */
export const root = new URL('..', import.meta.url)
