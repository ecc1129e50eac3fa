import { chosenTag, languageOf } from './choice.js'
import { FILES } from './files.js'

/** What a page's words are asked for by before its scripts are there. */
const AHEAD = Symbol.for('ziggurat.words')

/**
 * Gives the document the reader's language, where its page names none, and asks for the words of that.
 * @param {string} root the path of the server's root
 * @param {readonly string[]} [tags] the reader's languages, the best first
 */
export function preloadTranslations(root, tags = navigator.languages) {
  const { documentElement } = document
  documentElement.lang ||= chosenTag(tags)
  const language = languageOf(chosenTag([documentElement.lang, ...tags]))
  if (!Object.hasOwn(FILES, language)) return
  const words = fetchTranslations(new URL(root + FILES[language], location.href))
  // Who takes them hears of it.
  words.catch(() => {})
  globalThis[AHEAD] = { language, words }
}

/**
 * The words that were asked for ahead, once; nothing where those of another language were.
 * @param {string} language
 * @returns {Promise<import('./language.js').Groups> | undefined}
 */
export function takeTranslations(language) {
  const ahead = globalThis[AHEAD]
  if (ahead?.language !== language) return undefined
  delete globalThis[AHEAD]
  return ahead.words
}

/** @param {URL} address @returns {Promise<import('./language.js').Groups>} */
export async function fetchTranslations(address) {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`${answer.status} for ${address}`)
  return answer.json()
}
