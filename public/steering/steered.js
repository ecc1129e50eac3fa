import { Element } from '../viewer/element.js'
import { keepInStep } from './in-step.js'

/** Where an element that is steered keeps its `ViewControl`. */
export const CONTROL = Symbol('control')

/** What programs say to a viewer about its view. */
export class Steered extends Element {
  /**
   * What is seen, or null before an image is open.
   * @type {Viewport | null}
   */
  get viewport() { return this[CONTROL].viewport }

  /** Moves at once to another viewport, or to some of its parts: `{ scale, x, y }`. */
  set viewport(viewport) {
    if (viewport) this[CONTROL].showParts(viewport)
  }

  /** Where an image point, in image pixels, is shown: CSS pixels of the element; null before an image is open. */
  imageToElement(point) { return this.viewport?.viewportPoint(point) ?? null }

  /** Which image point, in image pixels, is shown at a point of the element in its CSS pixels; null before an image is open. */
  elementToImage(point) { return this.viewport?.imagePoint(point) ?? null }

  /**
   * Keeps another viewer in step with this one, and this one with it.
   * @returns {() => void} ends it
   */
  syncWith(other) { return keepInStep(this, other) }

  /** Shows what another viewer leads to, in this very frame. */
  follow(view) { this[CONTROL].follow(view) }

  /** Shows the image whole, without a gap, as wide as the window or in its own pixels. */
  fit(fit = 'contain') { this[CONTROL].fit(fit) }

  /** Zooms to CSS pixels per image pixel; the image point under `point`, in CSS pixels of the element, stays there. */
  zoomTo(scale, point) { this[CONTROL].zoomTo(scale, point) }

  /** Zooms by a factor; the image point under `point`, in CSS pixels of the element, stays there. */
  zoomBy(factor, point) { this[CONTROL].zoomBy(factor, point) }

  /** Brings an image point, in image pixels, to the middle. */
  panTo(center) { this[CONTROL].panTo(center) }

  /** Turns the picture clockwise, any number of degrees further. */
  rotate(degrees) { this[CONTROL].turn(degrees, false) }

  /** Mirrors the picture, left to right. */
  flip() { this[CONTROL].turn(0, true) }

  /** Moves the camera, as `user` or `program`. */
  change(change, cause) { this[CONTROL].change(change, cause) }
}
