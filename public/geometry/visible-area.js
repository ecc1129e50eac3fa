/** @typedef {import('./types.js').Extent} Extent */
/** @typedef {import('./types.js').Point} Point */
/** @typedef {import('./types.js').Rect} Rect */
/** @typedef {import('./types.js').Size} Size */
/** @typedef {import('./viewport.js').Viewport} Viewport */

/** The part of image space that a viewport shows: a rectangle, possibly rotated. */
export class VisibleArea {
  /** @param {Viewport} viewport */
  constructor(viewport) {
    const { width, height, scale, rotation } = viewport
    /** @type {{ left: number, top: number, right: number, bottom: number } | null} null if it is not axis-aligned */
    this.upright = null
    if (rotation.degrees % 90 === 0) {
      const lies = rotation.cosine === 0
      const shift = lies ? (width - height) / 2 : 0
      const [left, top] = [viewport.x + shift, viewport.y - shift]
      const [visibleWidth, visibleHeight] = lies ? [height, width] : [width, height]
      this.upright = {
        left: left / scale, top: top / scale,
        right: (left + visibleWidth) / scale, bottom: (top + visibleHeight) / scale,
      }
    }
    this.corners = viewport.corners
  }

  /**
   * Returns the vertical extent of the area between two vertical lines.
   * @param {number} low
   * @param {number} high
   * @returns {Extent | null}
   */
  verticalExtent(low, high) {
    const u = this.upright
    if (u) return u.left < high && u.right > low ? { low: u.top, high: u.bottom } : null
    return extent(this.corners.map(({ x, y }) => [x, y]), low, high)
  }

  /**
   * Returns the horizontal extent of the area between two horizontal lines.
   * @param {number} low
   * @param {number} high
   * @returns {Extent | null}
   */
  horizontalExtent(low, high) {
    const u = this.upright
    if (u) return u.top < high && u.bottom > low ? { low: u.left, high: u.right } : null
    return extent(this.corners.map(({ x, y }) => [y, x]), low, high)
  }

  /**
   * Returns the bounding rectangle of the visible part of an image, or null.
   * @param {Size} image pixels
   * @returns {Rect | null}
   */
  bounds(image) {
    const across = this.horizontalExtent(0, image.height)
    const down = this.verticalExtent(0, image.width)
    if (!across || !down) return null
    const [left, top] = [Math.max(across.low, 0), Math.max(down.low, 0)]
    const [right, bottom] = [Math.min(across.high, image.width), Math.min(down.high, image.height)]
    if (!(left < right && top < bottom)) return null
    return { x: left, y: top, width: right - left, height: bottom - top }
  }
}

/**
 * Returns the extent across an axis between two positions along it, or null.
 * @param {number[][]} corners coordinates along the axis and across it
 * @param {number} low
 * @param {number} high
 * @returns {Extent | null}
 */
function extent(corners, low, high) {
  const result = { low: Infinity, high: -Infinity }
  corners.forEach((a, index) => {
    const b = corners[(index + 1) % 4]
    const [[start, first], [end, last]] = a[0] <= b[0] ? [a, b] : [b, a]
    if (!(start <= high && end >= low)) return
    const at = (/** @type {number} */ position) => first + (position - start) / (end - start) * (last - first)
    const p = start < low ? at(low) : first
    const q = end > high ? at(high) : last
    result.low = Math.min(result.low, p, q)
    result.high = Math.max(result.high, p, q)
  })
  return result.low < result.high ? result : null
}
