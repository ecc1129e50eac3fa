import { whenIdle } from '../idle.js'
import { cancelPreloaded, firstViewURL, preloadFirstView } from '../sources/preload.js'
import { serverURL } from '../urls.js'
import { createElement, defineElement } from '../viewer/dom.js'
import { pathId, viewQuery } from '../viewer/view-hash.js'
import { ZigguratViewer } from '../viewer/ziggurat-viewer.js'
import { zoomIn, zoomOut } from './open-transition.js'
import { ImagePage, apiURL, viewURL } from './page.js'

/** @typedef {import('../paging/album.js').Album} Album */
/** @typedef {{ frame: HTMLElement | null, image: { width: number, height: number } }} Thumbnail */

/** Elements of the gallery that stay above an open image. */
const ABOVE = '.view, dialog, .toast, .spoken'

/**
 * Opens images over the gallery, in its document. Each image has its own address and history entry, like a page.
 */
export class Lightbox {
  /** @type {ImagePage | null} */
  page = null

  /**
   * @param {object} gallery
   * @param {string} gallery.owner the site's name for titles; empty for none
   * @param {(id: string) => Thumbnail | null} gallery.find returns the thumbnail of an image, without a frame if it is not
   *   near the window
   * @param {() => void} gallery.changed called when the gallery's list is outdated
   * @param {(id: string) => void} gallery.closed receives the id of the image that was shown last, where the gallery
   *   continues
   */
  constructor({ owner, find, changed, closed }) {
    Object.assign(this, { owner, find, changed, closed, title: document.title, address: location.href })
    defineElement('ziggurat-viewer', ZigguratViewer)
    this.#prepare()
    addEventListener('popstate', () => this.#follow())
  }

  /**
   * Requests the first view of an image that will probably be opened next, because its thumbnail is pressed.
   * @param {string} id
   */
  preload(id) {
    this.#prepare()
    const { clientWidth: width, clientHeight: height } = this.next
    preloadFirstView(firstViewURL(new URL(apiURL(id), location.href), viewQuery('', { width, height }, devicePixelRatio)))
  }

  /** Discards the expected first view, because the image was not opened. */
  cancelPreload() { cancelPreloaded() }

  /**
   * Opens an image that was chosen in the gallery.
   * @param {string} id
   * @param {{ title?: string, size?: { width: number, height: number }, album?: Album | null }} known the parameters of
   *   `ImagePage.show`
   */
  open(id, known) {
    this.preload(id)
    this.address = location.href
    history.pushState({ isLightbox: true }, '', viewURL(id))
    this.#show(id, known)
  }

  /** Creates a hidden page in advance, so that its size is known and its canvas is allocated. */
  #prepare() {
    if (this.next) return
    this.next = createElement('div', { className: 'view waiting', inert: true })
    this.next.append(document.getElementById('page').content.cloneNode(true))
    document.body.append(this.next)
  }

  async #show(id, known) {
    this.#prepare()
    const box = this.next
    this.next = null
    box.classList.remove('waiting')
    box.inert = false
    this.#cover(true)
    const page = this.page = new ImagePage(box, { owner: this.owner, gallery: this.address })
    page.imageChanged = this.changed
    page.show(id, { hash: location.hash, ...known })
    page.viewer.focus({ preventScroll: true, focusVisible: false })
    const thumbnail = this.find(id)
    this.#setThemeColor(getComputedStyle(box).getPropertyValue('--ziggurat-background'))
    if (thumbnail?.frame) await zoomIn(box, thumbnail.frame, thumbnail.image)
    // The covered gallery is neither painted nor printed.
    if (this.page === page) document.documentElement.classList.add('covered')
  }

  async #close() {
    const { page } = this
    this.page = null
    const { id } = page
    this.#cover(false)
    this.#setThemeColor(null)
    document.title = this.title
    this.closed(page.album?.book ?? id)
    page.box.inert = true
    const thumbnail = this.find(id)
    const { source } = page.viewer
    if (!globalThis.event?.hasUAVisualTransition) {
      await zoomOut(page.box, source && thumbnail ? thumbnail.frame : null, source?.pyramid.imageSize)
    }
    page.close()
    whenIdle(() => this.#prepare())
  }

  /** Follows the browser's back and forward buttons. */
  #follow() {
    const isPicture = location.pathname.startsWith(serverURL('view/'))
    const id = isPicture ? pathId(location.pathname) : null
    if (id === (this.page?.id ?? null)) return
    if (!isPicture) return this.#close()
    this.page?.close()
    this.#show(id, {})
  }

  /**
   * Covers or uncovers the gallery.
   * @param {boolean} isCovered whether the gallery is inert and does not scroll
   */
  #cover(isCovered) {
    const { classList } = document.documentElement
    classList.toggle('viewing', isCovered)
    classList.remove('covered')
    for (const each of document.body.children) if (!each.matches(ABOVE)) each.inert = isCovered
  }

  /**
   * Sets the browser's theme color.
   * @param {string | null} background the color while an image is open; null for that of the gallery
   */
  #setThemeColor(background) {
    for (const meta of document.querySelectorAll('[name=theme-color]')) {
      meta.dataset.gallery ??= meta.content
      meta.content = background && matchMedia(meta.media).matches ? background.trim() : meta.dataset.gallery
    }
  }
}
