import { whenIdle } from '../idle.js'
import { firstViewURL, forgetPreloaded, preloadFirstView } from '../sources/preload.js'
import { serverURL } from '../urls.js'
import { define, make } from '../viewer/element.js'
import { pathId, viewQuery } from '../viewer/view-hash.js'
import { ZigguratViewer } from '../viewer/ziggurat-viewer.js'
import { zoomIn, zoomOut } from './open-transition.js'
import { PicturePage, apiURL, viewURL } from './page.js'

/** @typedef {import('../paging/album.js').Album} Album */
/** @typedef {{ frame: HTMLElement | null, image: { width: number, height: number } }} Thumbnail */

/** Of the gallery, what a picture above it must not lose: these stand above the picture. */
const ABOVE = '.view, dialog, .toast, .spoken'

/**
 * Pictures opened over the gallery, in its document: each has its own address and an entry of its own in the history, as if
 * it were a page that is loaded.
 */
export class Lightbox {
  /** @type {PicturePage | null} */
  page = null

  /**
   * @param {object} gallery
   * @param {string} gallery.owner whose gallery it is, for the title; empty for nobody's
   * @param {(id: string) => Thumbnail | null} gallery.find the thumbnail of a picture, without a frame where it is not in view
   * @param {() => void} gallery.changed is called when what is listed is not right any more
   * @param {(id: string) => void} gallery.closed is called with what was shown last: there the gallery goes on
   */
  constructor({ owner, find, changed, closed }) {
    Object.assign(this, { owner, find, changed, closed, title: document.title, address: location.href })
    define('ziggurat-viewer', ZigguratViewer)
    this.#prepare()
    addEventListener('popstate', () => this.#follow())
  }

  /**
   * Asks for the first view of a picture that is likely to be opened next: a button is pressed on its thumbnail.
   * @param {string} id
   */
  expect(id) {
    this.#prepare()
    const { clientWidth: width, clientHeight: height } = this.next
    preloadFirstView(firstViewURL(new URL(apiURL(id), location.href), viewQuery('', { width, height }, devicePixelRatio)))
  }

  /** It was not opened. */
  forget() { forgetPreloaded() }

  /**
   * Opens a picture that was chosen in the gallery.
   * @param {string} id
   * @param {{ title?: string, size?: { width: number, height: number }, album?: Album | null }} known as `PicturePage.show` has it
   */
  open(id, known) {
    this.expect(id)
    this.address = location.href
    history.pushState({ isOver: true }, '', viewURL(id))
    this.#show(id, known)
  }

  /** A page that waits, unseen, so that its window is measured and its canvas there. */
  #prepare() {
    if (this.next) return
    this.next = make('div', { className: 'view waiting', inert: true })
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
    const page = this.page = new PicturePage(box, { owner: this.owner, gallery: this.address })
    page.changed = this.changed
    page.show(id, { hash: location.hash, ...known })
    page.viewer.focus({ preventScroll: true, focusVisible: false })
    const thumbnail = this.find(id)
    this.#colour(getComputedStyle(box).getPropertyValue('--ziggurat-background'))
    if (thumbnail?.frame) await zoomIn(box, thumbnail.frame, thumbnail.image)
    // Nothing of the gallery is painted, or printed, below what covers it.
    if (this.page === page) document.documentElement.classList.add('covered')
  }

  async #close() {
    const { page } = this
    this.page = null
    const { id } = page
    this.#cover(false)
    this.#colour(null)
    document.title = this.title
    this.closed(page.album?.book ?? id)
    page.box.inert = true
    const thumbnail = this.find(id)
    const { source } = page.viewer
    if (!globalThis.event?.hasUAVisualTransition) {
      await zoomOut(page.box, source && thumbnail ? thumbnail.frame : null, source?.pyramid.imageSize)
    }
    page.end()
    whenIdle(() => this.#prepare())
  }

  /** Goes where the browser's own buttons lead. */
  #follow() {
    const isPicture = location.pathname.startsWith(serverURL('view/'))
    const id = isPicture ? pathId(location.pathname) : null
    if (id === (this.page?.id ?? null)) return
    if (!isPicture) return this.#close()
    this.page?.end()
    this.#show(id, {})
  }

  /** @param {boolean} isCovered whether nothing of the gallery is to be reached, neither seen nor moved */
  #cover(isCovered) {
    const { classList } = document.documentElement
    classList.toggle('viewing', isCovered)
    classList.remove('covered')
    for (const each of document.body.children) if (!each.matches(ABOVE)) each.inert = isCovered
  }

  /** @param {string | null} ground the browser's own colour as long as a picture is open; null: the gallery's */
  #colour(ground) {
    for (const meta of document.querySelectorAll('[name=theme-color]')) {
      meta.dataset.gallery ??= meta.content
      meta.content = ground && matchMedia(meta.media).matches ? ground.trim() : meta.dataset.gallery
    }
  }
}
