/**
 * @typedef {string | { [category: string]: string }} Message a text with placeholders in braces; or one for each plural
 *   category of the language, selected by `count`
 */
/** @typedef {Record<string, string | number>} Values numbers are formatted for the language */

/** @type {Map<string, { numbers: Intl.NumberFormat, whole: Intl.NumberFormat, plurals: Intl.PluralRules }>} */
const formatters = new Map()

/**
 * Returns a message with its values inserted.
 * @param {Message} message
 * @param {Values} values
 * @param {string} language
 */
export function formatMessage(message, values, language) {
  const text = typeof message === 'string' ? message : message[pluralCategory(Number(values.count), language)] ?? message.other
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name]
    return typeof value === 'number' ? formatNumber(value, language) : value
  })
}

/**
 * Formats a number: without decimals from a thousand on, otherwise with three significant digits.
 * @param {number} value
 * @param {string} language
 */
export function formatNumber(value, language) {
  if (language !== 'en') return value < 1000 ? formattersFor(language).numbers.format(value) : formattersFor(language).whole.format(value)
  // The same result without the 10 ms that Intl needs to start, which would delay the first view.
  return value < 1000 ? String(Number(value.toPrecision(3))) : String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',')
}

function pluralCategory(count, language) { return language === 'en' ? (count === 1 ? 'one' : 'other') : formattersFor(language).plurals.select(count) }

function formattersFor(language) {
  let created = formatters.get(language)
  if (!created) {
    created = {
      numbers: new Intl.NumberFormat(language, { maximumSignificantDigits: 3 }),
      whole: new Intl.NumberFormat(language, { maximumFractionDigits: 0 }),
      plurals: new Intl.PluralRules(language),
    }
    formatters.set(language, created)
  }
  return created
}
