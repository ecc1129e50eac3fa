import { FILES } from './files.js'
import { languageOf, matchLocale } from './match-locale.js'
import { formatMessage } from './message.js'
import { fetchTranslations, takeTranslations } from './preload.js'
import { root } from './root.js'

/** @typedef {import('./message.js').Message} Message */
/** @typedef {Record<string, Record<string, any>>} Groups messages and lists of texts, by group and key */
/**
 * Returns a message.
 * @typedef {(key: string, values?: import('./message.js').Values) => any} Translate the message of the key with the
 *   values inserted; without values, the unformatted entry, such as a list
 */

/**
 * The loaded translations by language, without English, which is part of the scripts.
 * @type {Map<string, Groups>}
 */
const translations = new Map()
/**
 * The translations that are loading, by language.
 * @type {Map<string, Promise<void>>}
 */
const loading = new Map()
/** Dispatches `change` when the page changes its language. */
const localeChanges = new EventTarget()
/** @type {MutationObserver | undefined} */
let observer

/**
 * Returns the message functions of a group.
 * @param {string} group
 * @param {Record<string, any>} english
 * @returns {(node?: Node) => Translate} returns the function for the language of an element, or of the page without one
 */
export function createTranslator(group, english) {
  return (node) => {
    const language = localeOf(node)
    return (key, values) => {
      const translated = translations.get(language)?.[group]?.[key]
      const message = translated ?? english[key]
      return values ? formatMessage(message, values, translated === undefined ? 'en' : language) : message
    }
  }
}

/**
 * Returns the language of an element: the nearest `lang` attribute, or otherwise the reader's preferred language with a
 * translation.
 * @param {Node} [node] the document by default
 */
export function localeOf(node) { return languageOf(preferredTag(node)) }

function isLoaded(language) { return translations.has(language) || !Object.hasOwn(FILES, language) }

function preferredTag(node = globalThis.document?.documentElement) {
  return matchLocale([...declaredLanguages(node), ...globalThis.navigator?.languages ?? []])
}

/**
 * Returns the nearest `lang`, through shadow roots.
 * @param {any} node
 */
function declaredLanguages(node) {
  for (let at = node; at; at = at.parentNode ?? at.host) if (at.lang) return [at.lang]
  return []
}

/**
 * Loads the translation for an element's language. If that fails, English is used.
 * @param {Node} [node] the document by default
 */
export function loadTranslations(node) {
  const language = localeOf(node)
  if (isLoaded(language)) return Promise.resolve()
  let promise = loading.get(language)
  if (!promise) {
    promise = (takeTranslations(language) ?? fetchTranslations(new URL(FILES[language], root))).then((groups) => { translations.set(language, groups) },
      // A later request may succeed.
      () => { loading.delete(language) })
    loading.set(language, promise)
  }
  return promise
}

/**
 * Calls a function that sets texts: immediately, after the translation for the element is loaded, and whenever the page
 * changes its language.
 * @param {Node} node
 * @param {() => void} update
 * @param {AbortSignal} signal removes the listener
 */
export function onLocaleChange(node, update, signal) {
  const loadAndUpdate = async () => {
    await loadTranslations(node)
    if (!signal.aborted) update()
  }
  observer ??= new MutationObserver(() => localeChanges.dispatchEvent(new Event('change')))
  observer.observe(document.documentElement, { attributeFilter: ['lang'] })
  localeChanges.addEventListener('change', loadAndUpdate, { signal })
  update()
  if (!isLoaded(localeOf(node))) loadAndUpdate()
}

/**
 * Returns a date formatter for the language of an element.
 * @param {Intl.DateTimeFormatOptions} options
 * @param {Node} [node] the document by default
 */
export function dateFormatter(options, node) {
  const tag = isLoaded(localeOf(node)) ? preferredTag(node) : 'en'
  try {
    return new Intl.DateTimeFormat(tag, options)
  } catch {
    // A page may declare an invalid language tag.
    return new Intl.DateTimeFormat(languageOf(tag), options)
  }
}
