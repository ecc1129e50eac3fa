// The counterpart of Sources/TileGeometry, function by function; Tests/Fixtures compares both. Unlike Swift, which clamps
// values, the constructor throws.

import { Rotation } from './rotation.js'
import { fitScale, limited } from './fit.js'
import { inverseRubberBand, rubberBand } from './rubber-band.js'

/** @typedef {import('./types.js').Extent} Extent */
/** @typedef {import('./types.js').Fit} Fit */
/** @typedef {import('./types.js').Insets} Insets */
/** @typedef {import('./types.js').Limits} Limits */
/** @typedef {import('./types.js').PermittedOffsets} PermittedOffsets */
/** @typedef {import('./types.js').Point} Point */
/** @typedef {import('./types.js').Rect} Rect */
/** @typedef {import('./types.js').Size} Size */
/** @typedef {{ width: number, height: number, scale: number, x: number, y: number, rotation?: Rotation }} Parts */
/** @typedef {(distance: number, room: number) => number} Bend */
/**
 * @typedef {{ anchor?: Point, insets?: Insets }} Rest the point of the window whose image point stays in place while the
 *   scale changes (default: the center), in CSS pixels; and the insets
 */

/** The maximum number of octaves by which a pulled scale exceeds its limits. */
const OCTAVES = 1

/** A window onto an image: its size, the zoom scale, the content offset, and the rotation about its centre. */
export class Viewport {
  /**
   * @param {Parts} parts sizes and offset in CSS pixels, the scale in CSS pixels per image pixel
   * @throws {RangeError} if a side or the scale is not above 0, or an offset is not finite
   */
  constructor({ width, height, scale, x, y, rotation = new Rotation() }) {
    if (!(width > 0 && height > 0 && scale > 0 && Number.isFinite(x + y))) {
      throw new RangeError(`not a viewport: ${width}×${height} at ${scale}, ${x}, ${y}`)
    }
    this.width = width
    this.height = height
    this.scale = scale
    this.x = x
    this.y = y
    this.rotation = rotation
  }

  /** @deprecated the name of `rotation` until version 2.0 */
  get turn() { return this.rotation }

  /**
   * Returns the viewport with the center of the image in the center of the area within the insets.
   * @param {Size} image pixels
   * @param {Fit} fit the way in which the image fits that area
   * @param {Size} window CSS pixels
   * @param {Rotation} [rotation]
   * @param {Insets} [insets]
   */
  static fitting(image, fit, window, rotation = new Rotation(), insets) {
    const frame = new Viewport({ width: window.width, height: window.height, scale: 1, x: 0, y: 0, rotation })
    const area = frame.area(insets)
    return frame.with({ scale: fitScale(fit, image, area, rotation) })
      .placing({ x: image.width / 2, y: image.height / 2 }, area.center)
  }

  /**
   * Returns the viewport with some parts changed.
   * @param {Partial<Parts>} parts
   */
  with(parts) { return new Viewport({ ...this, ...parts }) }

  /**
   * Whether another viewport shows the same part of the image in a window of the same size. `null` is equal to none.
   * @param {Viewport | null} other
   */
  equals(other) {
    return other !== null && this.width === other.width && this.height === other.height && this.scale === other.scale
      && this.x === other.x && this.y === other.y && this.rotation.degrees === other.rotation.degrees && this.rotation.isFlipped === other.rotation.isFlipped
  }

  get imageCenter() {
    return { x: (this.x + this.width / 2) / this.scale, y: (this.y + this.height / 2) / this.scale }
  }

  get corners() {
    const { width, height } = this
    return [[0, 0], [width, 0], [width, height], [0, height]].map(([x, y]) => this.imagePoint({ x, y }))
  }

  /**
   * Converts a point from viewport space to image space.
   * @param {Point} point CSS pixels
   * @returns {Point} image pixels
   */
  imagePoint(point) {
    const flat = this.unturned(point)
    return { x: (this.x + flat.x) / this.scale, y: (this.y + flat.y) / this.scale }
  }

