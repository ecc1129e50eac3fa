import { Rotation } from '../geometry/rotation.js'

/** @typedef {import('../geometry/types.js').Point} Point */
/** @typedef {import('../geometry/types.js').Size} Size */
/** @typedef {{ x: number, y: number, width: number, height: number }} Frame */

/**
 * The space that the frame of a crop is drawn in: the image turned by the degrees that straighten it, in pixels of the
 * image, with the box around it beginning at the origin. Not straightened it is the image's own space.
 *
 * A frame in it is upright, and its corners may not all be corners of what the image covers: the image lies aslant.
 */
export class StraightenedSpace {
  /**
   * @param {Size} image pixels
   * @param {number} degrees clockwise, as it is seen; -45…45
   * @param {boolean} isFlipped whether the image is seen mirrored, and so the other way round
   */
  constructor(image, degrees, isFlipped) {
    this.image = image
    this.rotation = new Rotation(isFlipped ? -degrees : degrees)
    /** Of the box around the image. @type {Size} */
    this.size = this.rotation.isIdentity ? image : this.rotation.bounds(image.width, image.height)
  }

  /** @param {Point} point of the image @returns {Point} the same in this space */
  fromImage({ x, y }) {
    const { image, size, rotation } = this
    if (rotation.isIdentity) return { x, y }
    const turned = rotation.apply({ x: x - image.width / 2, y: y - image.height / 2 })
    return { x: turned.x + size.width / 2, y: turned.y + size.height / 2 }
  }

  /** The inverse of `fromImage`. @param {Point} point @returns {Point} */
  toImage({ x, y }) {
    const { image, size, rotation } = this
    if (rotation.isIdentity) return { x, y }
    const turned = rotation.undo({ x: x - size.width / 2, y: y - size.height / 2 })
    return { x: turned.x + image.width / 2, y: turned.y + image.height / 2 }
  }

  /** @param {Frame} frame of this space @returns {Point} its middle, in the image */
  middle({ x, y, width, height }) { return this.toImage({ x: x + width / 2, y: y + height / 2 }) }

  /**
   * A frame of a size about a point of the image.
   * @param {Point} middle in the image
   * @param {Size} size
   * @returns {Frame}
   */
  about(middle, { width, height }) {
    const { x, y } = this.fromImage(middle)
    return { x: x - width / 2, y: y - height / 2, width, height }
  }

  /**
   * How much larger a frame could be about its middle without a corner beyond the image; below 1 it has one.
   * @param {Frame} frame
   */
  room(frame) {
    const { image, rotation } = this
    const { x, y } = this.middle(frame)
    const box = rotation.bounds(frame.width, frame.height)
    return Math.min(
      2 * Math.min(x, image.width - x) / box.width, 2 * Math.min(y, image.height - y) / box.height)
  }

  /**
   * The frame made smaller about its middle, which comes into the image, until all of it is in the image.
   * @param {Frame} frame
   * @returns {Frame}
   */
  held(frame) {
    const { image, rotation } = this
    const { x, y } = this.middle(frame)
    const { width, height } = frame
    const box = rotation.bounds(width, height)
    // First it is moved; what is larger than the image then is made smaller.
    const scale = Math.min(1, image.width / box.width, image.height / box.height)
    const [halfWidth, halfHeight] = [scale * box.width / 2, scale * box.height / 2]
    const middle = {
      x: Math.min(Math.max(x, halfWidth), image.width - halfWidth),
      y: Math.min(Math.max(y, halfHeight), image.height - halfHeight),
    }
    return this.about(middle, { width: width * scale, height: height * scale })
  }

  /**
   * As far on the way from one frame to another as all of it stays in the image.
   * @param {Frame} from in the image
   * @param {Frame} to
   * @returns {Frame}
   */
  toward(from, to) {
    // A corner goes along a line; the image has no dents, so that what is in it of the way is its beginning.
    let part = 1
    const { width, height } = this.image
    for (const [right, below] of [[0, 0], [1, 0], [0, 1], [1, 1]]) {
      const start = this.toImage({ x: from.x + right * from.width, y: from.y + below * from.height })
      const end = this.toImage({ x: to.x + right * to.width, y: to.y + below * to.height })
      for (const [now, then, most] of [[start.x, end.x, width], [start.y, end.y, height]]) {
        if (then < 0) part = Math.min(part, now / (now - then))
        else if (then > most) part = Math.min(part, (most - now) / (then - now))
      }
    }
    part = Math.max(part, 0)
    const between = (/** @type {number} */ a, /** @type {number} */ b) => a + (b - a) * part
    return {
      x: between(from.x, to.x), y: between(from.y, to.y),
      width: between(from.width, to.width), height: between(from.height, to.height),
    }
  }

  /**
   * What a server is asked for: the part of the image, in whole pixels, below which the image is turned.
   * @param {Frame} frame of this space, all of it in the image
   * @returns {Frame} in the image, with the frame's middle and size as nearly as whole pixels have them
   */
  region(frame) {
    const middle = this.middle(frame)
    let [width, height] = [Math.max(1, Math.floor(frame.width)), Math.max(1, Math.floor(frame.height))]
    for (;;) {
      const [x, y] = [Math.round(middle.x - width / 2), Math.round(middle.y - height / 2)]
      const region = { x, y, width, height }
      const own = this.about({ x: region.x + width / 2, y: region.y + height / 2 }, region)
      if (this.room(own) >= 1 || Math.max(width, height) === 1) return region
      if (width > 1) width -= 1
      if (height > 1) height -= 1
    }
  }
}
