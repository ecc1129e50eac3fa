import { dates } from '../text/language.js'
import { seenPart } from '../viewer/descriptions.js'

/** @typedef {import('../text/language.js').Say} Say */

/**
 * A line that names a view: the picture, its size, the part that is seen, the address.
 * @param {any} source
 * @param {import('../geometry/viewport.js').Viewport} viewport
 * @param {string} address
 * @param {Say} say
 */
export function citation(source, viewport, address, say) {
  const { width, height } = source.pyramid.imageSize
  const [x, y, right, bottom] = seenPart(source, viewport)
  const region = `${x},${y},${right - x},${bottom - y}`
  const isWhole = x === 0 && y === 0 && right === width && bottom === height
  return [source.title, say('dimensions', { width, height }), isWhole ? '' : say('region', { region }), address].filter(Boolean).join(', ')
}

/**
 * What is known of a picture, each with its name.
 * @param {any} source
 * @param {Say} say
 * @param {Node} [node] in whose language dates are written
 */
export function detailPairs({ title, pyramid, details }, say, node) {
  const { width, height } = pyramid.imageSize
  const { id, keywords, format, bytes, micronsPerPixel, animation } = details
  return [
    [say('title'), title], [say('caption'), details.caption], [say('creator'), details.creator],
    [say('date'), dateWords(details.date, node)], [say('place'), details.location], [say('rights'), details.rights],
    [say('keywords'), keywords?.join(', ')],
    [say('size'), say('dimensions', { width, height })], [say('megapixels'), say('quantity', { value: width * height / 1e6 })],
    [say('identifier'), id], [say('format'), (animation?.type.split('/')[1] ?? format)?.toUpperCase()],
    [say('storage'), bytes && bytesWords(bytes, say)], [say('resolution'), micronsPerPixel && say('microns', { value: micronsPerPixel })],
  ].filter(([, value]) => value)
}

/** A date as far as it is known, on the clock of where it was. @param {string} [text] as ISO 8601 has it; other words stay */
function dateWords(text, node) {
  const [, year, month = '01', day = '01', time = '00:00'] = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d:\d\d))?)?)?/.exec(text ?? '') ?? []
  const date = new Date(`${year}-${month}-${day}T${time}Z`)
  // An interval (1890/1895) stays as it is.
  if (!year || isNaN(date.getTime()) || text?.includes('/')) return text
  const known = text.length
  return dates({
    timeZone: 'UTC', year: 'numeric', month: known > 4 ? 'long' : undefined, day: known > 7 ? 'numeric' : undefined,
    hour: known > 10 ? 'numeric' : undefined, minute: known > 10 ? '2-digit' : undefined,
  }, node).format(date)
}

/** A file's size. @param {number} value bytes @param {Say} say */
export function bytesWords(value, say) {
  if (value < 1e6) return say('kilobytes', { value: value / 1e3 })
  return value < 1e9 ? say('megabytes', { value: value / 1e6 }) : say('gigabytes', { value: value / 1e9 })
}
