import { session } from '../gallery/session.js'
import { registerWorker } from '../offline/register-worker.js'
import { bookAlbum, libraryAlbum, rememberOpen, restoreAlbum } from '../paging/album.js'
import { reading } from '../text/reading.js'
import { serverURL } from '../urls.js'
import { decodeView, encodeView, pathId } from '../viewer/view-hash.js'

/** @typedef {import('../paging/album.js').Album} Album */

/** Whether thumbnails are shown, from one picture to the next. */
const STRIP = 'ziggurat-filmstrip'

/** The address of a picture's page. @param {string} id */
export function viewURL(id) { return serverURL(`view/${encodeURIComponent(id)}`) }

/** The address that a viewer opens. @param {string} id */
export function apiURL(id) { return serverURL(`api/images/${encodeURIComponent(id)}`) }

/**
 * One picture with its words above it, in an album: as a document of its own, or over the gallery's.
 *
 * The document's address is the picture's: the page writes the view and the picture that was turned to into it.
 */
export class PicturePage {
  /** @type {Album | null} */
  album = null
  #ended = new AbortController()
  /** The link to the view of which the address tells, if in other words. */
  #told = ''

  /** Is called when the picture's words have changed, or a picture is gone or back: what lists it is not right any more. */
  changed = () => {}

  /**
   * @param {HTMLElement} box holds the viewer and the bar, as `view.html` has them
   * @param {{ owner?: string, gallery?: string }} [options] the owner's name, which titles end with; the address that the
   *   bar's arrow leads to
   */
  constructor(box, { owner = '', gallery = serverURL('') } = {}) {
    this.box = box
    this.say = reading()
    this.owner = owner ? ` · ${owner}` : ''
    this.viewer = this.find('viewer')
    this.viewer.screen = box === document.body ? document.documentElement : box
    this.back = this.find('back')
    this.back.href = gallery
    this.back.title = this.back.ariaLabel = this.say('back')
    this.back.onclick = (event) => this.leave(event)
    this.#listen()
  }

  /** The id of the picture that is shown, or about to be. */
  get id() { return this.album && this.album.ids.length > 1 ? this.album.ids[this.viewer.index] : this.first }

