const PAUSE = 140 // ms without an event: fingers have lifted, and nothing coasts any more
const SURE = 4 // CSS px, after which it is clear where fingers go
const TURN = 80 // CSS px to turn a page
const RISE = 0.4 // CSS px per ms that a new push is faster than what coasted
const RISES = 3 // events in a row, since one may hold what came in several

/** @typedef {{ x: number, y: number, time: number }} Move CSS pixels that what is seen goes on by; ms */

/**
 * What two fingers on a trackpad do: they move the picture, or turn pages where it does not go on.
 *
 * Browsers tell neither when fingers come nor when they lift: what they threw coasts on in events like any other. So a push
 * of theirs does one of both until it ends, turns one page at most, and ends by a pause, or where it had become slower and is
 * faster again than coasting is.
 */
export class TrackpadPan {
  /** How far fingers draw the page along, CSS pixels: negative towards what lies on the right, or below. */
  pull = 0
  /** @type {'x' | 'y'} which way they do */
  along = 'x'
  /** @type {'open' | 'move' | 'page' | 'spent'} what this push does */
  #role = 'open'
  #time = -Infinity
  #sum = { x: 0, y: 0 }
  #peak = 0
  #low = 0
  #rises = 0

  /**
   * @param {Move} move
   * @param {(x: number, y: number) => boolean} turns whether a page lies where fingers go (-1, 0 or 1 each) and the picture
   *   does not go on
   * @returns {'move' | 'pull' | 'turn' | null} move the picture; draw the page along as far as `pull`; let it go, to the next
   *   one where there is one; nothing
   */
  read(move, turns) {
    if (this.#isNew(move)) this.#begin()
    if (this.#role === 'spent') return null
    const sum = this.#sum
    sum.x += move.x
    sum.y += move.y
    const [across, down] = [Math.abs(sum.x), Math.abs(sum.y)]
    if (this.#role === 'open' && across + down >= SURE) {
      const isPage = across > down ? turns(Math.sign(sum.x), 0) : turns(0, Math.sign(sum.y))
      this.#role = isPage ? 'page' : 'move'
      this.along = across > down ? 'x' : 'y'
    }
    if (this.#role !== 'page') return 'move'
    this.pull = -sum[this.along]
    if (Math.abs(this.pull) < TURN) return 'pull'
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
    // What comes late holds what came meanwhile.
    const speed = Math.hypot(x, y) / Math.max(gap, 4)
    const isFaster = this.#low < this.#peak / 2 && speed > 2 * this.#low + RISE
    this.#rises = isFaster ? this.#rises + 1 : 0
    // A page that is drawn along slowly, and then faster, is still the same.
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
