import { rubberBand } from '../geometry/rubber-band.js'
import { openSource } from '../sources/open.js'
import { fetchTile } from '../tiles/fetch.js'
import { createElement } from '../viewer/dom.js'

const GAP = 32 // CSS px
const MIN_PART = 0.3 // part of the window
const FLICK_SPEED = 0.35 // CSS px per ms
const TRANSITION = { duration: 280, easing: 'cubic-bezier(.2, .8, .2, 1)' }

/** Turns the pages of an album. Previews of the neighbors are beside the image and follow the finger. */
export class Pager {
  /** The loaded or loading neighbors of the image, by index. */
  #previews = new Map()
  /** @type {{ index: number } | null} the image to which the page turns */
  #pendingTurn = null
  /** @type {(() => void) | null} shows that image at the end of the animation */
  #finishTurn = null

  constructor(track, show) {
    Object.assign(this, { track, show, list: [], index: 0, offset: 0 })
  }

  /** Whether a page turn to another image is in progress. */
  get isTurning() { return this.#pendingTurn !== null }

  /**
   * Ends a page turn immediately, because another image is shown than the one that the page turns to.
   * @returns {boolean} whether a page turn was in progress; if so, `index` is already that of the new page, and no event was
   *   dispatched for it
   */
  cancelTurn() {
    const pendingTurn = this.#pendingTurn
    if (pendingTurn) {
      this.index = pendingTurn.index
      this.discardPreviews()
    }
    this.animation?.cancel()
    this.animation = this.#finishTurn = null
    this.#setOffset(0)
    return pendingTurn !== null
  }

  /** 1 if the next image is on the right, -1 if it is on the left. */
  get sign() {
    const { direction } = this
    const isLeftward = direction === 'right-to-left'
      || direction !== 'left-to-right' && getComputedStyle(this.track).direction === 'rtl'
    return isLeftward ? -1 : 1
  }

  /**
   * Returns the number of pages to turn for an arrow on the screen.
   * @param {number} x -1 for left, 1 for right, 0 for neither
   * @param {number} y -1 for up, 1 for down, 0 for neither; only used in albums with a vertical reading direction
   */
  stepsToward(x, y) {
    if (this.list.length < 2) return 0
    if (x !== 0) return x * this.sign
    return { 'top-to-bottom': y, 'bottom-to-top': -y }[this.direction] ?? 0
  }

  get neighbours() {
    const [before, after] = [this.index > 0, this.index < this.list.length - 1]
    return this.sign > 0 ? { left: before, right: after } : { left: after, right: before }
  }

  /** @param {string} [direction] the reading direction, by its name in IIIF Presentation (default: that of the page) */
  set(list, index, direction) {
    Object.assign(this, { list, index, direction })
    this.discardPreviews()
    this.#setOffset(0)
    this.changed?.()
  }

  preload() {
    for (const index of [this.index + 1, this.index - 1]) {
      if (index >= 0 && index < this.list.length && !this.#previews.has(index)) this.#previews.set(index, this.#loadPreview(index))
    }
  }

  #loadPreview(index) {
    const preview = createElement('canvas', { className: 'preview' })
    const abort = new AbortController()
    const ready = openSource(this.list[index], abort.signal).then(async (source) => {
      const bitmap = await fetchTile(source, { level: source.pyramid.singleTileLevel, column: 0, row: 0 }, abort.signal)
      preview.width = bitmap.width
      preview.height = bitmap.height
      preview.getContext('2d')?.drawImage(bitmap, 0, 0)
      return { source, bitmap }
    })
    const page = { preview, abort, ready, loaded: null }
    ready.then((neighbour) => { page.loaded = neighbour }, () => {
      if (this.#previews.get(index) === page) this.#previews.delete(index)
      preview.remove()
    })
    this.#positionPreview(index, preview)
    this.track.append(preview)
    return page
  }

  /** Places a preview beside the current image. */
  #positionPreview(index, preview) { preview.style.translate = `${(index - this.index) * this.sign * this.width}px` }

  /** Adapts to another width of the window. */
  resize() { for (const [index, { preview }] of this.#previews) this.#positionPreview(index, preview) }

  get width() { return this.track.clientWidth + GAP }

  pull(pull) {
    const { left, right } = this.neighbours
    const free = pull === 0 || (pull > 0 ? left : right)
    this.#setOffset(free ? pull : rubberBand(pull, this.width))
  }

  #setOffset(offset) {
    this.offset = offset
    this.track.style.translate = offset === 0 ? '' : `${offset}px`
  }

  release(speed, isCancelled) {
    if (this.offset === 0) return
    const steps = isCancelled ? 0 : pageTurn(this.offset, speed, this.width, this.neighbours)
    this.slideBy(steps * this.sign)
  }

  slideBy(steps) {
    const from = this.offset
    const to = -steps * this.sign * this.width
    const finishTurn = () => {
      this.animation = this.#finishTurn = null
      this.#setOffset(0)
      if (steps !== 0) this.goTo(this.index + steps)
    }
    if (this.reducedMotion) return finishTurn()
    this.#finishTurn = finishTurn
    this.#pendingTurn = steps === 0 ? null : { index: this.index + steps }
    const animation = this.track.animate([{ translate: `${from}px` }, { translate: `${to}px` }], TRANSITION)
    this.animation = animation
    animation.onfinish = () => {
      if (this.animation === animation) finishTurn()
    }
  }

  finish() {
    const { animation } = this
    const finishTurn = this.#finishTurn
    this.animation = null
    animation?.cancel()
    finishTurn?.()
  }

  async goTo(index) {
    const page = this.#previews.get(index)
    this.index = index
    this.#previews.delete(index)
    // The preview stays until the canvas is drawn.
    if (page) page.preview.style.translate = ''
    this.discardPreviews()
    const pendingTurn = this.#pendingTurn = { index }
    const neighbour = page ? page.loaded ?? await page.ready.catch(() => null) : null
    if (this.#pendingTurn === pendingTurn) {
      this.#pendingTurn = null
      this.show(index, neighbour)
    }
    if (page) requestAnimationFrame(() => requestAnimationFrame(() => page.preview.remove()))
  }

  discardPreviews() {
    this.animation?.cancel()
    this.animation = this.#finishTurn = this.#pendingTurn = null
    for (const { preview, abort, ready } of this.#previews.values()) {
      abort.abort()
      preview.remove()
      ready.then(({ bitmap }) => bitmap?.close(), () => {})
    }
    this.#previews.clear()
  }
}

/**
 * Returns the page turn when a finger lifts: -1 to the left neighbor, 1 to the right one, 0 for none.
 * @param {number} pull the distance by which the page was pulled to the right, in CSS pixels
 * @param {number} speed CSS pixels per millisecond
 * @param {number} width the width of the window in CSS pixels
 * @param {{ left: boolean, right: boolean }} neighbours whether the neighbors exist
 */
export function pageTurn(pull, speed, width, neighbours) {
  if (pull > 0 && neighbours.left && speed > -FLICK_SPEED && (pull > width * MIN_PART || speed > FLICK_SPEED)) return -1
  if (pull < 0 && neighbours.right && speed < FLICK_SPEED && (-pull > width * MIN_PART || speed < -FLICK_SPEED)) return 1
  return 0
}
