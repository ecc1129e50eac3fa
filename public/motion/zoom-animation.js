/**
 * An animation between two viewports. The offset is linear in the scale, which keeps one image point fixed on the screen.
 */
export class ZoomAnimation {
  constructor(from, destination, start, duration) {
    Object.assign(this, { from, destination, start, duration })
  }

  at(now) {
    const time = (now - this.start) / this.duration
    if (!(time < 1)) return { viewport: this.destination, done: true }
    const part = ease(Math.max(time, 0))
    const { from, destination: to } = this
    const ratio = to.scale / from.scale
    const scale = from.scale * ratio ** part
    const fraction = Math.abs(ratio - 1) < 1e-9 ? part : (scale - from.scale) / (to.scale - from.scale)
    const viewport = from.with({
      scale, x: from.x + (to.x - from.x) * fraction, y: from.y + (to.y - from.y) * fraction, rotation: to.rotation,
    })
    return { viewport, done: false }
  }
}

function ease(time) { return 1 - (1 - time) ** 3 }
