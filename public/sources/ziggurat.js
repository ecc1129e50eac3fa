import { viewerTranslator } from '../i18n/viewer.js'
import { webURL, withPath } from '../web-url.js'
import { currentNames } from './deprecated-names.js'
import { line, list, object, positive, text, wellFormed } from './document.js'
import { requestedFormat } from './formats.js'
import { describedPyramid } from './source-limits.js'
import { SourceError } from './source-error.js'

/**
 * Returns the source that a description of the API describes. Support for the image's format must have been tested by
 * `tryFormats`.
 * @param {any} image
 * @param {URL} address the address of the description
 * @throws {SourceError}
 */
export function zigguratSource(image, address) {
  const details = checkDescription(image, address)
  const pyramid = describedPyramid(image, image.tileSize, image.overlap)
  const descriptor = webURL(image.urls?.dzi, address)
  const folder = withPath(descriptor, descriptor.pathname.replace(/\.dzi$/, '_files')).href
  const extension = details.format === 'jpeg' ? 'jpg' : requestedFormat(details.format)
  // Tiles of a generation never change.
  const versionQuery = details.generation ? `?v=${details.generation}` : descriptor.search
  return {
    pyramid,
    tileURL: (level, column, row) => `${folder}/${level}/${column}_${row}.${extension}${versionQuery}`,
    title: line(imageTitle(details)),
    details,
    address,
  }
}

/**
 * Returns a description whose members have the types and addresses that the viewer relies on.
 * @param {any} image
 * @param {URL} address
 */
function checkDescription(image, address) {
  if (typeof image !== 'object' || image === null || Array.isArray(image)) throw new SourceError('the server described no image')
  const urls = object(image.urls)
  for (const url of [urls.iiif3, urls.iiif2, image.original?.url, image.animation?.url]) if (url !== undefined) webURL(url, address)
  /** @type {Record<string, any>} */
  const known = { ...currentNames(image), urls, original: fileOf(image.original), animation: fileOf(image.animation) }
  const read = (/** @type {(value: unknown) => unknown} */ as, /** @type {string[]} */ ...names) => {
    for (const name of names) if (known[name] !== undefined) known[name] = as(known[name])
  }
  read(textOrUndefined, 'id', 'book', 'cover')
  read(line, 'title', 'creator', 'date', 'location', 'bookTitle', 'label')
  read(text, 'caption', 'rights')
  read(positive, 'bytes', 'micronsPerPixel', 'page', 'pages')
  read((value) => list(value).map(line).filter(Boolean), 'keywords')
  read((value) => typeof value === 'string' && /^[\w-]{1,100}$/.test(value) ? value : undefined, 'generation')
  known.format = fileExtension(image.format, 'jpg')
  return known
}

/**
 * Returns the type and size of a file beside the tiles.
 * @param {any} about
 */
function fileOf(about) {
  if (typeof about?.url !== 'string') return undefined
  return { ...about, type: mediaType(about.type), bytes: positive(about.bytes) ?? 0 }
}

/**
 * Returns the value if it is text.
 * @param {unknown} value
 */
function textOrUndefined(value) { return typeof value === 'string' ? wellFormed(value) : undefined }

/**
 * Returns the media type of a file, or JPEG if it is invalid.
 * @param {any} type
 */
function mediaType(type) { return typeof type === 'string' && /^[a-z]+\/[\w.+-]{1,40}$/.test(type) ? type : 'image/jpeg' }

/**
 * Validates the suffix of tile files in a description.
 * @param {any} format
 * @param {string} [fallback] the default if there is none
 * @returns {string}
 * @throws {SourceError} if it is not a simple suffix
 */
export function fileExtension(format, fallback) {
  if (format === undefined && fallback) return fallback
  if (typeof format === 'string' && /^[A-Za-z0-9]{1,10}$/.test(format)) return format
  throw new SourceError('the description states no format of tiles')
}

/** Returns an image's title. An untitled page is named after its book; a book's title includes its number of pages. */
export function imageTitle({ id = '', title, page, label, isBook, book, bookTitle, pages }) {
  const names = id.split('/')
  const name = names.pop()
  if (isBook) return viewerTranslator()('bookOf', { title: title || id, count: pages })
  if (!page) return title || id
  const named = title === name ? bookTitle ?? book?.split('/').pop() ?? names.pop() ?? name : title
  return label ? `${named}, ${label}` : viewerTranslator()('pageOf', { title: named, page })
}
