import { defaultLimits, fitScale, limited } from '../geometry/fit.js'
import { Rotation } from '../geometry/rotation.js'
import { Viewport } from '../geometry/viewport.js'
import { angle, distance, midpoint } from '../gestures/pointer-math.js'
import { InertialPan } from '../motion/inertia.js'
import { SmoothZoom } from '../motion/smooth-zoom.js'
import { ZoomAnimation } from '../motion/zoom-animation.js'
import { isPanorama } from './zoom-levels.js'

const FLY_DURATION = 260 // ms
const WHEEL_PAUSE = 800 // ms
const QUICK_ZOOM = 110 // CSS px to double the scale

/** The view of an image and its movement by gestures, keys and programs, in CSS pixels of the window and milliseconds. */
export class Camera {
  #dragState = null
  #quickZoomStart = null
  #wheelZoom = { zoom: null, time: -Infinity, shown: null }

  constructor(image, window, options = {}) {
    this.image = image
    this.options = options
    this.fitMode = 'contain'
    this.ratio = 1 // device pixels per CSS pixel
    this.viewport = Viewport.fitting(image, 'contain', window)
    if (isPanorama(image, window)) {
      this.fitMode = null
      const cover = Math.min(fitScale('cover', image, window), 1)
      // A strip is shown from its start.
      this.viewport = this.#clampToLimits(this.viewport.with({ scale: cover, x: 0, y: 0 }))
    }
    this.motion = null
    /** The distance in CSS pixels by which a drag is past the left (> 0) or right (< 0) edge. */
    this.pull = 0
  }

  get window() { return this.viewport }

  get limits() { return this.limitsOf(this.viewport) }

  /** Returns the scale limits for the size and rotation of a viewport. */
  limitsOf(viewport) {
    const limits = defaultLimits(this.image, viewport, viewport.rotation)
    const minimum = this.options.minScale ?? limits.minimum
    // On every screen, at least one device pixel per image pixel is permitted.
    const maximum = this.options.maxScale ?? Math.max(limits.maximum, 1 / this.ratio)
    return { minimum, maximum: Math.max(maximum, minimum) }
  }

  get destination() { return this.motion ? this.motion.destination : this.viewport }

