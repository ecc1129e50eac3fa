import { withPath } from '../web-url.js'
import { fetchJSON, list, object, wellFormed } from './document.js'
import { presentNames } from './former-names.js'
import { openImage } from './image.js'
import { checkAlbum } from './limits.js'
import { SourceError } from './source-error.js'

/** Lists of pages, each as long as the server makes it. */
const MOST_LISTS = 1000

/**
 * A book of the API: its pages are an album, open at the cover.
 * @param {{ id: string, cover?: string }} book its description
 * @param {URL} address
 * @param {AbortSignal} [signal]
 * @throws {SourceError}
 */
export async function bookSource({ id, cover }, address, signal) {
  const images = withPath(address, address.pathname.replace(/\/[^/]*$/, ''))
  if (typeof id !== 'string') throw new SourceError('the server described no book')
  const pages = await pagesOf(id, images, signal)
  const items = pages.map((page) => `${images.origin}${images.pathname}/${encodeURIComponent(page)}`)
  if (!items.length) throw new SourceError('the book has no pages')
  const index = Math.max(pages.indexOf(cover ?? ''), 0)
  return { ...await openImage(items[index], signal), album: { items, index } }
}

/**
 * The ids of a book's pages.
 * @param {string} id the book's
 * @param {URL} images the list's address
 * @param {AbortSignal} [signal]
 */
async function pagesOf(id, images, signal) {
  /** @type {string[]} */
  const pages = []
  let cursor = ''
  for (let count = 0; count < MOST_LISTS; count += 1) {
    images.search = String(new URLSearchParams({ book: wellFormed(id), ...cursor && { cursor } }))
    const answer = presentNames(object(await fetchJSON(images, signal)))
    const found = list(answer.images)
    checkAlbum(pages.length + found.length)
    for (const image of found) if (typeof image?.id === 'string') pages.push(wellFormed(image.id))
    if (typeof answer.nextCursor !== 'string' || !answer.nextCursor) return pages
    if (!found.length || answer.nextCursor === cursor) break
    cursor = wellFormed(answer.nextCursor)
  }
  throw new SourceError('the list of a book\'s pages does not end', { reason: 'endless' })
}
