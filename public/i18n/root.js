/** The server's root, relative to the script with these messages: the folder above the viewer's. */
export const root = new URL('..', import.meta.url)