  get isEnded() { return this.#ended.signal.aborted }

  /** @param {string} id of an element of the page */
  find(id) { return this.box.querySelector(`#${id}`) }

  /**
   * Shows a picture.
   * @param {string} id
   * @param {object} [known]
   * @param {string} [known.hash] the view that the link names
   * @param {string} [known.title] what the picture is called, where that is known before it comes
   * @param {{ width: number, height: number }} [known.size] the same, image pixels
   * @param {Album | null} [known.album] the pictures to leaf through; null for those that are found by the id
   */
  show(id, { hash = '', title, size, album = restoreAlbum(sessionStorage, id) } = {}) {
    this.first = id
    this.#tell(title ?? nameOf(id), size ? this.#sizeWords(size) : '')
    this.viewer.setAttribute('view', hash.slice(1))
    this.viewer.src = apiURL(id)
    if (album) this.#leafThrough(album)
    if (id.startsWith('~/')) import('../gallery/lock.js').then(({ watchSession }) => watchSession())
  }

  /** The page is no more: it hears of nothing, and what it shows is let go. */
  end() {
    this.#ended.abort()
    this.box.remove()
  }

  /** Back to the gallery: the one that this page was come to from, if that is the entry before. @param {MouseEvent} event */
  leave(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    const before = globalThis.navigation?.entries()[navigation.currentEntry.index - 1]
    const isGallerys = before?.url?.split(/[?#]/)[0] === this.back.href.split(/[?#]/)[0]
    // Where there is no Navigation API, its state tells what was opened over the gallery.
    if (!isGallerys && (globalThis.navigation || !history.state?.isOver)) return
    event.preventDefault()
    history.back()
  }

  #listen() {
    const { viewer } = this
    const { signal } = this.#ended
    const name = () => this.#tell(nameOf(this.id), '')
    viewer.addEventListener('error', name)
    viewer.addEventListener('open', () => this.#opened())
    viewer.addEventListener('idle', () => {
      // What is cut is not where one is.
      if (!viewer.viewport || signal.aborted || viewer.hasAttribute('cropping')) return
      const hash = this.#link
      if (hash === this.#told) return
      this.#told = hash
      history.replaceState(history.state, '', hash || location.pathname + location.search)
    })
    viewer.toggleAttribute('filmstrip', sessionStorage.getItem(STRIP) === 'shown')
    viewer.addEventListener('ui-toggle', () => {
      this.box.dataset.ui = viewer.getAttribute('ui') ?? ''
      try { sessionStorage.setItem(STRIP, viewer.hasAttribute('filmstrip') ? 'shown' : '') } catch { /* Full or forbidden. */ }
    })
    viewer.addEventListener('close', ({ detail }) => {
      // What is pinched shrinks to its thumbnail; a document of its own lies over nothing.
      if (detail.cause !== 'pinch' || this.box !== document.body) this.back.click()
    })
    viewer.addEventListener('page', () => this.#turned())
    viewer.addEventListener('open', () => this.#findAlbum(), { once: true })
    viewer.addEventListener('complete', () => this.#showEditing())
    viewer.addEventListener('page', () => {
      viewer.actions = []
      viewer.saveCopy = null
    })
    addEventListener('hashchange', () => {
      const linked = viewer.viewport && decodeView(location.hash, viewer.viewport, viewer.source.pyramid.imageSize)
      if (linked) viewer.viewport = linked
    }, { signal })
    document.addEventListener('keydown', (event) => {
      if (event.target !== document.body) return
      // What the viewer knows must not scroll what lies below.
      if (!viewer.dispatchEvent(new KeyboardEvent('keydown', event))) event.preventDefault()
    }, { signal })
    const counter = this.find('counter')
    const field = this.find('number')
    counter.addEventListener('submit', (event) => {
      event.preventDefault()
      viewer.goTo(Number(field.value) - 1 - this.album.offset)
      this.#showNumber()
      viewer.focus({ preventScroll: true })
    })
    field.addEventListener('focus', () => field.select())
    field.addEventListener('blur', () => this.#showNumber())
  }

  #sizeWords({ width, height }) { return this.say('pixels', { width, height }) }

  /** The words above the picture and the document's title. */
  #tell(title, facts) {
    this.find('title').textContent = title
    this.find('facts').textContent = facts
    document.title = title + this.owner
  }

  /** The link to what is seen now. */
  get #link() { return encodeView(this.viewer.viewport, this.viewer.source.pyramid.imageSize) }

  #opened() {
    this.#told = this.#link
    const { title, pyramid, details } = this.viewer.source
    const size = this.#sizeWords(pyramid.imageSize)
    this.#tell(title, details.caption ? `${details.caption} · ${size}` : size)
  }

  /** Known as soon as the picture is described, long before all of it is there. */
  async #findAlbum() {
    const { id } = this
    const { book, viewingDirection } = this.viewer.source.details
    if (book ? this.album?.book === book : this.album) return
    const found = await (book ? bookAlbum(book, id) : libraryAlbum(id)).catch(() => null)
    if (found && this.id === id && !this.isEnded) this.#leafThrough({ ...found, viewingDirection })
  }

  /** @param {Album} album */
  #leafThrough(album) {
    if (album.ids.length < 2) return
    this.album = album
    this.viewer.setImages(album.ids.map(apiURL), album.index, album)
    this.find('count').textContent = this.say('ofCount', { count: album.total })
    this.find('number').setAttribute('aria-label', this.say('goToImage'))
    this.#showNumber()
    this.find('counter').hidden = false
  }

  #turned() {
    history.replaceState(history.state, '', viewURL(this.id))
    this.#showNumber()
    // The gallery has one picture for all pages of a book.
    if (!this.album.book) rememberOpen(sessionStorage, this.id)
  }

  #showNumber() {
    const field = this.find('number')
    field.value = String(this.album.offset + this.viewer.index + 1)
    field.style.width = `${String(this.album.total).length + 1.5}ch`
  }

  /** What who may write can do, of a picture that is private or everybody's. */
  async #showEditing() {
    const { id } = this
    const { canWrite, canWriteSpace } = await session()
    const mayWrite = id.startsWith('~/') ? canWriteSpace : canWrite
    const editing = mayWrite ? await import('../editing/viewer-actions.js') : null
    if (this.id !== id || this.isEnded) return
    this.viewer.actions = editing?.editingActions(this) ?? []
    // Of what is private the server makes none.
    this.viewer.saveCopy = editing && canWrite && !id.startsWith('~/') ? (wish) => editing.saveCopy(this, wish) : null
  }

  /** Another album, opened at its picture. @param {Album} album */
  follow(album) {
    this.album = album
    this.viewer.setImages(album.ids.map(apiURL), album.index, album)
    this.find('count').textContent = this.say('ofCount', { count: album.total })
    this.#showNumber()
  }
}

/** What a picture is called until it is described. @param {string} id */
function nameOf(id) { return id.split('/').pop() }

/** The document of one picture's own: the picture of its address. */
export function showPage() {
  // It comes with the owner's name where it has one.
  const owner = document.title === 'Ziggurat' ? '' : document.title
  const page = new PicturePage(document.body, { owner })
  // Loaded anew, this document has the entries of the gallery's that it was opened over: the browser does not load those.
  addEventListener('popstate', () => pathId(location.pathname) === page.id || location.reload())
  page.viewer.addEventListener('complete', registerWorker, { once: true })
  page.show(pathId(location.pathname), { hash: location.hash })
}