  get isOutside() { return !same(this.#clampToLimits(this.viewport), this.viewport) }

  /**
   * Whether the image is larger than the window along an axis of the screen, at its current rotation.
   * @param {number} x nonzero for the horizontal axis, 0 for the vertical one
   */
  hasRoom(x) {
    const { rotation, scale, width, height } = this.destination
    const bounds = rotation.bounds(this.image.width * scale, this.image.height * scale)
    return x !== 0 ? bounds.width > width + 0.5 : bounds.height > height + 0.5
  }

  get isHeld() { return this.#dragState !== null }

  advance(now) {
    if (!this.motion) return false
    const { viewport, done } = this.motion.at(now)
    this.viewport = viewport
    if (this.motion === this.#wheelZoom.zoom) this.#wheelZoom.shown = viewport
    if (done) this.motion = null
    return true
  }

  resize(window, now) {
    const { viewport } = this
    if (viewport.width === window.width && viewport.height === window.height) return
    this.reshape(window, now)
  }

  /**
   * Applies another rotation or size of the window immediately. A motion continues to its destination, which changes
   * likewise.
   * @param {{ rotation?: Rotation, width?: number, height?: number }} parts
   * @param {number} [now] ms; required if the view may be in motion
   */
  reshape({ rotation, ...window }, now) {
    const { pull, motion } = this
    const dragState = this.#dragState
    const reshaped = (viewport) => viewport.with({ rotation: rotation ?? viewport.rotation }).resized(window)
    const fitMode = this.fitMode === 'none' ? null : this.fitMode
    const before = this.destination
    const fit = fitMode ?? (before.scale <= this.limitsOf(before).minimum * 1.0001 && 'contain')
    const after = reshaped(before)
    const end = fit ? this.#fitted(fit, after) : this.#clampToLimits(after)
    this.stop()
    this.#dragState = null
    this.viewport = motion ? reshaped(this.viewport) : end
    if (motion) this.#flyTo(end, now)
    // Fingers that are down continue the drag.
    if (dragState) this.grab(dragState.last, pull)
  }

  /** Restores the view of another camera of the same image, possibly in another window: its fit, or the same center. */
  restore({ viewport, fitMode }) {
    const { width, height } = this.window
    this.stop()
    this.viewport = viewport
    this.fitMode = fitMode
    this.reshape({ width, height })
  }

  /** Shows a region of the image, in image pixels, as large as the window permits. */
  showRegion(rect) { this.show(this.viewport.zoomed(rect)) }

  /** Returns the scale of a fit in CSS pixels per image pixel. At the original size, an image pixel is a device pixel. */
  scaleOf(fit, viewport = this.viewport) {
    return fit === 'none' ? 1 / this.ratio : fitScale(fit, this.image, viewport, viewport.rotation)
  }

  /** Returns a viewport with the scale of a fit. */
  #fitted(fit, viewport) {
    const scale = limited(this.scaleOf(fit, viewport), this.limitsOf(viewport))
    // The original size keeps the center of the view.
    const center = fit === 'none' ? viewport.imageCenter : { x: this.image.width / 2, y: this.image.height / 2 }
    return viewport.with({ scale }).centered(center).clamped(this.image)
  }

  #clampToLimits(viewport, anchor) { return viewport.settled(this.image, this.limitsOf(viewport), { anchor }) }

  show(viewport) {
    this.stop()
    this.fitMode = null
    this.viewport = this.#clampToLimits(viewport)
  }

  /** Applies other limits immediately. */
  limit(options, now) {
    Object.assign(this.options, options)
    this.reshape({}, now)
  }

  centerOn(center) { this.show(this.destination.centered(center)) }

  #flyTo(viewport, now) {
    this.#dragState = null
    if (this.options.reducedMotion) {
      this.motion = null
      this.viewport = viewport
    } else this.motion = new ZoomAnimation(this.viewport, viewport, now, FLY_DURATION)
  }

  fit(fit, now) {
    const fitted = this.#fitted(fit, this.destination)
    this.fitMode = fit
    this.#flyTo(fitted, now)
  }

  /**
   * Zooms to a scale.
   * @param {Viewport} [from] the viewport in which `point` is converted to an image point (default: the destination of the
   *   motion)
   */
  zoomTo(scale, point, now, from = this.destination) {
    this.fitMode = null
    this.#flyTo(this.#clampToLimits(from.scaled(limited(scale, this.limitsOf(from)), point), point), now)
  }

  zoomToRegion(region, now) {
    this.fitMode = null
    const destination = this.destination
    this.#flyTo(this.#clampToLimits(destination.zoomed(region, this.limitsOf(destination))), now)
  }

  panTo(center, now) {
    this.fitMode = null
    this.#flyTo(this.#clampToLimits(this.destination.centered(center)), now)
  }

  panBy(x, y, now) {
    const { width, height } = this.window
    this.panTo(this.destination.imagePoint({ x: width / 2 + x, y: height / 2 + y }), now)
  }

  rotateTo(rotation, now) { this.reshape({ rotation }, now) }

  /** Ends a motion at the current view. */
  stop() { this.motion = null }

  /** Ends a motion at its destination. */
  finish() {
    this.viewport = this.destination
    this.stop()
  }

  /**
   * Starts a drag.
   * @param {number} pull the distance of the drag past an edge so far, in CSS pixels
   */
  grab(points, pull = 0) {
    this.stop()
    const middle = midpoint(points)
    const within = this.viewport.withoutRubberBand(this.image, this.limits, { anchor: middle })
    const past = within.rotation.undo({ x: pull, y: 0 })
    const start = within.with({ x: within.x - past.x, y: within.y - past.y })
    // If one of two fingers lifts, the scale springs back around their last midpoint.
    const anchor = points.length === 1 && this.#dragState?.points.length === 2 ? this.#dragState.anchor : middle
    this.pull = pull
    this.#dragState = { points, start, image: start.imagePoint(middle), anchor, last: points }
    this.#quickZoomStart = null
  }

  /** Moves the image with one finger, or pinch-zooms with two. */
  drag(points) {
    const dragState = this.#dragState
    if (!dragState || points.length !== dragState.points.length) return
    dragState.last = points
    const middle = dragState.anchor = midpoint(points)
    let target = dragState.start
    if (points.length === 2) target = this.#pinch(dragState, points)
    target = target.placing(dragState.image, middle)
    if (points.length === 1 && this.options.paging) target = this.#pulled(target)
    this.viewport = target.rubberBanded(this.image, this.limitsOf(target), { anchor: middle, isZooming: points.length === 2 })
  }

  /** Returns the viewport of a pinch zoom: its scale, and its rotation if two fingers may rotate. */
  #pinch({ start, points: first }, points) {
    this.fitMode = null
    const scale = start.scale * distance(points) / Math.max(distance(first), 1)
    const { degrees, isFlipped } = start.rotation
    const rotation = this.options.twoFingerRotation
      ? new Rotation(degrees + angle(points) - angle(first), isFlipped) : start.rotation
    return start.with({ scale, rotation })
  }

  #pulled(target) {
    const inside = target.clamped(this.image)
    const past = target.rotation.apply({ x: inside.x - target.x, y: inside.y - target.y })
    this.pull = Math.abs(past.x) < 1e-6 ? 0 : past.x
    const back = target.rotation.undo({ x: this.pull, y: 0 })
    return target.with({ x: target.x + back.x, y: target.y + back.y })
  }

