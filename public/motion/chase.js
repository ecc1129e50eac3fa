import { settled } from './limits.js'

/** Time for the distance to the wanted scale to fall to 1/e, ms. */
const LAG = 60

/** The point is remembered from the first turn of the wheel: steps do not add up to a drift at an edge. */
export class Chase {
  constructor(from, anchor, image, limits, now) {
    this.from = from
    this.anchor = anchor
    this.image = image
    this.limits = limits
    this.point = from.imagePoint(anchor)
    this.scale = from.scale
    this.wanted = from.scale
    this.time = now
  }

  aim(scale) { this.wanted = scale }

  view(scale) {
    return settled(this.from.with({ scale }).placing(this.point, this.anchor), this.image, this.limits, this.anchor)
  }

  get destination() { return this.view(this.wanted) }

  at(now) {
    const part = Math.exp(-Math.max(now - this.time, 0) / LAG)
    this.time = now
    const octaves = Math.log2(this.wanted / this.scale) * part
    this.scale = this.wanted / 2 ** octaves
    if (Math.abs(octaves) < 1e-3) {
      this.scale = this.wanted
      return { viewport: this.destination, done: true }
    }
    return { viewport: this.view(this.scale), done: false }
  }
}
