/** The translations except English, by language: paths from the server's root. */
export const FILES = { de: 'i18n/de.json', fr: 'i18n/fr.json', zh: 'i18n/zh.json' }
