import { request, withPath } from '../web-url.js'
import { decodeSegment, line } from './document.js'
import { canDecode, requestedFormat, tryFormats, unsupportedFormat } from './formats.js'
import { describedPyramid } from './source-limits.js'
import { SourceError } from './source-error.js'
import { fileExtension } from './ziggurat.js'

/**
 * Returns the source that a Deep Zoom descriptor describes.
 * @param {string} text the descriptor, XML
 * @param {URL} address the descriptor's address
 * @param {boolean} [isOfServer] whether the server may deliver tiles in another format; not the case for an archive
 * @throws {SourceError}
 */
export async function deepZoomSource(text, address, isOfServer = true) {
  // A valid descriptor contains no entities, which could expand to gigabytes.
  if (text.includes('<!DOCTYPE')) throw new SourceError('not a Deep Zoom descriptor')
  const root = new DOMParser().parseFromString(text, 'application/xml').documentElement
  const size = root.querySelector('Size')
  const number = (element, name) => Number(element.getAttribute(name))
  if (root.localName !== 'Image' || !size) throw new SourceError('not a Deep Zoom descriptor')
  const format = fileExtension(root.getAttribute('Format'))
  await tryFormats([format])
  const pyramid = describedPyramid(
    { width: number(size, 'Width'), height: number(size, 'Height') },
    number(root, 'TileSize'), number(root, 'Overlap'))
  const path = address.pathname.replace(/\.(dzi|xml)$/, '_files')
  const folder = withPath(address, path).href
  const name = line(decodeSegment(path.split('/').pop() ?? '')).replace(/_files$/, '')
  // A static file server has only the stored tiles.
  if (!canDecode(format) && !(isOfServer && await exists(`${folder}/0/0_0.jpg${address.search}`))) throw unsupportedFormat(format)
  return {
    pyramid, format,
    tileURL: (level, column, row) => `${folder}/${level}/${column}_${row}.${requestedFormat(format)}${address.search}`,
    title: name,
    details: { id: name, title: name, width: pyramid.imageSize.width, height: pyramid.imageSize.height },
  }
}

/**
 * Whether an address exists.
 * @param {string} url
 */
function exists(url) { return request(url).then(({ ok }) => ok) }
