import { dateFormatter } from '../i18n/translator.js'
import { visibleRegion } from '../viewer/descriptions.js'

/** @typedef {import('../i18n/translator.js').Translate} Translate */

/**
 * Returns a citation of a view: the title, the size, the visible region and the address.
 * @param {any} source
 * @param {import('../geometry/viewport.js').Viewport} viewport
 * @param {string} address
 * @param {Translate} t
 */
export function citation(source, viewport, address, t) {
  const { width, height } = source.pyramid.imageSize
  const [x, y, right, bottom] = visibleRegion(source, viewport)
  const region = `${x},${y},${right - x},${bottom - y}`
  const isWhole = x === 0 && y === 0 && right === width && bottom === height
  return [source.title, t('dimensions', { width, height }), isWhole ? '' : t('region', { region }), address].filter(Boolean).join(', ')
}

/**
 * Returns the known metadata of an image as pairs of name and value.
 * @param {any} source
 * @param {Translate} t
 * @param {Node} [node] dates are formatted in its language
 */
export function detailPairs({ title, pyramid, details }, t, node) {
  const { width, height } = pyramid.imageSize
  const { id, keywords, format, bytes, micronsPerPixel, animation } = details
  return [
    [t('title'), title], [t('caption'), details.caption], [t('creator'), details.creator],
    [t('date'), formatDate(details.date, node)], [t('place'), details.location], [t('rights'), details.rights],
    [t('keywords'), keywords?.join(', ')],
    [t('size'), t('dimensions', { width, height })], [t('megapixels'), t('quantity', { value: width * height / 1e6 })],
    [t('identifier'), id], [t('format'), (animation?.type.split('/')[1] ?? format)?.toUpperCase()],
    [t('storage'), bytes && formatBytes(bytes, t)], [t('resolution'), micronsPerPixel && t('microns', { value: micronsPerPixel })],
  ].filter(([, value]) => value)
}

/**
 * Formats a date with the known parts, in its local time.
 * @param {string} [text] ISO 8601; any other text is returned unchanged
 */
function formatDate(text, node) {
  const [, year, month = '01', day = '01', time = '00:00'] = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d:\d\d))?)?)?/.exec(text ?? '') ?? []
  const date = new Date(`${year}-${month}-${day}T${time}Z`)
  // An interval (1890/1895) is returned unchanged.
  if (!year || isNaN(date.getTime()) || text?.includes('/')) return text
  const known = text.length
  return dateFormatter({
    timeZone: 'UTC', year: 'numeric', month: known > 4 ? 'long' : undefined, day: known > 7 ? 'numeric' : undefined,
    hour: known > 10 ? 'numeric' : undefined, minute: known > 10 ? '2-digit' : undefined,
  }, node).format(date)
}

/**
 * Formats the size of a file.
 * @param {number} value bytes
 * @param {Translate} t
 */
export function formatBytes(value, t) {
  if (value < 1e6) return t('kilobytes', { value: value / 1e3 })
  return value < 1e9 ? t('megabytes', { value: value / 1e6 }) : t('gigabytes', { value: value / 1e9 })
}
