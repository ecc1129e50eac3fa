import { FILES } from './files.js'
import { languageOf, matchLocale } from './match-locale.js'

/** The property of the global object that holds the translation requested before the page's scripts were loaded. */
const PRELOADED = Symbol.for('ziggurat.translations')

/**
 * Sets the document's language to the reader's if the page declares none, and requests its translation.
 * @param {string} root the path of the server's root
 * @param {readonly string[]} [tags] the reader's languages, in order of preference
 */
export function preloadTranslations(root, tags = navigator.languages) {
  const { documentElement } = document
  documentElement.lang ||= matchLocale(tags)
  const language = languageOf(matchLocale([documentElement.lang, ...tags]))
  if (!Object.hasOwn(FILES, language)) return
  const translations = fetchTranslations(new URL(root + FILES[language], location.href))
  // A failure is reported by `takeTranslations`.
  translations.catch(() => {})
  globalThis[PRELOADED] = { language, translations }
}

/**
 * Returns the preloaded translation, once; undefined if there is none for this language.
 * @param {string} language
 * @returns {Promise<import('./translator.js').Groups> | undefined}
 */
export function takeTranslations(language) {
  const preloaded = globalThis[PRELOADED]
  if (preloaded?.language !== language) return undefined
  delete globalThis[PRELOADED]
  return preloaded.translations
}

/**
 * Requests a translation.
 * @param {URL} address
 * @returns {Promise<import('./translator.js').Groups>} rejected with an `Error` if the request fails
 */
export async function fetchTranslations(address) {
  const response = await fetch(address)
  if (!response.ok) throw new Error(`${response.status} for ${address}`)
  return response.json()
}
