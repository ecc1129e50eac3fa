const PAUSE = 140 // ms without an event, after which fingers have lifted and the momentum has ended
const AXIS_DISTANCE = 4 // CSS px, after which the direction of fingers is known
const TURN_DISTANCE = 80 // CSS px to turn a page
const RISE = 0.4 // CSS px per ms by which a new push is faster than momentum scrolling
const RISES = 3 // events in a row, since one may combine several

/**
 * @typedef {{ x: number, y: number, time: number }} Move the distance in CSS pixels by which the view moves, and the time in
 *   ms
 */

/**
 * Interprets two-finger scrolling on a trackpad: it pans the image, or turns pages where the image ends.
 *
 * Browsers report neither the start nor the end of the touch, and momentum events look like all others. A push therefore has
 * one role until it ends, and turns at most one page. It ends with a pause, or when events become faster than momentum can
 * be after they had become slower.
 */
export class TrackpadPan {
  /** The distance in CSS pixels by which the page is pulled; negative towards content on the right or below. */
  pull = 0
  /** @type {'x' | 'y'} the axis of the pull */
  axis = 'x'
  /** @type {'open' | 'move' | 'page' | 'spent'} the role of the current push */
  #role = 'open'
  #time = -Infinity
  #sum = { x: 0, y: 0 }
  #peak = 0
  #low = 0
  #rises = 0

  /**
   * @param {Move} move
   * @param {(x: number, y: number) => boolean} turnsPage whether there is a page in that direction (-1, 0 or 1 on each
   *   axis) and the image ends there
   * @returns {'move' | 'pull' | 'turn' | null} pan the image; pull the page by `pull`; release it and turn to the next page,
   *   if there is one; do nothing
   */
  read(move, turnsPage) {
    if (this.#isNew(move)) this.#begin()
    if (this.#role === 'spent') return null
    const sum = this.#sum
    sum.x += move.x
    sum.y += move.y
    const [across, down] = [Math.abs(sum.x), Math.abs(sum.y)]
    if (this.#role === 'open' && across + down >= AXIS_DISTANCE) {
      const isPage = across > down ? turnsPage(Math.sign(sum.x), 0) : turnsPage(0, Math.sign(sum.y))
      this.#role = isPage ? 'page' : 'move'
      this.axis = across > down ? 'x' : 'y'
    }
    if (this.#role !== 'page') return 'move'
    this.pull = -sum[this.axis]
    if (Math.abs(this.pull) < TURN_DISTANCE) return 'pull'
    this.#role = 'spent'
    return 'turn'
  }

  #begin() {
    this.#role = 'open'
    this.#sum = { x: 0, y: 0 }
    this.pull = 0
  }

  /** @param {Move} move */
  #isNew({ x, y, time }) {
    const gap = time - this.#time
    this.#time = time
    // A late event combines the movement of several.
    const speed = Math.hypot(x, y) / Math.max(gap, 4)
    const isFaster = this.#low < this.#peak / 2 && speed > 2 * this.#low + RISE
    this.#rises = isFaster ? this.#rises + 1 : 0
    // A page that is pulled slowly and then faster belongs to the same push.
    const isPushed = this.#rises >= RISES && this.#role !== 'page'
    if (gap > PAUSE || isPushed) {
      this.#peak = this.#low = gap > PAUSE ? 0 : speed
      this.#rises = 0
      return true
    }
    if (isFaster) return false
    if (speed > this.#peak) this.#peak = this.#low = speed
    else this.#low = Math.min(this.#low, speed)
    return false
  }
}
