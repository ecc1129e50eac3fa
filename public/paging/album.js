import { Library } from '../gallery/library.js'

/** Parameters of a listing that is only read for its ids, and the maximum number of its pages. */
export const IDS = { fields: 'cover', limit: 1000 }
const MAX_PAGES = 100
const KEY = 'ziggurat-album'
const OPEN = 'ziggurat-open'

/**
 * Images to page through, with a current one.
 * @typedef {object} Album
 * @property {string[]} ids
 * @property {number} index the index of the current one in `ids`
 * @property {number} offset the position of the first of `ids` in the whole list, from 0
 * @property {number} total the number of images in the whole list
 * @property {string} [book] the book whose pages they are
 * @property {string} [viewingDirection] the reading direction, by its name in IIIF Presentation
 */

/**
 * Returns an album for a list, at one of its images. It contains at most 500 images on either side, because it is stored.
 * @param {{ id: string, cover?: string }[]} images
 * @param {number} index
 * @param {number} total the length of the whole list, including the part that is not loaded
 * @returns {Album}
 */
export function albumOf(images, index, total) {
  const offset = Math.max(index - 500, 0)
  return { ids: images.slice(offset, index + 500).map(imageIdOf), index: index - offset, offset, total }
}

/**
 * Stores the opened item, for the page in a document of its own.
 * @param {Storage} storage
 * @param {string} id the id of the item in the gallery
 * @param {Album} album
 */
export function storeAlbum(storage, id, { ids, offset, total }) {
  try {
    storage.setItem(OPEN, id)
    storage.setItem(KEY, JSON.stringify({ ids, offset, total }))
  } catch {
    // Full or forbidden: the next page will request the list.
  }
}

/**
 * Stores the item that receives the focus when the gallery is shown again.
 * @param {Storage} storage
 * @param {string} id
 */
export function storeOpenItem(storage, id) {
  try { storage.setItem(OPEN, id) } catch { /* as above */ }
}

/**
 * Returns the id that `storeOpenItem` stored.
 * @param {Storage} storage
 * @returns {string | null}
 */
export function storedOpenItem(storage) { return storage.getItem(OPEN) }

/**
 * Returns the stored album if it contains the image.
 * @param {Storage} storage
 * @param {string} id
 * @returns {Album | null}
 */
export function restoreAlbum(storage, id) {
  try {
    const { ids, offset, total } = JSON.parse(storage.getItem(KEY) ?? 'null') ?? {}
    const index = Array.isArray(ids) ? ids.indexOf(id) : -1
    return index < 0 ? null : { ids, index, offset, total }
  } catch {
    return null
  }
}

/** Returns the id of the image that represents an item: itself, or the cover of a book. */
function imageIdOf({ id, cover }) { return cover ?? id }

/**
 * Loads the pages of a book as an album, at one of them.
 * @param {string} book
 * @param {string} id
 * @returns {Promise<Album | null>}
 */
export async function bookAlbum(book, id, library = new Library('', undefined, book, IDS)) {
  const album = await libraryAlbum(id, library)
  return album && { ...album, book }
}

/**
 * Loads the library up to an image and its successor, as an album. Resolves to null if that takes too many requests.
 * @param {string} id
 * @returns {Promise<Album | null>}
 */
export async function libraryAlbum(id, library = new Library('', undefined, null, IDS)) {
  for (let page = 0; page < MAX_PAGES && !library.isComplete; page += 1) {
    await library.more()
    const { images } = library
    const index = images.findIndex((image) => imageIdOf(image) === id)
    if (index >= 0 && (index < images.length - 1 || library.isComplete)) {
      return albumOf(images, index, Math.max(library.total ?? 0, images.length))
    }
  }
  return null
}
