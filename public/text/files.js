/** The languages that there are words in, besides English, each in a file: by path from the server's root. */
export const FILES = { de: 'text/de.json', fr: 'text/fr.json', zh: 'text/zh.json' }
