import { whenIdle } from '../idle.js'
import { albumOf, storeAlbum } from '../paging/album.js'
import { imageTitle } from '../sources/ziggurat.js'
import { serverURL } from '../urls.js'

/** Opens images over the gallery once the lightbox is loaded. Until then, links open them. */
export class LightboxLauncher {
  /** @type {import('../page/lightbox.js').Lightbox | null} */
  lightbox = null
  /** Whether the last image was opened by keyboard, or the focus was visible for another reason. */
  focusVisible = null
  #isLoading = false

  /**
   * @param {import('./grid.js').Grid} grid
   * @param {{ total(): number, saveScroll(): void, reload(): void }} gallery the number of images, including those
   *   not yet listed; saves the scroll position; reloads the list
   */
  constructor(grid, { total, saveScroll, reload }) {
    Object.assign(this, { grid, total, saveScroll, reload })
    // For an image that an earlier document at this address had opened.
    addEventListener('popstate', () => this.lightbox || location.pathname === serverURL('') || location.reload())
    grid.box.addEventListener('pointerdown', (event) => this.#press(event))
  }

  /** Whether an image is open. */
  get isOpen() { return Boolean(this.lightbox?.page) }

  /**
   * Opens an image.
   * @param {number} index
   * @param {MouseEvent} event the click
   */
  open(index, event) {
    const { images } = this.grid
    const image = images[index]
    const album = albumOf(images, index, this.total())
    this.focusVisible = document.activeElement.matches(':focus-visible')
    storeAlbum(sessionStorage, image.id, album)
    // A link that opens a new tab or window is left to the browser.
    if (!this.lightbox || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    this.saveScroll()
    this.lightbox.open(image.cover ?? image.id, { title: imageTitle(image), size: image, album: image.isBook ? null : album })
  }

  /** Loads the lightbox when the thumbnails are loaded and the browser is idle. */
  async preload() {
    await this.grid.thumbnailsLoaded()
    whenIdle(() => this.#load())
  }

  async #load() {
    if (this.#isLoading) return
    this.#isLoading = true
    const { Lightbox } = await import('../page/lightbox.js')
    this.lightbox = new Lightbox({
      owner: document.title === 'Ziggurat' ? '' : document.title,
      find: (id) => this.#find(id), changed: () => this.reload(), closed: (id) => this.#closed(id),
    })
  }

  /** @param {PointerEvent} event */
  #press(event) {
    this.#load()
    const { images } = this.grid
    const image = images[event.target.closest('.picture')?.dataset.index]
    // A touch may be the start of scrolling.
    if (!this.lightbox || !image || event.pointerType !== 'mouse' || event.button !== 0 || event.ctrlKey || event.metaKey) return
    this.lightbox.preload(image.cover ?? image.id)
    addEventListener('pointerup', () => setTimeout(() => this.isOpen || this.lightbox.cancelPreload()), { once: true })
  }

  #find(id) {
    const index = this.grid.indexOf(id)
    return index < 0 ? null : { frame: this.grid.shown.get(index)?.firstChild ?? null, image: this.grid.images[index] }
  }

  #closed(id) {
    this.grid.relayout()
    const index = this.grid.indexOf(id)
    if (index >= 0) this.grid.focus(index, this.focusVisible)
    this.focusVisible = null
    this.saveScroll()
  }
}
