import { FILES } from './files.js'

const LANGUAGES = ['en', ...Object.keys(FILES)]

/** Traditional Chinese: its readers are better served by the next one of their languages. */
const TRADITIONAL = /^zh-(hant|tw|hk|mo)\b/i

/**
 * Returns the first of the reader's languages with a translation.
 * @param {readonly string[]} tags BCP 47 language tags, in order of preference
 * @returns {string} one of the tags, or `en`
 */
export function matchLocale(tags) {
  return tags.find((tag) => LANGUAGES.includes(languageOf(tag)) && !TRADITIONAL.test(tag)) ?? 'en'
}

/**
 * Returns the language of a tag, without its region and script.
 * @param {string} tag
 */
export function languageOf(tag) { return tag.toLowerCase().split(/[-_]/)[0] }
