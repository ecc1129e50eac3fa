import { FILES } from './files.js'
import { chosenTag, languageOf } from './match-locale.js'

/** The property of the global object that holds the translation requested before the page's scripts were loaded. */
const AHEAD = Symbol.for('ziggurat.words')

/**
 * Sets the document's language to the reader's if the page declares none, and requests its translation.
 * @param {string} root the path of the server's root
 * @param {readonly string[]} [tags] the reader's languages, in order of preference
 */
export function preloadTranslations(root, tags = navigator.languages) {
  const { documentElement } = document
  documentElement.lang ||= chosenTag(tags)
  const language = languageOf(chosenTag([documentElement.lang, ...tags]))
  if (!Object.hasOwn(FILES, language)) return
  const words = fetchTranslations(new URL(root + FILES[language], location.href))
  // A failure is reported by `takeTranslations`.
  words.catch(() => {})
  globalThis[AHEAD] = { language, words }
}

/**
 * Returns the preloaded translation, once; undefined if there is none for this language.
 * @param {string} language
 * @returns {Promise<import('./translator.js').Groups> | undefined}
 */
export function takeTranslations(language) {
  const ahead = globalThis[AHEAD]
  if (ahead?.language !== language) return undefined
  delete globalThis[AHEAD]
  return ahead.words
}

/**
 * Requests a translation.
 * @param {URL} address
 * @returns {Promise<import('./translator.js').Groups>} rejected with an `Error` if the request fails
 */
export async function fetchTranslations(address) {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`${answer.status} for ${address}`)
  return answer.json()
}
