const TIMING = { doubleTap: 300, longPress: 550, sample: 100, stale: 60 }
const SLOP = { mouse: 3, pen: 6, touch: 9 } // CSS px
const DOUBLE_TAP_REACH = 40

/**
 * A gesture recognizer of taps, drags, pinches, quick zooms and long presses. It has no clock: contacts contain the time in
 * ms, and `expire` must be called at `deadline`. A drag has one point and a pinch has two.
 */
export class Recognizer {
  constructor(handler) {
    Object.assign(this, { handler, contacts: new Map(), state: 'idle', first: null, lastTap: null, samples: [] })
  }

  get deadline() {
    if (this.state === 'pending' && this.first) return this.first.time + TIMING.longPress
    if (this.state === 'idle' && this.lastTap) return this.lastTap.time + TIMING.doubleTap
    return Infinity
  }

  down(contact) {
    if (this.contacts.size >= 2) return
    this.contacts.set(contact.id, contact)
    this.samples = []
    const last = this.lastTap
    if (this.contacts.size === 1) this.first = contact
    if (this.contacts.size === 2) {
      this.flushTap()
      this.state = 'holding'
    } else if (last && contact.time - last.time < TIMING.doubleTap
      && last.kind === contact.kind && distance(last, contact) < DOUBLE_TAP_REACH) {
      this.state = 'second'
    } else {
      this.flushTap()
      this.state = 'pending'
    }
    this.handler.grab(this.points())
  }

  move(contact) {
    const before = this.contacts.get(contact.id)
    if (!before || !this.first) return
    this.contacts.set(contact.id, contact)
    const hasMoved = distance(this.first, contact) > SLOP[contact.kind]
    if (this.state === 'pending' && hasMoved) this.state = 'holding'
    if (this.state === 'second' && hasMoved) {
      this.lastTap = null
      this.state = contact.kind === 'mouse' ? 'holding' : 'quick'
    }
    if (this.state === 'quick') this.handler.quickZoom(this.first, contact.y - this.first.y)
    if (this.state === 'holding') {
      this.sample(contact)
      this.handler.drag(this.points())
    }
  }

  up(contact) {
    if (!this.isLast(contact)) return
    const { state } = this
    this.state = 'idle'
    if (state === 'holding') this.handler.release(this.velocity(contact.time))
    else this.handler.release({ x: 0, y: 0 })
    if (state === 'pending') this.lastTap = { ...contact }
    if (state === 'second') {
      this.lastTap = null
      this.handler.doubleTap(contact)
    }
  }

  cancel(contact) {
    this.lastTap = null
    if (!this.isLast(contact)) return
    this.state = 'idle'
    this.handler.release({ x: 0, y: 0 }, true)
  }

  isLast(contact) {
    if (!this.contacts.delete(contact.id)) return false
    if (!this.contacts.size) return true
    this.first = [...this.contacts.values()][0]
    this.samples = []
    this.handler.grab(this.points())
    return false
  }

  expire(time) {
    if (time < this.deadline) return
    if (this.state === 'pending' && this.first) {
      const isMouse = this.first.kind === 'mouse'
      this.state = isMouse ? 'holding' : 'spent'
      if (!isMouse) this.handler.longPress(this.first)
    } else this.flushTap()
  }

  flushTap() {
    const tap = this.lastTap
    this.lastTap = null
    if (tap) this.handler.tap(tap)
  }

  points() { return [...this.contacts.values()] }

  sample(contact) {
    this.samples = this.samples.filter(({ time }) => contact.time - time <= TIMING.sample)
    this.samples.push(contact)
  }

  velocity(now) {
    const [first, last] = [this.samples[0], this.samples.at(-1)]
    if (!first || last.time - first.time < 10 || now - last.time > TIMING.stale) return { x: 0, y: 0 }
    const time = last.time - first.time
    return { x: (last.x - first.x) / time, y: (last.y - first.y) / time }
  }
}

function distance(a, b) { return Math.hypot(a.x - b.x, a.y - b.y) }
