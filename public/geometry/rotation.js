/** @typedef {import('./types.js').Point} Point */
/** @typedef {import('./types.js').Size} Size */

/**
 * A rotation about the center of the window, after an optional horizontal mirroring. JavaScript engines differ in their
 * sines, so these are computed here. Those of quarter turns are exact.
 */
export class Rotation {
  /**
   * @param {number} [degrees] clockwise
   * @param {boolean} [isFlipped] whether the image is mirrored horizontally before the rotation
   */
  constructor(degrees = 0, isFlipped = false) {
    if (!Number.isFinite(degrees)) throw new RangeError(`not an angle: ${degrees}`)
    let angle = degrees % 360
    if (angle < 0) angle += 360
    if (angle >= 360) angle = 0
    this.degrees = angle
    this.isFlipped = isFlipped
    const quarter = Math.trunc(angle / 90 + 0.5)
    const [sine, cosine] = series((angle - quarter * 90) * (Math.PI / 180))
    const rotated = [[cosine, sine], [-sine, cosine], [-cosine, -sine], [sine, -cosine]][quarter % 4]
    this.cosine = rotated[0]
    this.sine = rotated[1]
  }

  get isIdentity() { return this.degrees === 0 && !this.isFlipped }

  /**
   * Rotates a point about the origin.
   * @param {Point} point
   * @returns {Point}
   */
  apply(point) {
    const x = this.isFlipped ? -point.x : point.x
    return { x: x * this.cosine - point.y * this.sine, y: x * this.sine + point.y * this.cosine }
  }

  /**
   * The inverse of `apply`.
   * @param {Point} point
   * @returns {Point}
   */
  undo(point) {
    const x = point.x * this.cosine + point.y * this.sine
    return { x: this.isFlipped ? -x : x, y: point.y * this.cosine - point.x * this.sine }
  }

  /**
   * Returns the size of the bounding box of a rotated rectangle.
   * @param {number} width
   * @param {number} height
   * @returns {Size}
   */
  bounds(width, height) {
    const [c, s] = [Math.abs(this.cosine), Math.abs(this.sine)]
    return { width: width * c + height * s, height: width * s + height * c }
  }
}

/**
 * Returns sine and cosine of an angle of at most an eighth of a turn.
 * @param {number} radians
 */
function series(radians) {
  const square = radians * radians
  let sine = 1
  let cosine = 1
  for (let divisor = 18; divisor >= 2; divisor -= 2) {
    sine = 1 - square / (divisor * (divisor + 1)) * sine
    cosine = 1 - square / ((divisor - 1) * divisor) * cosine
  }
  return [radians * sine, cosine]
}
