import { Element } from '../viewer/element.js'
import { syncViewers } from './sync.js'

/** @typedef {import('../geometry/viewport.js').Viewport} Viewport */
/** @typedef {import('../geometry/types.js').Point} Point */

/** Where an element that is steered keeps its `ViewControl`. */
export const CONTROL = Symbol('control')

/** What programs say to a viewer about its view. */
export class ZoomableElement extends Element {
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
   * Moves at once to another viewport, or to some of its parts: `{ scale, x, y }`.
   * @param {Viewport | Partial<Viewport> | null} viewport
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