  /**
   * Converts a point from image space to viewport space, the inverse of `imagePoint`.
   * @param {Point} point image pixels
   * @returns {Point} CSS pixels
   */
  viewportPoint(point) {
    const flat = { x: point.x * this.scale - this.x, y: point.y * this.scale - this.y }
    if (this.rotation.isIdentity) return flat
    const rotated = this.rotation.apply({ x: flat.x - this.width / 2, y: flat.y - this.height / 2 })
    return { x: rotated.x + this.width / 2, y: rotated.y + this.height / 2 }
  }

  /**
   * Converts a point of the window to its position without the rotation.
   * @param {Point} point CSS pixels
   * @returns {Point}
   */
  unturned(point) {
    if (this.rotation.isIdentity) return point
    const flat = this.rotation.undo({ x: point.x - this.width / 2, y: point.y - this.height / 2 })
    return { x: flat.x + this.width / 2, y: flat.y + this.height / 2 }
  }

  /**
   * Returns the viewport at another scale. The image point under the anchor stays under it.
   * @param {number} scale
   * @param {Point} [anchor] CSS pixels; the centre if absent
   */
  scaled(scale, anchor) {
    if (scale === this.scale) return this
    const point = anchor ? this.unturned(anchor) : { x: this.width / 2, y: this.height / 2 }
    return this.with({
      scale,
      x: (this.x + point.x) / this.scale * scale - point.x,
      y: (this.y + point.y) / this.scale * scale - point.y,
    })
  }

  /**
   * Returns the viewport with an image point at its centre.
   * @param {Point} center image pixels
   */
  centered(center) {
    return this.with({
      x: center.x * this.scale - this.width / 2,
      y: center.y * this.scale - this.height / 2,
    })
  }

  /**
   * Returns the viewport moved such that an image point is shown at a point of the window.
   * @param {Point} image image pixels
   * @param {Point} point CSS pixels
   */
  placing(image, point) {
    const flat = this.unturned(point)
    return this.with({ x: image.x * this.scale - flat.x, y: image.y * this.scale - flat.y })
  }

  /**
   * Returns the viewport for another size of the window. The scale is kept, and so is the image point in the center of the
   * area within the insets.
   * @param {Partial<Size>} window CSS pixels
   * @param {Insets} [insets]
   */
  resized({ width = this.width, height = this.height }, insets) {
    if (width === this.width && height === this.height) return this
    const resized = this.with({ width, height })
    return resized.placing(this.imagePoint(this.area(insets).center), resized.area(insets).center)
  }

  /**
   * Returns the viewport zoomed to a rectangle of the image. With its rotation, the rectangle fills the area within the
   * insets and is centered in it. An empty rectangle is centered at the current scale. The result is not clamped to the
   * image.
   * @param {Rect} rect image pixels
   * @param {Limits} [limits] the permitted scales
   * @param {Insets} [insets]
   */
  zoomed(rect, limits, insets) {
    const area = this.area(insets)
    const bounds = this.rotation.bounds(Math.abs(rect.width), Math.abs(rect.height))
    const wanted = Math.min(bounds.width > 0 ? area.width / bounds.width : Infinity, bounds.height > 0 ? area.height / bounds.height : Infinity)
    const scale = wanted < Infinity ? wanted : this.scale
    return this.with({ scale: limits ? limited(scale, limits) : scale }).placing({ x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 }, area.center)
  }

  /**
   * Returns the size and center of the part of the window within the insets, in CSS pixels. If the insets leave no area, the
   * center is halfway between them.
   * @param {Insets} insets
   * @returns {Size & { center: Point }}
   */
  area({ top = 0, left = 0, bottom = 0, right = 0 } = {}) {
    return {
      width: Math.max(this.width - left - right, 0), height: Math.max(this.height - top - bottom, 0),
      center: { x: (left + (this.width - right)) / 2, y: (top + (this.height - bottom)) / 2 },
    }
  }

