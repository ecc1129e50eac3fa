import { FITS } from '../geometry/fit.js'
import { Rotation } from '../geometry/rotation.js'

/** Maximum number of changes that wait for an image. The oldest are dropped first. */
const MAX_PENDING = 1000

/** Controls all movement of the view. Each change is reported once, with its cause. */
export class ViewControl {
  /**
   * @param {import('../viewer/renderer.js').Renderer} renderer
   * @param {(cause: 'user' | 'program' | 'resize') => void} notify reports a change of the viewport
   * @param {() => boolean} isOpening whether another image is about to be shown
   */
  constructor(renderer, notify, isOpening) {
    Object.assign(this, { renderer, notify, isOpening, cause: 'program', reported: null, isUserAction: false, pending: [] })
  }

  get camera() { return this.renderer.camera }

  get viewport() { return this.camera?.viewport ?? null }

  /**
   * Changes the view. A program receives the event before this function returns.
   * @param {(camera: import('../viewer/camera.js').Camera, now: number) => void | false} change returns false if it changed
   *   nothing; `now` is the value of `performance.now()`, in ms
   */
  change(change, cause = this.isUserAction ? 'user' : 'program') {
    if (!this.camera) return
    if (change(this.camera, performance.now()) === false) return
    this.cause = cause
    this.renderer.cameraChanged()
    if (cause === 'program') this.notifyIfMoved()
  }

  /**
   * Changes the view for a program. While another image is loading, the change applies to that image and waits for it.
   * @param {(camera: import('../viewer/camera.js').Camera, now: number) => void} change
   */
  enqueue(change) {
    if (this.isUserAction || !this.isOpening()) this.change(change)
    else {
      this.pending.push(change)
      // A program may set the view in each frame while no image opens.
      if (this.pending.length > MAX_PENDING) this.pending.shift()
    }
  }

  /** Applies the waiting changes to the new image before it is first drawn. */
  applyPending() {
    const changes = this.pending.splice(0)
    for (const change of changes) {
      change(this.camera, performance.now())
      this.camera.finish()
    }
    // Programs wait for the end of the motion that they started.
    if (changes.length) this.renderer.cameraChanged()
  }

  /** Drops the waiting changes, because another image is opened instead. */
  discardPending() { this.pending.length = 0 }

  /** Runs a function whose changes are attributed to the user, such as that of a key or button. */
  runAsUser(action) {
    this.isUserAction = true
    try {
      action?.()
    } finally {
      this.isUserAction = false
    }
  }

  /** Reports the viewport if it differs from the last report. */
  notifyIfMoved() {
    const { viewport } = this
    if (!viewport || viewport.equals(this.reported)) return
    this.reported = viewport
    this.notify(this.cause)
  }

  resize(window, device, ratio) {
    const isResized = this.viewport?.width !== window.width || this.viewport?.height !== window.height
    // A motion that goes on after the resize keeps its cause.
    if (isResized && !this.camera?.motion) this.cause = 'resize'
    this.renderer.resize(window, device, ratio)
  }

  /** Prepares for another image. */
  reset() {
    this.reported = null
    this.cause = 'program'
  }

  /** Shows a view immediately. */
  show(viewport) { if (viewport) this.change((camera) => showViewport(camera, viewport)) }

  /**
   * Shows a view immediately. Missing parts are taken from the current view, or from the destination of its motion. If the
   * view has the size of another window, its center stays in the center.
   */
  showParts(parts) {
    if (typeof parts !== 'object') throw new TypeError(`viewport: must be an object, not ${typeof parts}`)
    const { width, height, turn, ...view } = parts
    // The name in version 0.1; supported until version 2.0.
    if (turn !== undefined) view.rotation ??= turn
    for (const part of ['scale', 'x', 'y']) if (part in view) checkNumber(`viewport: ${part}`, view[part])
    const rotate = 'rotation' in view ? parseRotation(view.rotation) : null
    if ('scale' in view && !(view.scale > 0)) throw new RangeError(`viewport: scale must be above 0, not ${view.scale}`)
    this.enqueue((camera) => {
      const before = camera.destination
      const wanted = before.with(rotate ? { ...view, rotation: rotate(before.rotation) } : view)
      const moved = { x: (width ?? before.width) - before.width, y: (height ?? before.height) - before.height }
      return showViewport(camera, wanted.with({ x: wanted.x + moved.x / 2, y: wanted.y + moved.y / 2 }))
    })
  }

  /** Shows the view of another viewer in the same frame: a scale, the image point in the center and a rotation. */
  follow({ scale, center, rotation }) {
    this.show(this.viewport?.with({ scale, rotation }).centered(center))
    if (this.renderer.frame) this.renderer.draw(performance.now())
  }

  fit(fit) {
    if (!FITS.includes(fit)) throw new RangeError(`fit: must be one of ${FITS.join(', ')}, not ${fit}`)
    this.enqueue((camera, now) => camera.fit(fit, now))
  }

  zoomTo(scale, point) {
    checkScale('zoomTo: scale', scale)
    if (point) checkPoint('zoomTo: point', point)
    this.enqueue((camera, now) => camera.zoomTo(scale, point, now))
  }

  zoomBy(factor, point) {
    checkScale('zoomBy: factor', factor)
    if (point) checkPoint('zoomBy: point', point)
    this.enqueue((camera, now) => camera.zoomTo(camera.destination.scale * factor, point, now))
  }

  zoomToRegion(region) {
    for (const part of ['x', 'y', 'width', 'height']) checkNumber(`zoomToRegion: ${part}`, region?.[part])
    this.enqueue((camera, now) => camera.zoomToRegion(region, now))
  }

  panTo(center) {
    checkPoint('panTo: center', center)
    this.enqueue((camera, now) => camera.panTo(center, now))
  }

  rotate(by, flips) {
    checkNumber('rotate: degrees', by)
    this.enqueue((camera, now) => {
      const { degrees, isFlipped } = camera.destination.rotation
      camera.rotateTo(new Rotation(degrees + by, isFlipped !== flips), now)
    })
  }
}

/** Shows a viewport. Does nothing if it is already shown. */
function showViewport(camera, viewport) {
  if (!camera.motion && !camera.isHeld && viewport.equals(camera.viewport)) return false
  camera.show(viewport)
}

/**
 * Throws a `TypeError` if a value is not a number. Infinity is allowed: the scale limits apply to it.
 * @param {string} name the method and parameter, for the message
 */
function checkScale(name, value) {
  if (typeof value !== 'number' || Number.isNaN(value)) throw new TypeError(`${name} must be a number, not ${value}`)
}

function checkNumber(name, value) {
  if (!Number.isFinite(value)) throw new TypeError(`${name} must be a finite number, not ${value}`)
}

/**
 * Parses a rotation of a viewport or of its JSON: degrees clockwise, and whether the image is mirrored first. A plain number
 * does not change the mirroring.
 * @returns {(current: Rotation) => Rotation}
 */
function parseRotation(value) {
  const degrees = value?.degrees ?? value
  checkNumber('viewport: rotation', degrees)
  return (current) => new Rotation(degrees, value === degrees ? current.isFlipped : value.isFlipped === true)
}

function checkPoint(name, point) {
  for (const part of ['x', 'y']) checkNumber(`${name}.${part}`, point?.[part])
}
