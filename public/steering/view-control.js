import { FITS } from '../geometry/fit.js'
import { Turn } from '../geometry/turn.js'

/** What moves the picture goes through here, which tells of each move once and by whom it was made. */
export class ViewControl {
  /** @param {(cause: 'user' | 'program' | 'resize') => void} tell */
  constructor(stage, tell) {
    Object.assign(this, { stage, tell, cause: 'program', told: null, isPressed: false })
  }

  get camera() { return this.stage.camera }

  get viewport() { return this.camera?.viewport ?? null }

  /**
   * Moves the picture. Who does so from a program hears of it before this returns.
   * @param {(camera: import('../viewer/camera.js').Camera, now: number) => void | false} change answers false where it
   *   changed nothing; `now` is in ms, as `performance.now` has it
   */
  change(change, cause = this.isPressed ? 'user' : 'program') {
    if (!this.camera) return
    if (change(this.camera, performance.now()) === false) return
    this.cause = cause
    this.stage.disturb()
    if (cause === 'program') this.moved()
  }

  /** What is done meanwhile is done by the user, by a key or a button. */
  press(action) {
    this.isPressed = true
    try {
      action?.()
    } finally {
      this.isPressed = false
    }
  }

  /** Tells of the viewport, unless it has been told. */
  moved() {
    const { viewport } = this
    if (!viewport || viewport.equals(this.told)) return
    this.told = viewport
    this.tell(this.cause)
  }

  resize(window, device, ratio) {
    if (this.viewport?.width !== window.width || this.viewport?.height !== window.height) this.cause = 'resize'
    this.stage.resize(window, device, ratio)
  }

  /** Another picture follows. */
  forget() {
    this.told = null
    this.cause = 'program'
  }

  /** Nothing happens where this is shown already. */
  show(viewport) {
    const { camera } = this
    if (viewport && camera && (camera.motion || camera.isHeld || !viewport.equals(camera.viewport))) {
      this.change(() => camera.show(viewport))
    }
  }

  /** A view of a window of another size: its middle stays in the middle. */
  showParts({ width, height, ...view }) {
    const now = this.viewport
    if (!now) return
    const wanted = now.with(view)
    const moved = { x: (width ?? now.width) - now.width, y: (height ?? now.height) - now.height }
    this.show(wanted.with({ x: wanted.x + moved.x / 2, y: wanted.y + moved.y / 2 }))
  }

  /** Shows in this very frame what another viewer leads to: a scale, the image point in the middle and a turn. */
  follow({ scale, center, turn }) {
    this.show(this.viewport?.with({ scale, turn }).centered(center))
    if (this.stage.frame) this.stage.draw(performance.now())
  }

  fit(fit) {
    if (!FITS.includes(fit)) throw new RangeError(`not a fit: ${fit}; there are ${FITS.join(', ')}`)
    this.change((camera, now) => camera.fit(fit, now))
  }

  zoomTo(scale, point) { this.change((camera, now) => camera.zoomTo(scale, point, now)) }

  zoomBy(factor, point) {
    this.change((camera, now) => camera.zoomTo(camera.destination.scale * factor, point, now))
  }

  panTo(center) { this.change((camera, now) => camera.panTo(center, now)) }

  turn(by, flips) {
    this.change((camera) => {
      const { degrees, isFlipped } = camera.viewport.turn
      camera.turnTo(new Turn(degrees + by, isFlipped !== flips))
    })
  }
}
