import { Element } from '../viewer/element.js'
import { syncViewers } from './sync.js'

/** @typedef {import('../geometry/viewport.js').Viewport} Viewport */
/** @typedef {import('../geometry/types.js').Point} Point */

/** Where an element that is steered keeps its `ViewControl`. */
export const CONTROL = Symbol('control')

/** An element that takes over what a page set before the class was known: as own properties they would hide the class's. */
class UpgradedElement extends Element {
  #early = Object.entries(this)

  constructor() {
    super()
    for (const [name] of this.#early) delete this[name]
  }

  connectedCallback() {
    // The image first: a view is meant for it.
    const properties = this.#early.splice(0).sort(([name]) => name === 'src' ? -1 : 0)
    for (const [name, value] of properties) {
      try {
        this[name] = value
      } catch (error) { reportError(error) }
    }
  }
}

/** What programs say to a viewer about its view. */
export class ZoomableElement extends UpgradedElement {
  /**
   * Has a server make an image of a part of the one that is open, as the API's `copies` takes it; null where nobody may.
   * @type {((wish: object) => Promise<void>) | null}
   */
  saveCopy = null

  /**
   * What is seen, or null before an image is open.
   * @returns {Viewport | null}
   */
  get viewport() { return this[CONTROL].viewport }

  /**
   * Moves at once to another viewport, or to some of its parts: `{ scale, x, y }`. `rotation` may be degrees.
   * @param {Viewport | (Partial<Omit<Viewport, 'rotation'>> & { rotation?: Viewport['rotation'] | number }) | null} viewport
   */
  set viewport(viewport) {
    if (viewport) this[CONTROL].showParts(viewport)
  }

  /**
   * Where an image point, in image pixels, is shown: CSS pixels of the element; null before an image is open.
   * @param {Point} point
   * @returns {Point | null}
   */
  imageToElement(point) { return this.viewport?.viewportPoint(point) ?? null }

  /**
   * Which image point, in image pixels, is shown at a point of the element in its CSS pixels; null before an image is open.
   * @param {Point} point
   * @returns {Point | null}
   */
  elementToImage(point) { return this.viewport?.imagePoint(point) ?? null }

  /**
   * Keeps another viewer in step with this one, and this one with it.
   * @param {ZoomableElement} other
   * @returns {() => void} ends it
   */
  syncWith(other) { return syncViewers(this, other) }

  /**
   * Shows what another viewer leads to, in this very frame.
   * @param {any} view
   */
  follow(view) { this[CONTROL].follow(view) }

  /**
   * Shows the image whole, without a gap, as wide as the window or in its own pixels.
   * @param {import('../geometry/types.js').Fit} [fit]
   */
  fit(fit = 'contain') { this[CONTROL].fit(fit) }

  /**
   * Shows a rectangle of the image, in image pixels, as large as it fits into the element.
   * @param {import('../geometry/types.js').Rect} region
   */
  zoomToRegion(region) { this[CONTROL].zoomToRegion(region) }

  /**
   * Zooms to CSS pixels per image pixel; the image point under `point`, in CSS pixels of the element, stays there.
   * @param {number} scale
   * @param {Point} [point]
   */
  zoomTo(scale, point) { this[CONTROL].zoomTo(scale, point) }

  /**
   * Zooms by a factor; the image point under `point`, in CSS pixels of the element, stays there.
   * @param {number} factor
   * @param {Point} [point]
   */
  zoomBy(factor, point) { this[CONTROL].zoomBy(factor, point) }

  /**
   * Brings an image point, in image pixels, to the middle.
   * @param {Point} center
   */
  panTo(center) { this[CONTROL].panTo(center) }

  /**
   * Turns the picture clockwise, any number of degrees further.
   * @param {number} degrees
   */
  rotate(degrees) { this[CONTROL].rotate(degrees, false) }

  /** Mirrors the picture, left to right. */
  flip() { this[CONTROL].rotate(0, true) }

  /**
   * Moves the camera.
   * @param {(camera: any, now: number) => unknown} change answers false where it left it as it was
   * @param {'user' | 'program'} [cause]
   */
  change(change, cause) { this[CONTROL].change(change, cause) }
}
