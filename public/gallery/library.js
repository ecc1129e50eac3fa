import { currentNames } from '../sources/deprecated-names.js'
import { tryFormats } from '../sources/formats.js'
import { serverURL } from '../urls.js'
import { request } from '../web-url.js'

const PAGE = 200

/** The images that match a query, with books as their covers; or the pages of one book. */
export class Library {
  /** @type {string[] | undefined} the ids of the immediate subfolders, once they are known */
  folders

  /**
   * @param {string} query the search terms; empty for all images
   * @param {(url: string, signal: AbortSignal) => Promise<object>} [read] requests JSON from the server
   * @param {string | null} [book] the id of the book whose pages are listed
   * @param {{ folder?: string, sort?: string, fields?: string, limit?: number }} [asked] the folder, sort order and members
   *   in the form of the API's parameters, and the number of images per request
   */
  constructor(query, read = readJSON, book = null, { folder = '', sort = '', fields = '', limit = PAGE } = {}) {
    Object.assign(this, { query, read, book, folder, sort, fields, limit, images: [], cursor: null, isComplete: false, pending: null })
    this.abort = new AbortController()
  }

  more() {
    if (this.isComplete) return Promise.resolve([])
    this.pending ??= this.readPage().finally(() => { this.pending = null })
    return this.pending
  }

  cancel() { this.abort.abort() }

  async readPage() {
    const query = new URLSearchParams({ limit: String(this.limit) })
    if (this.cursor) query.set('cursor', this.cursor)
    if (this.query) query.set('q', this.query)
    if (this.book) query.set('book', this.book)
    if (this.folder) query.set('folder', this.folder)
    if (this.sort) query.set('sort', this.sort)
    if (this.fields) query.set('fields', this.fields)
    const response = currentNames(await this.read(serverURL(`api/images?${query}`), this.abort.signal))
    const { nextCursor, total, hint, folders } = response
    const images = response.images.map(currentNames)
    await tryFormats(images.map((image) => image.format))
    this.images.push(...images)
    this.cursor = nextCursor ?? null
    this.isComplete = this.cursor === null
    this.total = total
    this.folders ??= folders
    this.needsBuild = Boolean(hint)
    return images
  }
}

async function readJSON(url, signal) {
  // Revalidated, so that recent changes are included.
  const response = await request(url, { signal, cache: 'no-cache' })
  if (!response.ok) throw new Error(`${response.status} for ${url}`)
  return response.json()
}