  /**
   * Returns the content offsets that leave no gap beside the image at this scale and rotation. If the image is smaller than
   * the area within the insets along an axis, only the centered offset is permitted.
   * @param {Size} image pixels
   * @param {Insets} [insets]
   * @returns {PermittedOffsets}
   */
  permittedOffsets(image, insets) {
    const area = this.area(insets)
    const reach = this.rotation.bounds(area.width, area.height)
    const shift = this.rotation.undo({ x: area.center.x - this.width / 2, y: area.center.y - this.height / 2 })
    return {
      x: permitted(this.width, reach.width, shift.x, image.width * this.scale),
      y: permitted(this.height, reach.height, shift.y, image.height * this.scale),
    }
  }

  /**
   * Returns the viewport moved as little as possible to a permitted offset.
   * @param {Size} image pixels
   * @param {Insets} [insets]
   */
  clamped(image, insets) {
    const { x, y } = this.permittedOffsets(image, insets)
    return this.with({ x: nearest(this.x, x), y: nearest(this.y, y) })
  }

  /**
   * Returns the final viewport of a pan or zoom: the nearest permitted scale, then the nearest permitted offset.
   * @param {Size} image pixels
   * @param {Limits} limits the permitted scales
   * @param {Rest} rest
   */
  settled(image, limits, { anchor, insets } = {}) {
    return this.scaled(limited(this.scale, limits), anchor).clamped(image, insets)
  }

  /**
   * Returns the viewport to show for one that fingers have dragged to. Within its limits it is unchanged; past them it
   * follows with the resistance of a rubber band. The scale follows in octaves, with a room of one. The offset on each axis
   * then follows with the side of the window as its room.
   * @param {Size} image pixels
   * @param {Limits} limits the permitted scales
   * @param {Rest & { isZooming?: boolean }} rest while zooming, an axis with a single permitted offset is centered
   *   immediately, so that nothing jumps afterwards
   */
  rubberBanded(image, limits, { anchor, insets, isZooming = false } = {}) {
    return movedPast(scaledPast(this, limits, anchor, rubberBand), image, insets, isZooming, rubberBand)
  }

  /**
   * Returns the dragged viewport for which this one is shown: the inverse of `rubberBanded`.
   * @param {Size} image pixels
   * @param {Limits} limits the permitted scales
   * @param {Rest} rest
   */
  withoutRubberBand(image, limits, { anchor, insets } = {}) {
    return scaledPast(movedPast(this, image, insets, false, inverseRubberBand), limits, anchor, inverseRubberBand)
  }
}

/**
 * @param {number} value
 * @param {Extent} extent
 */
function nearest(value, { low, high }) { return Math.min(Math.max(value, low), high) }

/**
 * @param {number} window
 * @param {number} reach the extent of the rotated area within the insets along the axis
 * @param {number} shift the distance from the center of the window to the center of that area
 * @param {number} content
 * @returns {Extent}
 */
function permitted(window, reach, shift, content) {
  if (content <= reach) {
    const only = (content - window) / 2 - shift
    return { low: only, high: only }
  }
  const low = (reach - window) / 2 - shift
  return { low, high: Math.max(low, content - (reach + window) / 2 - shift) }
}

/**
 * @param {Viewport} viewport
 * @param {Limits} limits
 * @param {Point | undefined} anchor
 * @param {Bend} bend
 */
function scaledPast(viewport, limits, anchor, bend) {
  const inside = limited(viewport.scale, limits)
  const octaves = Math.log2(viewport.scale / inside)
  return octaves === 0 ? viewport : viewport.scaled(inside * 2 ** bend(octaves, OCTAVES), anchor)
}

/**
 * @param {Viewport} viewport
 * @param {Size} image
 * @param {Insets | undefined} insets
 * @param {boolean} centering
 * @param {Bend} bend
 */
function movedPast(viewport, image, insets, centering, bend) {
  const offsets = viewport.permittedOffsets(image, insets)
  const axis = (/** @type {number} */ offset, /** @type {Extent} */ { low, high }, /** @type {number} */ room) => {
    if (centering && low === high) return low
    const inside = nearest(offset, { low, high })
    return offset === inside ? offset : inside + bend(offset - inside, room)
  }
  return viewport.with({ x: axis(viewport.x, offsets.x, viewport.width), y: axis(viewport.y, offsets.y, viewport.height) })
}
