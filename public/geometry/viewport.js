// Sources/TileGeometry, word for word: what each value means stands there.

import { Turn } from './turn.js'
import { fitScale } from './fit.js'

export class Viewport {
  constructor({ width, height, scale, x, y, turn = new Turn() }) {
    if (!(width > 0 && height > 0 && scale > 0 && Number.isFinite(x + y))) {
      throw new RangeError(`not a viewport: ${width}×${height} at ${scale}, ${x}, ${y}`)
    }
    Object.assign(this, { width, height, scale, x, y, turn })
  }

  static fitting(image, fit, window, turn = new Turn()) {
    const { width, height } = window
    const scale = fitScale(fit, image, window, turn)
    const x = (image.width * scale - width) / 2
    const y = (image.height * scale - height) / 2
    return new Viewport({ width, height, scale, x, y, turn })
  }

  with(parts) { return new Viewport({ ...this, ...parts }) }

  /** Whether another viewport, or none, shows the same part of the image in a window of the same size. */
  equals(other) {
    return other !== null && ['width', 'height', 'scale', 'x', 'y'].every((name) => this[name] === other[name])
      && this.turn.degrees === other.turn.degrees && this.turn.isFlipped === other.turn.isFlipped
  }

  get imageCenter() {
    return { x: (this.x + this.width / 2) / this.scale, y: (this.y + this.height / 2) / this.scale }
  }

  get corners() {
    const { width, height } = this
    return [[0, 0], [width, 0], [width, height], [0, height]].map(([x, y]) => this.imagePoint({ x, y }))
  }

  imagePoint(point) {
    const flat = this.unturned(point)
    return { x: (this.x + flat.x) / this.scale, y: (this.y + flat.y) / this.scale }
  }

  viewportPoint(point) {
    const flat = { x: point.x * this.scale - this.x, y: point.y * this.scale - this.y }
    if (this.turn.isIdentity) return flat
    const turned = this.turn.apply({ x: flat.x - this.width / 2, y: flat.y - this.height / 2 })
    return { x: turned.x + this.width / 2, y: turned.y + this.height / 2 }
  }

  unturned(point) {
    if (this.turn.isIdentity) return point
    const flat = this.turn.undo({ x: point.x - this.width / 2, y: point.y - this.height / 2 })
    return { x: flat.x + this.width / 2, y: flat.y + this.height / 2 }
  }

  scaled(scale, anchor) {
    if (scale === this.scale) return this
    const point = anchor ? this.unturned(anchor) : { x: this.width / 2, y: this.height / 2 }
    return this.with({
      scale,
      x: (this.x + point.x) / this.scale * scale - point.x,
      y: (this.y + point.y) / this.scale * scale - point.y,
    })
  }

  centered(center) {
    return this.with({
      x: center.x * this.scale - this.width / 2,
      y: center.y * this.scale - this.height / 2,
    })
  }

  placing(image, point) {
    const flat = this.unturned(point)
    return this.with({ x: image.x * this.scale - flat.x, y: image.y * this.scale - flat.y })
  }

  clamped(image) {
    const { across, down } = this.offsets(image)
    return this.with({
      x: Math.min(Math.max(this.x, across.first), across.last),
      y: Math.min(Math.max(this.y, down.first), down.last),
    })
  }

  offsets(image) {
    const reach = this.turn.bounds(this.width, this.height)
    return {
      across: range(this.width, reach.width, image.width * this.scale),
      down: range(this.height, reach.height, image.height * this.scale),
    }
  }
}

function range(window, reach, content) {
  if (content <= reach) return { first: (content - window) / 2, last: (content - window) / 2 }
  return { first: (reach - window) / 2, last: content - (reach + window) / 2 }
}
