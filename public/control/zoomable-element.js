import { Element } from '../viewer/dom.js'
import { syncViewers } from './sync.js'

/** @typedef {import('../geometry/viewport.js').Viewport} Viewport */
/** @typedef {import('../geometry/types.js').Point} Point */

/** The property of a zoomable element that holds its `ViewControl`. */
export const CONTROL = Symbol('control')

/**
 * An element that applies properties that were set before its class was defined. As own properties, they would hide those of
 * the class.
 */
class UpgradedElement extends Element {
  #presetProperties = Object.entries(this)

  constructor() {
    super()
    for (const [name] of this.#presetProperties) delete this[name]
  }

  connectedCallback() {
    // The image first, because a view applies to it.
    const properties = this.#presetProperties.splice(0).sort(([name]) => name === 'src' ? -1 : 0)
    for (const [name, value] of properties) {
      try {
        this[name] = value
      } catch (error) { reportError(error) }
    }
  }
}

/** The methods and properties by which programs control a viewer's view. */
export class ZoomableElement extends UpgradedElement {
  /**
   * Saves a part of the open image as a new image on the server. The parameter is the body of the API's `copies`. Null if
   * the user may not do so.
   * @type {((request: object) => Promise<void>) | null}
   */
  saveCopy = null

  /**
   * The current viewport; null before an image is open.
   * @returns {Viewport | null}
   */
  get viewport() { return this[CONTROL].viewport }

  /**
   * Moves immediately to another viewport, or changes some of its parts: `{ scale, x, y }`. `rotation` may be a number of
   * degrees.
   * @param {Viewport | (Partial<Omit<Viewport, 'rotation'>> & { rotation?: Viewport['rotation'] | number }) | null} viewport
   * @throws {TypeError} if it is not an object, or if a part is not a finite number
   * @throws {RangeError} if the scale is not above 0
   */
  set viewport(viewport) {
    if (viewport) this[CONTROL].showParts(viewport)
  }

  /**
   * Converts an image point, in image pixels, to CSS pixels of the element. Returns null before an image is open.
   * @param {Point} point
   * @returns {Point | null}
   */
  imageToElement(point) { return this.viewport?.viewportPoint(point) ?? null }

  /**
   * Converts a point of the element, in its CSS pixels, to image pixels. Returns null before an image is open.
   * @param {Point} point
   * @returns {Point | null}
   */
  elementToImage(point) { return this.viewport?.imagePoint(point) ?? null }

  /**
   * Synchronizes another viewer with this one, in both directions.
   * @param {ZoomableElement} other
   * @returns {() => void} a function that ends the synchronization
   */
  syncWith(other) { return syncViewers(this, other) }

  /**
   * Shows the view of another viewer in the same frame.
   * @param {any} view
   */
  follow(view) { this[CONTROL].follow(view) }

  /**
   * Fits the image into the element: `contain` shows all of it, `cover` leaves no gap, `width` fits its width, and `none`
   * shows one image pixel per device pixel.
   * @param {import('../geometry/types.js').Fit} [fit]
   * @throws {RangeError} if the fit does not exist
   */
  fit(fit = 'contain') { this[CONTROL].fit(fit) }

  /**
   * Shows a rectangle of the image, in image pixels, as large as the element permits.
   * @param {import('../geometry/types.js').Rect} region
   * @throws {TypeError} if a part is not a finite number
   */
  zoomToRegion(region) { this[CONTROL].zoomToRegion(region) }

  /**
   * Zooms to a scale in CSS pixels per image pixel. The image point under `point`, in CSS pixels of the element, stays in
   * place.
   * @param {number} scale clamped to the limits; may be infinite
   * @param {Point} [point] the center by default
   * @throws {TypeError} if the scale is not a number, or a coordinate is not finite
   */
  zoomTo(scale, point) { this[CONTROL].zoomTo(scale, point) }

  /**
   * Zooms by a factor. The image point under `point`, in CSS pixels of the element, stays in place.
   * @param {number} factor
   * @param {Point} [point] the center by default
   * @throws {TypeError} if the factor is not a number, or a coordinate is not finite
   */
  zoomBy(factor, point) { this[CONTROL].zoomBy(factor, point) }

  /**
   * Moves an image point, in image pixels, to the center.
   * @param {Point} center
   * @throws {TypeError} if a coordinate is not finite
   */
  panTo(center) { this[CONTROL].panTo(center) }

  /**
   * Rotates the image clockwise by any number of degrees.
   * @param {number} degrees
   * @throws {TypeError} if it is not a finite number
   */
  rotate(degrees) { this[CONTROL].rotate(degrees, false) }

  /** Mirrors the image horizontally. */
  flip() { this[CONTROL].rotate(0, true) }

  /**
   * Applies a change to the camera.
   * @param {(camera: any, now: number) => unknown} change returns false if it changed nothing; `now` is in ms
   * @param {'user' | 'program'} [cause]
   */
  change(change, cause) { this[CONTROL].change(change, cause) }
}
