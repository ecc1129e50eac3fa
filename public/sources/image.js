import { webURL } from '../web-url.js'
import { currentNames } from './deprecated-names.js'
import { fetchJSON, object } from './document.js'
import { tryFormats } from './formats.js'
import { SourceError } from './source-error.js'
import { zigguratSource } from './ziggurat.js'

/**
 * Opens an image by the address of its info.json or of its description in the API.
 * @param {string | URL} address
 * @param {AbortSignal} [signal]
 * @throws {SourceError} also if the address leads to a manifest, a content state or a book
 */
export async function openImage(address, signal) {
  const description = await fetchJSON(address, signal, { cache: 'no-cache' })
  if (kindOf(description) !== 'image') throw new SourceError(`${address} leads to no image but to other descriptions`, { reason: 'endless' })
  return imageSource(description, webURL(address))
}

/**
 * Returns the type of the resource that a JSON document describes.
 * @param {any} description
 * @returns {'manifest' | 'collection' | 'state' | 'book' | 'image'}
 */
export function kindOf(description) {
  const { type, '@type': former, isBook } = currentNames(object(description))
  const kind = type ?? former
  if (kind === 'Manifest' || kind === 'sc:Manifest') return 'manifest'
  if (kind === 'Collection' || kind === 'sc:Collection') return 'collection'
  if (kind === 'Annotation') return 'state'
  return isBook === true ? 'book' : 'image'
}

/**
 * Returns the source that an info.json or a description of the API describes.
 * @param {any} description
 * @param {URL} address the address of the description
 * @throws {SourceError}
 */
export async function imageSource(description, address) {
  const { preferredFormats, format, protocol } = object(description)
  await tryFormats(Array.isArray(preferredFormats) ? preferredFormats.slice(0, 20) : [format])
  const isIIIF = protocol === 'http://iiif.io/api/image'
  return isIIIF ? (await import('./iiif.js')).iiifSource(description, address) : zigguratSource(description, address)
}
