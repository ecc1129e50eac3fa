import { menusTranslator } from '../i18n/menus.js'
import { openSource } from '../sources/open.js'
import { fetchTile } from '../tiles/fetch.js'
import { createElement } from '../viewer/dom.js'

const SIDE = 64 // CSS px of a thumbnail
const PITCH = SIDE + 6 // CSS px from one to the next
const MARGIN = 4 // additional thumbnails on either side of the window
const MAX_CONCURRENT = 6 // maximum number of concurrent requests

/** @type {WeakMap<HTMLElement, Filmstrip>} */
const strips = new WeakMap()

/**
 * Shows or hides the filmstrip of a viewer, according to its attribute `filmstrip`.
 * @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer
 * @param {import('./pager.js').Pager} pager
 */
export function showFilmstrip(viewer, pager) {
  const isShown = viewer.hasAttribute('filmstrip')
  const strip = strips.get(viewer)
  if (isShown === Boolean(strip)) return
  if (isShown) strips.set(viewer, new Filmstrip(viewer, pager))
  else strip.close()
}

/** A virtualized strip of an album's thumbnails, with the current image in the middle. */
export class Filmstrip {
  #closed = new AbortController()
  /**
   * The thumbnails by index in the album.
   * @type {Map<number, { button: HTMLButtonElement, abort: AbortController, isRequested: boolean }>}
   */
  #shown = new Map()
  #loading = 0

