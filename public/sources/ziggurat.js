import { Pyramid } from '../geometry/pyramid.js'
import { reading } from '../text/reading.js'
import { askedFormat } from './formats.js'

/** The image's format has been tried: see `tryFormats`. */
export function zigguratSource(image, address) {
  if (!(image?.width >= 1 && image?.height >= 1 && image?.tileSize >= 1 && image?.urls?.dzi)) {
    throw new Error('the server described no image')
  }
  const pyramid = new Pyramid({ width: image.width, height: image.height }, image.tileSize, image.overlap ?? 0)
  const descriptor = new URL(image.urls.dzi, address)
  const folder = descriptor.pathname.replace(/\.dzi$/, '_files')
  const extension = image.format === 'jpeg' ? 'jpg' : askedFormat(image.format)
  // Tiles of a generation never change.
  const pin = image.generation ? `?g=${image.generation}` : descriptor.search
  return {
    pyramid,
    tileURL: (level, column, row) =>
      new URL(`${folder}/${level}/${column}_${row}.${extension}${pin}`, descriptor).href,
    title: imageTitle(image),
    details: image,
    address,
  }
}

/** A page without a title of its own is one of its book's; a book tells how many it has. */
export function imageTitle({ id = '', title, page, label, book, bookTitle, pages, in: of }) {
  const names = id.split('/')
  const name = names.pop()
  if (book) return reading()('bookOf', { title: title || id, count: pages })
  if (!page) return title || id
  const named = title === name ? bookTitle ?? of?.split('/').pop() ?? names.pop() ?? name : title
  return label ? `${named}, ${label}` : reading()('pageOf', { title: named, page })
}
