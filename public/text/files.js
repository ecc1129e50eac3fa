/** The translations except English, by language: paths from the server's root. */
export const FILES = { de: 'text/de.json', fr: 'text/fr.json', zh: 'text/zh.json' }
