import { chosenTag, languageOf } from './choice.js'
import { FILES } from './files.js'
import { formatMessage } from './message.js'
import { fetchTranslations, takeTranslations } from './preload.js'
import { root } from './root.js'

/** @typedef {import('./message.js').Message} Message */
/** @typedef {Record<string, Record<string, any>>} Groups messages, and lists of words, by their keys, by their groups */
/**
 * Says something.
 * @typedef {(key: string, values?: import('./message.js').Values) => any} Say the key's words, with values in their places;
 *   without values as they are: a list, for instance
 */

/** What there is besides English, which stands in the scripts, by language. @type {Map<string, Groups>} */
const words = new Map()
/** What is on its way, by language. @type {Map<string, Promise<void>>} */
const coming = new Map()
/** Is told of a page that changes its language. */
const pages = new EventTarget()
/** @type {MutationObserver | undefined} */
let watch

/**
 * What says the words of a group.
 * @param {string} group
 * @param {Record<string, any>} english
 * @returns {(node?: Node) => Say} for an element, in whose language it speaks; without one for the page
 */
export function translator(group, english) {
  return (node) => {
    const wanted = localeOf(node)
    return (key, values) => {
      const own = words.get(wanted)?.[group]?.[key]
      const message = own ?? english[key]
      return values ? formatMessage(message, values, own === undefined ? 'en' : wanted) : message
    }
  }
}

/**
 * The language that is spoken to who looks at an element: that of the element or what is around it, as its `lang` tells, or the
 * first of the reader's own.
 * @param {Node} [node] without it the document
 */
export function localeOf(node) { return languageOf(spokenTag(node)) }

function isThere(language) { return words.has(language) || !Object.hasOwn(FILES, language) }

function spokenTag(node = globalThis.document?.documentElement) {
  return chosenTag([...langs(node), ...globalThis.navigator?.languages ?? []])
}

/** The nearest `lang`, through shadow roots. @param {any} node */
function langs(node) {
  for (let at = node; at; at = at.parentNode ?? at.host) if (at.lang) return [at.lang]
  return []
}

/**
 * Has the words that an element's language needs; where they cannot be had, English is spoken.
 * @param {Node} [node] without it the document
 */
export function loadTranslations(node) {
  const language = localeOf(node)
  if (isThere(language)) return Promise.resolve()
  let way = coming.get(language)
  if (!way) {
    way = (takeTranslations(language) ?? fetchTranslations(new URL(FILES[language], root))).then((groups) => { words.set(language, groups) },
      // The next that asks may be luckier.
      () => { coming.delete(language) })
    coming.set(language, way)
  }
  return way
}

/**
 * Has everything said in the language of an element: once its words are there, and whenever the page changes its own.
 * @param {Node} node
 * @param {() => void} say
 * @param {AbortSignal} signal ends it
 */
export function onLocaleChange(node, say, signal) {
  const tell = async () => {
    await loadTranslations(node)
    if (!signal.aborted) say()
  }
  watch ??= new MutationObserver(() => pages.dispatchEvent(new Event('change')))
  watch.observe(document.documentElement, { attributeFilter: ['lang'] })
  pages.addEventListener('change', tell, { signal })
  say()
  if (!isThere(localeOf(node))) tell()
}

/**
 * What writes dates as the reader has them, in the language of an element.
 * @param {Intl.DateTimeFormatOptions} options
 * @param {Node} [node] without it the document
 */
export function dates(options, node) {
  const tag = isThere(localeOf(node)) ? spokenTag(node) : 'en'
  try {
    return new Intl.DateTimeFormat(tag, options)
  } catch {
    // A page may name its language as it likes.
    return new Intl.DateTimeFormat(languageOf(tag), options)
  }
}
