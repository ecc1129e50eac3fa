import { distance } from './pointer-math.js'

const MIN_SPEED = 0.35 // CSS px per ms
const MIN_DISTANCE = 60 // CSS px
const PINCH_RATIO = 0.7 // relative to the initial distance of two fingers

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
    if (points.length > 1 && !this.isPinch) this.startDistance = isWhole && isTouch ? distance(points) : 0
    this.isPinch ||= points.length > 1
    this.first = this.last = isWhole && isAlone && isTouch ? points[0] : null
  }

  move(points) {
    if (this.first) this.last = points[0]
    if (points.length > 1) this.endDistance = distance(points)
  }

  /**
   * Ends the gesture when all fingers have lifted.
   * @param {{ x: number, y: number }} velocity CSS pixels per ms
   * @returns {'swipe' | 'pinch' | null} the gesture that closes the image
   */
  end(velocity) {
    const { first, last, startDistance, endDistance } = this
    const isClosed = this.isPinch && endDistance < startDistance * PINCH_RATIO
    this.first = null
    this.isPinch = false
    this.startDistance = this.endDistance = NaN
    if (isClosed) return 'pinch'
    if (!first) return null
    const [dx, dy] = [last.x - first.x, last.y - first.y]
    return velocity.y > MIN_SPEED && dy > MIN_DISTANCE && dy > 2 * Math.abs(dx) ? 'swipe' : null
  }
}
