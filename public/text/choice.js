import { FILES } from './files.js'

const LANGUAGES = ['en', ...Object.keys(FILES)]

/** Traditional characters: who reads those is served better by the next of their languages. */
const TRADITIONAL = /^zh-(hant|tw|hk|mo)\b/i

/**
 * The first of a reader's languages that there are words in.
 * @param {readonly string[]} tags languages as browsers and pages name them (BCP 47), the best first
 * @returns {string} one of the tags, or `en`
 */
export function chosenTag(tags) {
  return tags.find((tag) => LANGUAGES.includes(languageOf(tag)) && !TRADITIONAL.test(tag)) ?? 'en'
}

/** The language of a tag, without its country and script. @param {string} tag */
export function languageOf(tag) { return tag.toLowerCase().split(/[-_]/)[0] }