  release(velocity, now) {
    const { pull, viewport } = this
    const dragState = this.#dragState
    this.#dragState = this.#quickZoomStart = null
    this.pull = 0
    if (!dragState || pull !== 0) {
      if (dragState) this.#flyTo(this.#clampToLimits(viewport), now)
      return
    }
    const target = this.#clampToLimits(viewport, dragState.anchor)
    const isOutside = target.scale !== viewport.scale
    if (this.options.reducedMotion || isOutside) {
      if (!same(target, viewport)) this.#flyTo(target, now)
      return
    }
    const velocityInImage = viewport.rotation.undo(velocity)
    if (!same(target, viewport) || Math.hypot(velocityInImage.x, velocityInImage.y) > 0.05) {
      if (Math.hypot(velocityInImage.x, velocityInImage.y) > 0.05) this.fitMode = null
      this.motion = new InertialPan(viewport, { x: -velocityInImage.x, y: -velocityInImage.y }, this.image, now)
    }
  }

  /**
   * Zooms by a wheel, or by a trackpad pinch, which the image follows immediately.
   * @param {{ x: number, y: number }} point CSS pixels; the image point there stays in place
   * @param {number} factor
   * @param {number} now ms
   */
  wheel(point, factor, now, isPinch = false) {
    this.#dragState = null
    this.fitMode = null
    const { zoom: last, time, shown } = this.#wheelZoom
    const isContinued = last && now - time < WHEEL_PAUSE && Math.hypot(last.anchor.x - point.x, last.anchor.y - point.y) <= 1
      && (this.motion === last || this.viewport === shown)
    const zoom = isContinued ? last : new SmoothZoom(this.viewport, point, this.image, this.limits, now)
    zoom.targetScale = limited(zoom.targetScale * factor, this.limits)
    if (this.motion !== zoom) zoom.time = now
    const isImmediate = this.options.reducedMotion || isPinch
    this.motion = isImmediate ? null : zoom
    if (isImmediate) this.viewport = zoom.view(zoom.scale = zoom.targetScale)
    this.#wheelZoom = { zoom, time: now, shown: this.viewport }
  }

  /**
   * Pans by CSS pixels, within the image, for a trackpad, whose events include momentum.
   * @returns {boolean} whether the view changed
   */
  scroll(x, y) {
    // Momentum from an earlier gesture must not disturb an animation.
    if (this.motion && !(this.motion instanceof InertialPan)) return false
    const moved = this.#panned(x, y)
    if (same(moved, this.viewport)) return false
    this.stop()
    this.#dragState = this.fitMode = null
    this.viewport = moved
    return true
  }

  /** Whether the image continues in a direction: -1, 0 or 1 on each axis. */
  canPan(x, y) { return !same(this.#panned(x, y), this.viewport) }

  #panned(x, y) {
    const { viewport } = this
    const offset = viewport.rotation.undo({ x, y })
    return viewport.with({ x: viewport.x + offset.x, y: viewport.y + offset.y }).clamped(this.image)
  }

  doubleTap(point, now) {
    const { minimum } = this.limits
    if (this.viewport.scale > minimum * 1.01) this.fit('contain', now)
    else this.zoomTo(this.doubleTapScale, point, now, this.viewport)
  }

  /** The scale of a double tap: the original size, but neither almost the current scale nor a disorienting change. */
  get doubleTapScale() {
    const fit = fitScale('contain', this.image, this.window, this.viewport.rotation)
    return limited(this.options.doubleTapScale ?? Math.min(Math.max(1, 2.5 * fit), 6 * fit), this.limits)
  }

  quickZoom(anchor, travel) {
    this.fitMode = null
    this.#quickZoomStart ??= { from: this.viewport, anchor }
    const { from } = this.#quickZoomStart
    const target = from.scaled(from.scale * 2 ** (travel / QUICK_ZOOM), anchor)
    this.viewport = target.rubberBanded(this.image, this.limits, { anchor, isZooming: true })
  }
}

function same(a, b) { return Math.hypot(a.x - b.x, a.y - b.y, a.scale / b.scale - 1) < 1e-6 }
