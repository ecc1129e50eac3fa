import { whenIdle } from '../idle.js'
import { albumOf, storeAlbum } from '../paging/album.js'
import { imageTitle } from '../sources/ziggurat.js'
import { serverURL } from '../urls.js'

/** Opens the gallery's pictures over it, as soon as what shows them is there; as links do until then. */
export class LightboxLauncher {
  /** @type {import('../page/lightbox.js').Lightbox | null} */
  over = null
  /** Whether the last one was opened by a key, or the focus was seen otherwise. */
  ring = null
  #isLoading = false

  /**
   * @param {import('./grid.js').Grid} grid
   * @param {{ total(): number, leave(): void, reload(): void }} gallery how many pictures there are, read or not; writes down its
   *   place; reads anew
   */
  constructor(grid, { total, leave, reload }) {
    Object.assign(this, { grid, total, leave, reload })
    // Of a picture that an earlier document of this address had opened.
    addEventListener('popstate', () => this.over || location.pathname === serverURL('') || location.reload())
    grid.box.addEventListener('pointerdown', (event) => this.#press(event))
  }

  /** Whether a picture is open. */
  get isOpen() { return Boolean(this.over?.page) }

  /** @param {number} index @param {MouseEvent} event the click */
  open(index, event) {
    const { images } = this.grid
    const image = images[index]
    const album = albumOf(images, index, this.total())
    this.ring = document.activeElement.matches(':focus-visible')
    storeAlbum(sessionStorage, image.id, album)
    // What opens elsewhere is a link as any.
    if (!this.over || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    this.leave()
    this.over.open(image.cover ?? image.id, { title: imageTitle(image), size: image, album: image.isBook ? null : album })
  }

  /** Loads what shows pictures, once the thumbnails are there and nothing else is to be done. */
  async ahead() {
    await this.grid.drawn()
    whenIdle(() => this.#load())
  }

  async #load() {
    if (this.#isLoading) return
    this.#isLoading = true
    const { Lightbox } = await import('../page/lightbox.js')
    this.over = new Lightbox({
      owner: document.title === 'Ziggurat' ? '' : document.title,
      find: (id) => this.#find(id), changed: () => this.reload(), closed: (id) => this.#closed(id),
    })
  }

  /** @param {PointerEvent} event */
  #press(event) {
    this.#load()
    const { images } = this.grid
    const image = images[event.target.closest('.picture')?.dataset.index]
    // A finger may be about to scroll.
    if (!this.over || !image || event.pointerType !== 'mouse' || event.button !== 0 || event.ctrlKey || event.metaKey) return
    this.over.expect(image.cover ?? image.id)
    addEventListener('pointerup', () => setTimeout(() => this.isOpen || this.over.forget()), { once: true })
  }

  #find(id) {
    const index = this.grid.indexOf(id)
    return index < 0 ? null : { frame: this.grid.shown.get(index)?.firstChild ?? null, image: this.grid.images[index] }
  }

  #closed(id) {
    this.grid.layOut()
    const index = this.grid.indexOf(id)
    if (index >= 0) this.grid.focus(index, this.ring)
    this.ring = null
    this.leave()
  }
}
