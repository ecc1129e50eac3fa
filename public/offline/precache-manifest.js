/**
 * The files that the page needs to start, by path from the server's root. Their names contain content hashes.
 * @type {string[]}
 */
export const PRECACHE = []
