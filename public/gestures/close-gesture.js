import { distance } from './fingers.js'

const DOWN = 0.35 // CSS px per ms
const FALL = 60 // CSS px
const CLOSED = 0.7 // of how far apart two fingers came

/**
 * Tells when the whole picture is put away, as on phones: by one finger that throws it down, or by two that have it small
 * when they lift.
 */
export class CloseGesture {
  /**
   * Fingers are down: the first one, one more, or those that are left.
   * @param {{ x: number, y: number, kind: string }[]} points CSS pixels
   * @param {boolean} isWhole whether all of the picture is seen, and no larger than it is fitted
   */
  begin(points, isWhole) {
    const isAlone = points.length === 1 && !this.isPinch
    const isTouch = points.every(({ kind }) => kind === 'touch')
    // A second pinch, or what one finger leaves of the first, begins where that ended.
    if (points.length > 1 && !this.isPinch) this.apart = isWhole && isTouch ? distance(points) : 0
    this.isPinch ||= points.length > 1
    this.first = this.last = isWhole && isAlone && isTouch ? points[0] : null
  }

  move(points) {
    if (this.first) this.last = points[0]
    if (points.length > 1) this.now = distance(points)
  }

  /**
   * All fingers have lifted: whether that puts the picture away, and what did.
   * @param {{ x: number, y: number }} velocity CSS pixels per ms
   * @returns {'swipe' | 'pinch' | null}
   */
  ends(velocity) {
    const { first, last, apart, now } = this
    const isClosed = this.isPinch && now < apart * CLOSED
    this.first = null
    this.isPinch = false
    this.apart = this.now = NaN
    if (isClosed) return 'pinch'
    if (!first) return null
    const [dx, dy] = [last.x - first.x, last.y - first.y]
    return velocity.y > DOWN && dy > FALL && dy > 2 * Math.abs(dx) ? 'swipe' : null
  }
}
