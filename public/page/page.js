import { session } from '../gallery/session.js'
import { viewerTranslator } from '../i18n/viewer.js'
import { registerWorker } from '../offline/register-service-worker.js'
import { bookAlbum, libraryAlbum, restoreAlbum, storeOpenItem } from '../paging/album.js'
import { serverURL } from '../urls.js'
import { decodeView, encodeView, pathId } from '../viewer/view-hash.js'

/** @typedef {import('../paging/album.js').Album} Album */

/** The session storage key that remembers whether the filmstrip is shown. */
const FILMSTRIP_KEY = 'ziggurat-filmstrip'

/**
 * Returns the address of an image's page.
 * @param {string} id
 */
export function viewURL(id) { return serverURL(`view/${encodeURIComponent(id)}`) }

/**
 * Returns the address of an image for a viewer.
 * @param {string} id
 */
export function apiURL(id) { return serverURL(`api/images/${encodeURIComponent(id)}`) }

/**
 * The page of one image in an album, with its metadata at the top: a document of its own, or an overlay of the gallery.
 *
 * The page writes the current image and view to the document's address.
 */
export class ImagePage {
  /** @type {Album | null} */
  album = null
  #closed = new AbortController()
  /** The fragment for the view in the address, which may be written in another form. */
  #writtenHash = ''

  /** Called after an image or its metadata has changed, so that lists of it are outdated. */
  imageChanged = () => {}

  /**
   * @param {HTMLElement} box the container of the viewer and the bar, as in `view.html`
   * @param {{ owner?: string, gallery?: string }} [options] the site's name, with which titles end; and the address of the
   *   back button
   */
  constructor(box, { owner = '', gallery = serverURL('') } = {}) {
    this.box = box
    this.t = viewerTranslator()
    this.owner = owner ? ` · ${owner}` : ''
    this.viewer = this.find('viewer')
    this.viewer.screen = box === document.body ? document.documentElement : box
    this.back = this.find('back')
    this.back.href = gallery
    this.back.title = this.back.ariaLabel = this.t('back')
    this.back.onclick = (event) => this.goBack(event)
    this.#addListeners()
  }

  /** The id of the image that is shown or about to be shown. */
  get id() { return this.album && this.album.ids.length > 1 ? this.album.ids[this.viewer.index] : this.first }