  constructor(viewer, pager) {
    Object.assign(this, { viewer, pager })
    this.reel = createElement('div', { className: 'reel' })
    const label = menusTranslator(viewer)('filmstrip')
    this.element = createElement('div', { className: 'filmstrip', role: 'listbox', ariaLabel: label, ariaOrientation: 'horizontal' }, this.reel)
    const { signal } = this.#closed
    viewer.shadowRoot.append(this.element)
    pager.changed = () => this.#layOut()
    viewer.addEventListener('page', () => this.#pageChanged(), { signal })
    this.element.addEventListener('scroll', () => this.#update(), { signal, passive: true })
    this.element.addEventListener('wheel', (event) => this.#wheel(event), { signal, passive: false })
    this.element.addEventListener('keydown', (event) => this.#key(event), { signal })
    const resized = new ResizeObserver(() => this.#center('instant'))
    resized.observe(this.element)
    signal.addEventListener('abort', () => resized.disconnect())
    this.#layOut()
  }

  /** Removes the filmstrip. */
  close() {
    this.#closed.abort()
    this.#removeAll()
    this.pager.changed = null
    this.element.remove()
    strips.delete(this.viewer)
  }

  get #count() { return this.pager.list.length }

  /**
   * Returns the position of an image from the left.
   * @param {number} index
   */
  #position(index) { return this.pager.sign > 0 ? index : this.#count - 1 - index }

  /** Lays out the strip for another album. */
  #layOut() {
    this.#removeAll()
    this.element.hidden = this.#count < 2
    this.reel.style.width = `${this.#count * PITCH}px`
    this.#center('instant')
  }

  #removeAll() {
    for (const index of [...this.#shown.keys()]) this.#remove(index)
  }

  #remove(index) {
    const { button, abort } = this.#shown.get(index)
    abort.abort()
    button.remove()
    this.#shown.delete(index)
  }

  /** @param {'smooth' | 'instant'} behavior */
  #center(behavior) {
    this.element.scrollTo({ left: this.#position(this.pager.index) * PITCH, behavior })
    this.#update()
  }

  /** Scrolls to the new current image, which keeps the focus if the old one had it. */
  #pageChanged() {
    const hadFocus = this.element.contains(this.viewer.shadowRoot.activeElement)
    const left = this.#position(this.pager.index) * PITCH
    const isFar = Math.abs(left - this.element.scrollLeft) > this.element.clientWidth
    this.#center(isFar || this.pager.reducedMotion ? 'instant' : 'smooth')
    if (hadFocus) this.#shown.get(this.pager.index)?.button.focus({ preventScroll: true })
  }

  /** Creates the thumbnails near the window and the current one, and removes the others. */
  #update() {
    const { index: open } = this.pager
    const middle = this.element.scrollLeft / PITCH
    const distance = this.element.clientWidth / PITCH / 2 + MARGIN
    const indices = new Set(this.#count > 1 ? [open] : [])
    for (let position = Math.max(Math.floor(middle - distance), 0); position <= Math.min(middle + distance, this.#count - 1); position += 1) {
      indices.add(this.#position(position))
    }
    for (const index of [...this.#shown.keys()]) if (!indices.has(index)) this.#remove(index)
    for (const index of indices) {
      const { button } = this.#shown.get(index) ?? this.#add(index)
      button.ariaSelected = String(index === open)
      button.tabIndex = index === open ? 0 : -1
    }
    this.#loadNext()
  }

  #add(index) {
    const { offset = 0, total = this.#count } = this.viewer.album
    const name = menusTranslator(this.viewer)('imageOf', { index: offset + index + 1, total })
    const button = createElement('button', {
      type: 'button', className: 'thumb', role: 'option', title: name, ariaLabel: name, onclick: () => this.viewer.goTo(index),
    })
    button.style.left = `${this.#position(index) * PITCH}px`
    const item = { button, abort: new AbortController(), isRequested: false }
    this.#shown.set(index, item)
    // In document order, for keyboard and screen reader users.
    const next = [...this.reel.children].find((other) => parseFloat(other.style.left) > parseFloat(button.style.left))
    this.reel.insertBefore(button, next ?? null)
    return item
  }

  /** Loads visible thumbnails from the middle outwards, a few at a time. */
  #loadNext() {
    const middle = this.element.scrollLeft / PITCH
    const far = ([index]) => Math.abs(this.#position(index) - middle)
    const waiting = [...this.#shown].filter(([, { isRequested }]) => !isRequested).sort((a, b) => far(a) - far(b))
    for (const [index, item] of waiting.slice(0, Math.max(MAX_CONCURRENT - this.#loading, 0))) this.#load(index, item)
  }

  async #load(index, item) {
    item.isRequested = true
    this.#loading += 1
    try {
      const { signal } = item.abort
      const source = await openSource(this.pager.list[index], signal)
      const level = Math.max(source.pyramid.singleTileLevel - 1, 0)
      const bitmap = await fetchTile(source, { level, column: 0, row: 0 }, signal)
      if (!signal.aborted) item.button.append(thumbnail(bitmap))
      bitmap.close()
    } catch {
      // The thumbnail stays empty. The error is reported when the image is opened.
    }
    this.#loading -= 1
    if (!this.#closed.signal.aborted) this.#loadNext()
  }

  /**
   * Scrolls the strip horizontally by a vertical mouse wheel.
   * @param {WheelEvent} event
   */
  #wheel(event) {
    event.stopPropagation()
    if (event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return
    event.preventDefault()
    this.element.scrollLeft += event.deltaY * [1, 18, 400][event.deltaMode]
  }

  /**
   * Handles arrow keys, Home and End.
   * @param {KeyboardEvent} event
   */
  #key(event) {
    const { pager, viewer } = this
    const to = {
      ArrowLeft: pager.index - pager.sign, ArrowRight: pager.index + pager.sign, Home: 0, End: this.#count - 1,
    }[event.key]
    if (to === undefined) return
    event.preventDefault()
    event.stopPropagation()
    viewer.goTo(to)
  }
}

/**
 * Returns the central square of an image as a canvas.
 * @param {ImageBitmap} bitmap
 */
function thumbnail(bitmap) {
  const side = Math.round(SIDE * devicePixelRatio)
  const canvas = createElement('canvas', { width: side, height: side })
  const part = Math.min(bitmap.width, bitmap.height)
  const context = canvas.getContext('2d')
  context.imageSmoothingQuality = 'high'
  context.drawImage(bitmap, (bitmap.width - part) / 2, (bitmap.height - part) / 2, part, part, 0, 0, side, side)
  return canvas
}
