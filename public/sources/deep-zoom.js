import { Pyramid } from '../geometry/pyramid.js'
import { askedFormat, isShown, notShown, tryFormats } from './formats.js'

/**
 * The source that a Deep Zoom descriptor describes.
 * @param {string} text the descriptor, XML
 * @param {URL} address its own
 * @param {boolean} [isOfServer] whether the tiles beside it may be had in another format; of an archive there is none
 */
export async function deepZoomSource(text, address, isOfServer = true) {
  const root = new DOMParser().parseFromString(text, 'application/xml').documentElement
  const size = root.querySelector('Size')
  const number = (element, name) => Number(element.getAttribute(name))
  const format = root.getAttribute('Format')
  if (root.localName !== 'Image' || !size || !format) throw new Error('not a Deep Zoom descriptor')
  await tryFormats([format])
  const pyramid = new Pyramid(
    { width: number(size, 'Width'), height: number(size, 'Height') },
    number(root, 'TileSize'), number(root, 'Overlap'))
  const folder = address.pathname.replace(/\.(dzi|xml)$/, '_files')
  const name = decodeURIComponent(folder.split('/').pop()).replace(/_files$/, '')
  // A server of files has the tiles as they are stored alone.
  if (!isShown(format) && !(isOfServer && await isThere(new URL(`${folder}/0/0_0.jpg${address.search}`, address)))) throw notShown(format)
  return {
    pyramid, format,
    tileURL: (level, column, row) =>
      new URL(`${folder}/${level}/${column}_${row}.${askedFormat(format)}${address.search}`, address).href,
    title: name,
    details: { id: name, title: name, width: pyramid.imageSize.width, height: pyramid.imageSize.height },
  }
}

function isThere(url) { return fetch(url).then(({ ok }) => ok) }
