import { Pyramid } from '../geometry/pyramid.js'
import { askedFormat, tryFormats } from './formats.js'

export async function deepZoomSource(text, address) {
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
  return {
    pyramid, format,
    tileURL: (level, column, row) =>
      new URL(`${folder}/${level}/${column}_${row}.${askedFormat(format)}${address.search}`, address).href,
    title: name,
    details: { id: name, title: name, width: pyramid.imageSize.width, height: pyramid.imageSize.height },
  }
}
