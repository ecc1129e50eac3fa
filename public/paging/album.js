import { Library } from '../gallery/library.js'

const PAGES = 20
const KEY = 'ziggurat-album'
/** Where the gallery's focus comes back to. */
export const OPEN = 'ziggurat-open'

export function leaveAlbum(storage, images, index, total) {
  const offset = Math.max(index - 500, 0)
  const ids = images.slice(offset, index + 500).map(shownBy)
  try {
    storage.setItem(OPEN, images[index].id)
    storage.setItem(KEY, JSON.stringify({ ids, offset, total }))
  } catch {
    // Full or forbidden: the next page asks the library.
  }
}

export function foundAlbum(storage, id) {
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

/** The pages of a book, open at one of them. */
export function bookAlbum(book, id, library = new Library('', undefined, book)) { return libraryAlbum(id, library) }

export async function libraryAlbum(id, library = new Library('')) {
  for (let page = 0; page < PAGES && !library.isComplete; page += 1) {
    await library.more()
    const ids = library.images.map(shownBy)
    const index = ids.indexOf(id)
    if (index >= 0 && (index < ids.length - 1 || library.isComplete)) {
      return { ids, index, offset: 0, total: Math.max(library.total ?? 0, ids.length) }
    }
  }
  return null
}
