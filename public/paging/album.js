import { Library } from '../gallery/library.js'

/** Of a listing whose images are only counted: so many at once, so many times. */
export const IDS = { fields: 'cover', limit: 1000 }
const PAGES = 100
const KEY = 'ziggurat-album'
const OPEN = 'ziggurat-open'

/**
 * Pictures to leaf through, one of them open.
 * @typedef {object} Album
 * @property {string[]} ids
 * @property {number} index of the one that is open, from 0
 * @property {number} offset which of all the first of `ids` is, from 0
 * @property {number} total how many there are
 * @property {string} [book] the book whose pages they are
 * @property {string} [viewingDirection] the side to which one goes on there, as IIIF Presentation names it
 */

/**
 * The album that a listing is, open at one of its pictures: at most 500 on either side, since it is written down.
 * @param {{ id: string, cover?: string }[]} images
 * @param {number} index
 * @param {number} total how many the listing has, read or not
 * @returns {Album}
 */
export function albumOf(images, index, total) {
  const offset = Math.max(index - 500, 0)
  return { ids: images.slice(offset, index + 500).map(shownBy), index: index - offset, offset, total }
}

/**
 * Writes down what is opened, for the page that it has as its own document.
 * @param {Storage} storage
 * @param {string} id the item's in the gallery
 * @param {Album} album
 */
export function storeAlbum(storage, id, { ids, offset, total }) {
  try {
    storage.setItem(OPEN, id)
    storage.setItem(KEY, JSON.stringify({ ids, offset, total }))
  } catch {
    // Full or forbidden: the next page asks the library.
  }
}

/** Where the gallery's focus comes back to. @param {Storage} storage @param {string} id */
export function rememberOpen(storage, id) {
  try { storage.setItem(OPEN, id) } catch { /* as above */ }
}

/** @param {Storage} storage @returns {string | null} */
export function rememberedOpen(storage) { return storage.getItem(OPEN) }

/** @param {Storage} storage @param {string} id @returns {Album | null} the album that was left, if the picture is in it */
export function restoreAlbum(storage, id) {
  try {
    const { ids, offset, total } = JSON.parse(storage.getItem(KEY) ?? 'null') ?? {}
    const index = Array.isArray(ids) ? ids.indexOf(id) : -1
    return index < 0 ? null : { ids, index, offset, total }
  } catch {
    return null
  }
}

/** The image that an item shows: itself, or the cover of a book. */
function shownBy({ id, cover }) { return cover ?? id }

/**
 * The pages of a book, open at one of them.
 * @param {string} book
 * @param {string} id
 * @returns {Promise<Album | null>}
 */
export async function bookAlbum(book, id, library = new Library('', undefined, book, IDS)) {
  const album = await libraryAlbum(id, library)
  return album && { ...album, book }
}

/**
 * The library as far as one of its pictures and the one behind it; null where that is too far to read.
 * @param {string} id
 * @returns {Promise<Album | null>}
 */
export async function libraryAlbum(id, library = new Library('', undefined, null, IDS)) {
  for (let page = 0; page < PAGES && !library.isComplete; page += 1) {
    await library.more()
    const { images } = library
    const index = images.findIndex((image) => shownBy(image) === id)
    if (index >= 0 && (index < images.length - 1 || library.isComplete)) {
      return albumOf(images, index, Math.max(library.total ?? 0, images.length))
    }
  }
  return null
}
