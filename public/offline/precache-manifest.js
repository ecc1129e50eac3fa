/** What the page needs to start, by path from the server's root: files that are named by their content. @type {string[]} */
export const SHELL = []