  get isClosed() { return this.#closed.signal.aborted }

  /**
   * Returns an element of the page by its id.
   * @param {string} id
   */
  find(id) { return this.box.querySelector(`#${id}`) }

  /**
   * Shows an image.
   * @param {string} id
   * @param {object} [known]
   * @param {string} [known.hash] the view in the link
   * @param {string} [known.title] the title, if it is known before the image is loaded
   * @param {{ width: number, height: number }} [known.size] the size in image pixels, if it is known
   * @param {Album | null} [known.album] the album; null to find it by the id
   */
  show(id, { hash = '', title, size, album = restoreAlbum(sessionStorage, id) } = {}) {
    this.first = id
    this.#setTitle(title ?? nameOf(id), size ? this.#formatSize(size) : '')
    this.viewer.setAttribute('view', hash.slice(1))
    this.viewer.src = apiURL(id)
    if (album) this.#setAlbum(album)
    if (id.startsWith('~/')) import('../gallery/lock.js').then(({ watchSession }) => watchSession())
  }

  /** Removes the page and its listeners. */
  close() {
    this.#closed.abort()
    this.box.remove()
  }

  /**
   * Goes back to the gallery. Goes back in the history if the gallery is the previous entry.
   * @param {MouseEvent} event
   */
  goBack(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    const before = globalThis.navigation?.entries()[navigation.currentEntry.index - 1]
    const isGallerys = before?.url?.split(/[?#]/)[0] === this.back.href.split(/[?#]/)[0]
    // Without the Navigation API, the entry's state says whether the page was opened over the gallery.
    if (!isGallerys && (globalThis.navigation || !history.state?.isLightbox)) return
    event.preventDefault()
    history.back()
  }

  #addListeners() {
    const { viewer } = this
    const { signal } = this.#closed
    const name = () => this.#setTitle(nameOf(this.id), '')
    viewer.addEventListener('error', name)
    viewer.addEventListener('open', () => this.#opened())
    viewer.addEventListener('idle', () => {
      // A crop does not change the address.
      if (!viewer.viewport || signal.aborted || viewer.hasAttribute('cropping')) return
      const hash = this.#viewHash
      if (hash === this.#writtenHash) return
      this.#writtenHash = hash
      history.replaceState(history.state, '', hash || location.pathname + location.search)
    })
    viewer.toggleAttribute('filmstrip', sessionStorage.getItem(FILMSTRIP_KEY) === 'shown')
    viewer.addEventListener('ui-toggle', () => {
      this.box.dataset.ui = viewer.getAttribute('ui') ?? ''
      try { sessionStorage.setItem(FILMSTRIP_KEY, viewer.hasAttribute('filmstrip') ? 'shown' : '') } catch { /* Full or forbidden. */ }
    })
    viewer.addEventListener('close', ({ detail }) => {
      // A pinched image shrinks to its thumbnail; a document of its own has none.
      if (detail.cause !== 'pinch' || this.box !== document.body) this.back.click()
    })
    viewer.addEventListener('page', () => this.#pageChanged())
    viewer.addEventListener('open', () => this.#findAlbum(), { once: true })
    viewer.addEventListener('complete', () => this.#addEditingActions())
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
      // Keys that the viewer handles must not scroll the page below.
      if (!viewer.dispatchEvent(new KeyboardEvent('keydown', event))) event.preventDefault()
    }, { signal })
    const counter = this.find('counter')
    const field = this.find('number')
    counter.addEventListener('submit', (event) => {
      event.preventDefault()
      viewer.goTo(Number(field.value) - 1 - this.album.offset)
      this.#updateNumber()
      viewer.focus({ preventScroll: true })
    })
    field.addEventListener('focus', () => field.select())
    field.addEventListener('blur', () => this.#updateNumber())
  }

  #formatSize({ width, height }) { return this.t('pixels', { width, height }) }

  /** Sets the text in the bar and the document's title. */
  #setTitle(title, facts) {
    this.find('title').textContent = title
    this.find('facts').textContent = facts
    document.title = title + this.owner
  }

  /** The fragment for the current view. */
  get #viewHash() { return encodeView(this.viewer.viewport, this.viewer.source.pyramid.imageSize) }

  #opened() {
    this.#writtenHash = this.#viewHash
    const { title, pyramid, details } = this.viewer.source
    const size = this.#formatSize(pyramid.imageSize)
    this.#setTitle(title, details.caption ? `${details.caption} · ${size}` : size)
  }

  /** Loads the album as soon as the image's description is loaded, long before the image is complete. */
  async #findAlbum() {
    const { id } = this
    const { book, viewingDirection } = this.viewer.source.details
    if (book ? this.album?.book === book : this.album) return
    const found = await (book ? bookAlbum(book, id) : libraryAlbum(id)).catch(() => null)
    if (found && this.id === id && !this.isClosed) this.#setAlbum({ ...found, viewingDirection })
  }

  /** @param {Album} album */
  #setAlbum(album) {
    if (album.ids.length < 2) return
    this.album = album
    this.viewer.setImages(album.ids.map(apiURL), album.index, album)
    this.find('count').textContent = this.t('ofCount', { count: album.total })
    this.find('number').setAttribute('aria-label', this.t('goToImage'))
    this.#updateNumber()
    this.find('counter').hidden = false
  }

  #pageChanged() {
    history.replaceState(history.state, '', viewURL(this.id))
    this.#updateNumber()
    // In the gallery, all pages of a book are one image.
    if (!this.album.book) storeOpenItem(sessionStorage, this.id)
  }

  #updateNumber() {
    const field = this.find('number')
    field.value = String(this.album.offset + this.viewer.index + 1)
    field.style.width = `${String(this.album.total).length + 1.5}ch`
  }

  /** Adds the editing actions if the user may write to the library or to the space of the image. */
  async #addEditingActions() {
    const { id } = this
    const { canWrite, canWriteSpace } = await session()
    const mayWrite = id.startsWith('~/') ? canWriteSpace : canWrite
    const editing = mayWrite ? await import('../editing/viewer-actions.js') : null
    if (this.id !== id || this.isClosed) return
    this.viewer.actions = editing?.editingActions(this) ?? []
    // The server makes no copies of private images.
    this.viewer.saveCopy = editing && canWrite && !id.startsWith('~/') ? (request) => editing.saveCopy(this, request) : null
  }

  /**
   * Shows another album, at its current image.
   * @param {Album} album
   */
  changeAlbum(album) {
    this.album = album
    this.viewer.setImages(album.ids.map(apiURL), album.index, album)
    this.find('count').textContent = this.t('ofCount', { count: album.total })
    this.#updateNumber()
  }
}

/**
 * Returns the name of an image until its description is loaded.
 * @param {string} id
 */
function nameOf(id) { return id.split('/').pop() }

/** Shows the image of the document's address, as a document of its own. */
export function showPage() {
  // The document's title is the owner's name if there is one.
  const owner = document.title === 'Ziggurat' ? '' : document.title
  const page = new ImagePage(document.body, { owner })
  // After a reload, this document's history contains entries of the gallery over which it was opened. The browser does not
  // load them by itself.
  addEventListener('popstate', () => pathId(location.pathname) === page.id || location.reload())
  page.viewer.addEventListener('complete', registerWorker, { once: true })
  page.show(pathId(location.pathname), { hash: location.hash })
}
