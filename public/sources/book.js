import { withPath } from '../web-url.js'
import { currentNames } from './deprecated-names.js'
import { fetchJSON, list, object, wellFormed } from './document.js'
import { openImage } from './image.js'
import { checkAlbum } from './source-limits.js'
import { SourceError } from './source-error.js'

/** Maximum number of list requests; the server determines the length of each list. */
const MAX_LISTS = 1000

/**
 * Opens a book of the API as an album of its pages, at the cover.
 * @param {{ id: string, cover?: string }} book the description of the book
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
 * Returns the ids of a book's pages.
 * @param {string} id the id of the book
 * @param {URL} images the address of the list
 * @param {AbortSignal} [signal]
 */
async function pagesOf(id, images, signal) {
  /** @type {string[]} */
  const pages = []
  let cursor = ''
  for (let count = 0; count < MAX_LISTS; count += 1) {
    images.search = String(new URLSearchParams({ book: wellFormed(id), ...cursor && { cursor } }))
    const response = currentNames(object(await fetchJSON(images, signal)))
    const found = list(response.images)
    checkAlbum(pages.length + found.length)
    for (const image of found) if (typeof image?.id === 'string') pages.push(wellFormed(image.id))
    if (typeof response.nextCursor !== 'string' || !response.nextCursor) return pages
    if (!found.length || response.nextCursor === cursor) break
    cursor = wellFormed(response.nextCursor)
  }
  throw new SourceError('the list of a book\'s pages does not end', { reason: 'endless' })
}
