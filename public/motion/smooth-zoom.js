const LAG = 60 // ms to 1/e

/** A smooth wheel zoom. Its fixed image point is that of the first wheel event, so that steps do not accumulate drift. */
export class SmoothZoom {
  constructor(from, anchor, image, limits, now) {
    const { scale } = from
    Object.assign(this, { from, anchor, image, limits, point: from.imagePoint(anchor), scale, targetScale: scale, time: now })
  }

  view(scale) {
    return this.from.with({ scale }).placing(this.point, this.anchor).settled(this.image, this.limits, { anchor: this.anchor })
  }

  get destination() { return this.view(this.targetScale) }

  at(now) {
    const part = Math.exp(-Math.max(now - this.time, 0) / LAG)
    this.time = now
    const octaves = Math.log2(this.targetScale / this.scale) * part
    this.scale = this.targetScale / 2 ** octaves
    if (Math.abs(octaves) < 1e-3) {
      this.scale = this.targetScale
      return { viewport: this.destination, done: true }
    }
    return { viewport: this.view(this.scale), done: false }
  }
}
