import { Rotation } from '../geometry/rotation.js'

/** @typedef {import('../geometry/types.js').Point} Point */
/** @typedef {import('../geometry/types.js').Size} Size */
/** @typedef {{ x: number, y: number, width: number, height: number }} Frame */

/**
 * The coordinate space of a crop frame: the image rotated by the straightening angle, in image pixels. The origin is the top
 * left corner of the bounding box. Without straightening, it is image space.
 *
 * A frame is axis-aligned in this space. Its corners may lie outside of the image, which is rotated.
 */
export class StraightenedSpace {
  /**
   * @param {Size} image pixels
   * @param {number} degrees clockwise as displayed, -45…45
   * @param {boolean} isFlipped whether the image is mirrored, and therefore rotated in the opposite direction
   */
  constructor(image, degrees, isFlipped) {
    this.image = image
    this.rotation = new Rotation(isFlipped ? -degrees : degrees)
    /**
     * The size of the image's bounding box.
     * @type {Size}
     */
    this.size = this.rotation.isIdentity ? image : this.rotation.bounds(image.width, image.height)
  }

  /**
   * Converts from image space to this space.
   * @param {Point} point
   * @returns {Point}
   */
  fromImage({ x, y }) {
    const { image, size, rotation } = this
    if (rotation.isIdentity) return { x, y }
    const rotated = rotation.apply({ x: x - image.width / 2, y: y - image.height / 2 })
    return { x: rotated.x + size.width / 2, y: rotated.y + size.height / 2 }
  }

  /**
   * Converts from this space to image space: the inverse of `fromImage`.
   * @param {Point} point
   * @returns {Point}
   */
  toImage({ x, y }) {
    const { image, size, rotation } = this
    if (rotation.isIdentity) return { x, y }
    const rotated = rotation.undo({ x: x - size.width / 2, y: y - size.height / 2 })
    return { x: rotated.x + image.width / 2, y: rotated.y + image.height / 2 }
  }

  /**
   * Returns the center of a frame.
   * @param {Frame} frame in this space
   * @returns {Point} in image space
   */
  center({ x, y, width, height }) { return this.toImage({ x: x + width / 2, y: y + height / 2 }) }

  /**
   * Returns a frame of a size around a center.
   * @param {Point} center in image space
   * @param {Size} size
   * @returns {Frame}
   */
  frameAround(center, { width, height }) {
    const { x, y } = this.fromImage(center)
    return { x: x - width / 2, y: y - height / 2, width, height }
  }

  /**
   * Returns the factor by which a frame can grow around its center before a corner leaves the image. It is below 1 if one is
   * outside.
   * @param {Frame} frame
   */
  maxScale(frame) {
    const { image, rotation } = this
    const { x, y } = this.center(frame)
    const box = rotation.bounds(frame.width, frame.height)
    return Math.min(
      2 * Math.min(x, image.width - x) / box.width, 2 * Math.min(y, image.height - y) / box.height)
  }

  /**
   * Confines a frame to the image: first its center is moved, then its size is reduced.
   * @param {Frame} frame
   * @returns {Frame}
   */
  confine(frame) {
    const { image, rotation } = this
    const { x, y } = this.center(frame)
    const { width, height } = frame
    const box = rotation.bounds(width, height)
    // First the frame is moved; if it is larger than the image, it is then scaled down.
    const scale = Math.min(1, image.width / box.width, image.height / box.height)
    const [halfWidth, halfHeight] = [scale * box.width / 2, scale * box.height / 2]
    const center = {
      x: Math.min(Math.max(x, halfWidth), image.width - halfWidth),
      y: Math.min(Math.max(y, halfHeight), image.height - halfHeight),
    }
    return this.frameAround(center, { width: width * scale, height: height * scale })
  }

  /**
   * Interpolates from one frame to another, as far as the frame stays within the image.
   * @param {Frame} from a frame within the image
   * @param {Frame} to
   * @returns {Frame}
   */
  moveWithin(from, to) {
    // Each corner moves along a line. The image is convex, so the part of the line within it begins at its start.
    let part = 1
    const { width, height } = this.image
    for (const [right, below] of [[0, 0], [1, 0], [0, 1], [1, 1]]) {
      const start = this.toImage({ x: from.x + right * from.width, y: from.y + below * from.height })
      const end = this.toImage({ x: to.x + right * to.width, y: to.y + below * to.height })
      for (const [now, then, max] of [[start.x, end.x, width], [start.y, end.y, height]]) {
        if (then < 0) part = Math.min(part, now / (now - then))
        else if (then > max) part = Math.min(part, (max - now) / (then - now))
      }
    }
    part = Math.max(part, 0)
    const interpolate = (/** @type {number} */ a, /** @type {number} */ b) => a + (b - a) * part
    return {
      x: interpolate(from.x, to.x), y: interpolate(from.y, to.y),
      width: interpolate(from.width, to.width), height: interpolate(from.height, to.height),
    }
  }

  /**
   * Returns the region to request from the server, in whole pixels of the image before its rotation.
   * @param {Frame} frame in this space, within the image
   * @returns {Frame} in image space, with nearly the same center and size
   */
  region(frame) {
    const center = this.center(frame)
    let [width, height] = [Math.max(1, Math.floor(frame.width)), Math.max(1, Math.floor(frame.height))]
    for (;;) {
      const [x, y] = [Math.round(center.x - width / 2), Math.round(center.y - height / 2)]
      const region = { x, y, width, height }
      const candidate = this.frameAround({ x: region.x + width / 2, y: region.y + height / 2 }, region)
      if (this.maxScale(candidate) >= 1 || Math.max(width, height) === 1) return region
      if (width > 1) width -= 1
      if (height > 1) height -= 1
    }
  }
}
