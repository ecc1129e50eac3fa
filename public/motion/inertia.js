const FADE = 325 // ms to 1/e
const STIFFNESS = 0.012 // 1/ms, critically damped
const STILL = 0.25 // CSS px

/**
 * The inertial motion of one coordinate after a flick. It slows down; if it reaches the end of its range, it overshoots
 * and springs back. Positions are in CSS pixels, times in milliseconds since the start.
 */
export class InertiaAxis {
  constructor(position, velocity, range) {
    this.position = position
    this.velocity = velocity
    const outside = position < range.low || position > range.high
    const forward = outside ? position > range.high : velocity > 0
    const edge = forward ? range.high : range.low
    const part = velocity === 0 ? Infinity : (edge - position) / (velocity * FADE)
    this.met = outside ? 0 : part < 1 ? -FADE * Math.log(1 - part) : Infinity
    this.edge = edge
    this.destination = this.met < Infinity ? edge : position + velocity * FADE
  }

  at(elapsed) {
    const free = Math.min(elapsed, this.met)
    const fade = Math.exp(-free / FADE)
    const position = this.position + this.velocity * FADE * (1 - fade)
    if (elapsed <= this.met) {
      const rest = Math.abs(this.velocity) * FADE * fade
      return rest < STILL && this.met === Infinity ? { position: this.destination, done: true } : { position, done: false }
    }
    const { edge } = this
    const time = elapsed - this.met
    const away = position - edge
    const speed = this.velocity * fade
    const swing = (away + (speed + STIFFNESS * away) * time) * Math.exp(-STIFFNESS * time)
    if (Math.abs(swing) < STILL && time * STIFFNESS > 2) return { position: edge, done: true }
    return { position: edge + swing, done: false }
  }
}

/** The inertial motion of a viewport: one `InertiaAxis` for each coordinate, within the permitted offsets. */
export class InertialPan {
  constructor(viewport, velocity, image, start) {
    const offsets = viewport.permittedOffsets(image)
    this.viewport = viewport
    this.start = start
    this.x = new InertiaAxis(viewport.x, velocity.x, offsets.x)
    this.y = new InertiaAxis(viewport.y, velocity.y, offsets.y)
  }

  get destination() { return this.viewport.with({ x: this.x.destination, y: this.y.destination }) }

  at(now) {
    const x = this.x.at(now - this.start)
    const y = this.y.at(now - this.start)
    return { viewport: this.viewport.with({ x: x.position, y: y.position }), done: x.done && y.done }
  }
}
