import { distance } from './fingers.js'

const DOWN = 0.35 // CSS px per ms
const FALL = 60 // CSS px
const CLOSED = 0.7 // relative to the initial distance of two fingers

/**
 * Detects the gestures that close an image on phones: a swipe down with one finger, or a pinch to a small size.
 */
export class CloseGesture {
  /**
   * Starts or continues a gesture after a finger was placed or lifted.
   * @param {{ x: number, y: number, kind: string }[]} points the fingers that touch, in CSS pixels
   * @param {boolean} isWhole whether the whole image is visible, at most at its fitted size
   */
  begin(points, isWhole) {
    const isAlone = points.length === 1 && !this.isPinch
    const isTouch = points.every(({ kind }) => kind === 'touch')
    // A second pinch, or a finger that remains from the first, continues from the earlier distance.
    if (points.length > 1 && !this.isPinch) this.apart = isWhole && isTouch ? distance(points) : 0
    this.isPinch ||= points.length > 1
    this.first = this.last = isWhole && isAlone && isTouch ? points[0] : null
  }

  move(points) {
    if (this.first) this.last = points[0]
    if (points.length > 1) this.now = distance(points)
  }

  /**
   * Ends the gesture when all fingers have lifted.
   * @param {{ x: number, y: number }} velocity CSS pixels per ms
   * @returns {'swipe' | 'pinch' | null} the gesture that closes the image
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
