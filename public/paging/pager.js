import { rubberBand } from '../geometry/rubber-band.js'
import { openSource } from '../sources/open.js'
import { fetchTile } from '../tiles/fetch.js'
import { make } from '../viewer/element.js'

const GAP = 32 // CSS px
const FAR = 0.3 // part of the window
const FLICK = 0.35 // CSS px per ms
const TURN = { duration: 280, easing: 'cubic-bezier(.2, .8, .2, 1)' }

/** Turns the pages of an album. Previews of the neighbors are beside the image and follow the finger. */
export class Pager {
  constructor(track, show) {
    Object.assign(this, { track, show, list: [], index: 0, near: new Map(), offset: 0, turn: null })
  }

  /** Whether a page turn to another image is in progress. */
  get isTurning() { return this.turn !== null }

  /**
   * Ends a page turn immediately, because another image is shown than the one that the page turns to.
   * @returns {boolean} whether a page turn was in progress; if so, `index` is already that of the new page, and no event was
   *   dispatched for it
   */
  yield() {
    const { turn } = this
    if (turn) {
      this.index = turn.index
      this.forget()
    }
    this.turning?.cancel()
    this.turning = this.arrive = null
    this.move(0)
    return turn !== null
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
  wayOf(x, y) {
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
    this.forget()
    this.move(0)
    this.changed?.()
  }

  preload() {
    for (const index of [this.index + 1, this.index - 1]) {
      if (index >= 0 && index < this.list.length && !this.near.has(index)) this.near.set(index, this.load(index))
    }
  }

  load(index) {
    const preview = make('canvas', { className: 'preview' })
    const abort = new AbortController()
    const ready = openSource(this.list[index], abort.signal).then(async (source) => {
      const bitmap = await fetchTile(source, { level: source.pyramid.singleTileLevel, column: 0, row: 0 }, abort.signal)
      preview.width = bitmap.width
      preview.height = bitmap.height
      preview.getContext('2d')?.drawImage(bitmap, 0, 0)
      return { source, bitmap }
    })
    const page = { preview, abort, ready, there: null }
    ready.then((neighbour) => { page.there = neighbour }, () => {
      if (this.near.get(index) === page) this.near.delete(index)
      preview.remove()
    })
    this.place(index, preview)
    this.track.append(preview)
    return page
  }

  /** Places a preview beside the current image. */
  place(index, preview) { preview.style.translate = `${(index - this.index) * this.sign * this.width}px` }

  /** Adapts to another width of the window. */
  resize() { for (const [index, { preview }] of this.near) this.place(index, preview) }

  get width() { return this.track.clientWidth + GAP }

  pull(pull) {
    const { left, right } = this.neighbours
    const free = pull === 0 || (pull > 0 ? left : right)
    this.move(free ? pull : rubberBand(pull, this.width))
  }

  move(offset) {
    this.offset = offset
    this.track.style.translate = offset === 0 ? '' : `${offset}px`
  }

  release(speed, isCancelled) {
    if (this.offset === 0) return
    const way = isCancelled ? 0 : pageTurn(this.offset, speed, this.width, this.neighbours)
    this.glide(way * this.sign)
  }

  glide(way) {
    const from = this.offset
    const to = -way * this.sign * this.width
    const arrive = () => {
      this.turning = this.arrive = null
      this.move(0)
      if (way !== 0) this.goTo(this.index + way)
    }
    if (this.reducedMotion) return arrive()
    this.arrive = arrive
    this.turn = way === 0 ? null : { index: this.index + way }
    const animation = this.track.animate([{ translate: `${from}px` }, { translate: `${to}px` }], TURN)
    this.turning = animation
    animation.onfinish = () => {
      if (this.turning === animation) arrive()
    }
  }

  finish() {
    const { turning, arrive } = this
    this.turning = null
    turning?.cancel()
    arrive?.()
  }

  async goTo(index) {
    const page = this.near.get(index)
    this.index = index
    this.near.delete(index)
    // The preview stays until the canvas is drawn.
    if (page) page.preview.style.translate = ''
    this.forget()
    const turn = this.turn = { index }
    const neighbour = page ? page.there ?? await page.ready.catch(() => null) : null
    if (this.turn === turn) {
      this.turn = null
      this.show(index, neighbour)
    }
    if (page) requestAnimationFrame(() => requestAnimationFrame(() => page.preview.remove()))
  }

  forget() {
    this.turning?.cancel()
    this.turning = this.arrive = this.turn = null
    for (const { preview, abort, ready } of this.near.values()) {
      abort.abort()
      preview.remove()
      ready.then(({ bitmap }) => bitmap?.close(), () => {})
    }
    this.near.clear()
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
  if (pull > 0 && neighbours.left && speed > -FLICK && (pull > width * FAR || speed > FLICK)) return -1
  if (pull < 0 && neighbours.right && speed < FLICK && (-pull > width * FAR || speed < -FLICK)) return 1
  return 0
}
