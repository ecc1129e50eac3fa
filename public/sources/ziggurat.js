import { reading } from '../text/reading.js'
import { webURL, withPath } from '../web-url.js'
import { line, list, object, positive, text, wellFormed } from './document.js'
import { requestedFormat } from './formats.js'
import { presentNames } from './former-names.js'
import { describedPyramid } from './limits.js'
import { SourceError } from './source-error.js'

/**
 * The source that a description of the API states. The image's format has been tried: see `tryFormats`.
 * @param {any} image
 * @param {URL} address the description's own
 * @throws {SourceError}
 */
export function zigguratSource(image, address) {
  const details = checked(image, address)
  const pyramid = describedPyramid(image, image.tileSize, image.overlap)
  const descriptor = webURL(image.urls?.dzi, address)
  const folder = withPath(descriptor, descriptor.pathname.replace(/\.dzi$/, '_files')).href
  const extension = details.format === 'jpeg' ? 'jpg' : requestedFormat(details.format)
  // Tiles of a generation never change.
  const pin = details.generation ? `?v=${details.generation}` : descriptor.search
  return {
    pyramid,
    tileURL: (level, column, row) => `${folder}/${level}/${column}_${row}.${extension}${pin}`,
    title: line(imageTitle(details)),
    details,
    address,
  }
}

/**
 * A description whose members have the types and the addresses that the viewer relies on.
 * @param {any} image
 * @param {URL} address
 */
function checked(image, address) {
  if (typeof image !== 'object' || image === null || Array.isArray(image)) throw new SourceError('the server described no image')
  const urls = object(image.urls)
  for (const url of [urls.iiif3, urls.iiif2, image.original?.url, image.animation?.url]) if (url !== undefined) webURL(url, address)
  /** @type {Record<string, any>} */
  const known = { ...presentNames(image), urls, original: file(image.original), animation: file(image.animation) }
  const read = (/** @type {(value: unknown) => unknown} */ as, /** @type {string[]} */ ...names) => {
    for (const name of names) if (known[name] !== undefined) known[name] = as(known[name])
  }
  read(string, 'id', 'book', 'cover')
  read(line, 'title', 'creator', 'date', 'location', 'bookTitle', 'label')
  read(text, 'caption', 'rights')
  read(positive, 'bytes', 'micronsPerPixel', 'page', 'pages')
  read((value) => list(value).map(line).filter(Boolean), 'keywords')
  read((value) => typeof value === 'string' && /^[\w-]{1,100}$/.test(value) ? value : undefined, 'generation')
  known.format = ending(image.format, 'jpg')
  return known
}

/**
 * A file beside the tiles: its type and bytes.
 * @param {any} about
 */
function file(about) {
  if (typeof about?.url !== 'string') return undefined
  return { ...about, type: mediaType(about.type), bytes: positive(about.bytes) ?? 0 }
}

/** @param {unknown} value */
function string(value) { return typeof value === 'string' ? wellFormed(value) : undefined }

/** @param {any} type of a file */
function mediaType(type) { return typeof type === 'string' && /^[a-z]+\/[\w.+-]{1,40}$/.test(type) ? type : 'image/jpeg' }

/**
 * A file's ending, as a description states it.
 * @param {any} format
 * @param {string} [other] if it states none
 * @returns {string}
 * @throws {SourceError} if it would be more than an ending in an address
 */
export function ending(format, other) {
  if (format === undefined && other) return other
  if (typeof format === 'string' && /^[A-Za-z0-9]{1,10}$/.test(format)) return format
  throw new SourceError('the description states no format of tiles')
}

/** A page without a title of its own is one of its book's; a book tells how many it has. */
export function imageTitle({ id = '', title, page, label, isBook, book, bookTitle, pages }) {
  const names = id.split('/')
  const name = names.pop()
  if (isBook) return reading()('bookOf', { title: title || id, count: pages })
  if (!page) return title || id
  const named = title === name ? bookTitle ?? book?.split('/').pop() ?? names.pop() ?? name : title
  return label ? `${named}, ${label}` : reading()('pageOf', { title: named, page })
}
