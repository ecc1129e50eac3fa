// Sources/TileGeometry, word for word: what each value means stands there.

import { Turn } from './turn.js'
import { fitScale } from './fit.js'

/** @typedef {import('./types.js').Fit} Fit */
/** @typedef {import('./types.js').Point} Point */
/** @typedef {import('./types.js').Size} Size */
/** @typedef {{ width: number, height: number, scale: number, x: number, y: number, turn?: Turn }} Parts */

/**
 * The part of an image that a window shows: its size, the scale and its offset in the scaled image, then turned about the
 * window's middle.
 */
export class Viewport {
  /** @param {Parts} parts sizes and offset in CSS pixels, the scale in CSS pixels per image pixel */
  constructor({ width, height, scale, x, y, turn = new Turn() }) {
    if (!(width > 0 && height > 0 && scale > 0 && Number.isFinite(x + y))) {
      throw new RangeError(`not a viewport: ${width}×${height} at ${scale}, ${x}, ${y}`)
    }
    this.width = width
    this.height = height
    this.scale = scale
    this.x = x
    this.y = y
    this.turn = turn
  }

  /**
   * The viewport that shows an image whole, or as the fit has it, in the middle.
   * @param {Size} image pixels
   * @param {Fit} fit
   * @param {Size} window CSS pixels
   * @param {Turn} [turn]
   */
  static fitting(image, fit, window, turn = new Turn()) {
    const { width, height } = window
    const scale = fitScale(fit, image, window, turn)
    const x = (image.width * scale - width) / 2
    const y = (image.height * scale - height) / 2
    return new Viewport({ width, height, scale, x, y, turn })
  }

  /**
   * The same but for some parts.
   * @param {Partial<Parts>} parts
   */
  with(parts) { return new Viewport({ ...this, ...parts }) }

  /**
   * Whether another viewport, or none, shows the same part of the image in a window of the same size.
   * @param {Viewport | null} other
   */
  equals(other) {
    return other !== null && this.width === other.width && this.height === other.height && this.scale === other.scale
      && this.x === other.x && this.y === other.y && this.turn.degrees === other.turn.degrees && this.turn.isFlipped === other.turn.isFlipped
  }

  get imageCenter() {
    return { x: (this.x + this.width / 2) / this.scale, y: (this.y + this.height / 2) / this.scale }
  }

  get corners() {
    const { width, height } = this
    return [[0, 0], [width, 0], [width, height], [0, height]].map(([x, y]) => this.imagePoint({ x, y }))
  }

  /**
   * The image point shown at a point of the window.
   * @param {Point} point CSS pixels
   * @returns {Point} image pixels
   */
  imagePoint(point) {
    const flat = this.unturned(point)
    return { x: (this.x + flat.x) / this.scale, y: (this.y + flat.y) / this.scale }
  }

  /**
   * Where an image point is shown, the inverse of `imagePoint`.
   * @param {Point} point image pixels
   * @returns {Point} CSS pixels
   */
  viewportPoint(point) {
    const flat = { x: point.x * this.scale - this.x, y: point.y * this.scale - this.y }
    if (this.turn.isIdentity) return flat
    const turned = this.turn.apply({ x: flat.x - this.width / 2, y: flat.y - this.height / 2 })
    return { x: turned.x + this.width / 2, y: turned.y + this.height / 2 }
  }

  /**
   * A point of the window as if the picture were upright.
   * @param {Point} point CSS pixels
   * @returns {Point}
   */
  unturned(point) {
    if (this.turn.isIdentity) return point
    const flat = this.turn.undo({ x: point.x - this.width / 2, y: point.y - this.height / 2 })
    return { x: flat.x + this.width / 2, y: flat.y + this.height / 2 }
  }

  /**
   * At another scale; what is at the anchor, or in the middle, stays there.
   * @param {number} scale
   * @param {Point} [anchor] CSS pixels
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
   * With an image point in the middle.
   * @param {Point} center image pixels
   */
  centered(center) {
    return this.with({
      x: center.x * this.scale - this.width / 2,
      y: center.y * this.scale - this.height / 2,
    })
  }

  /**
   * With an image point at a point of the window.
   * @param {Point} image image pixels
   * @param {Point} point CSS pixels
   */
  placing(image, point) {
    const flat = this.unturned(point)
    return this.with({ x: image.x * this.scale - flat.x, y: image.y * this.scale - flat.y })
  }

  /**
   * Without a gap where the image is larger than the window, in the middle where it is smaller.
   * @param {Size} image pixels
   */
  clamped(image) {
    const { across, down } = this.offsets(image)
    return this.with({
      x: Math.min(Math.max(this.x, across.first), across.last),
      y: Math.min(Math.max(this.y, down.first), down.last),
    })
  }

  /**
   * The offsets without a gap, first and last of each axis.
   * @param {Size} image pixels
   */
  offsets(image) {
    const reach = this.turn.bounds(this.width, this.height)
    return {
      across: range(this.width, reach.width, image.width * this.scale),
      down: range(this.height, reach.height, image.height * this.scale),
    }
  }
}

/**
 * @param {number} window
 * @param {number} reach
 * @param {number} content
 */
function range(window, reach, content) {
  if (content <= reach) return { first: (content - window) / 2, last: (content - window) / 2 }
  return { first: (reach - window) / 2, last: content - (reach + window) / 2 }
}
