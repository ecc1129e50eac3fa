import { Rotation } from './rotation.js'

/** @typedef {import('./types.js').Fit} Fit */
/** @typedef {import('./types.js').Limits} Limits */
/** @typedef {import('./types.js').Size} Size */

/** The ways to fit an image into a window: all of it, without a gap, by its width, in its own pixels. */
export const FITS = /** @type {Fit[]} */ (['contain', 'cover', 'width', 'none'])

/**
 * Returns the scale at which an image fits a window, in CSS pixels per image pixel.
 * @param {Fit} fit
 * @param {Size} image pixels
 * @param {Size} window CSS pixels
 * @param {Rotation} [rotation]
 */
export function fitScale(fit, image, window, rotation = new Rotation()) {
  if (!FITS.includes(fit)) throw new RangeError(`not a fit: ${fit}; there are ${FITS.join(', ')}`)
  if (fit === 'none') return 1
  if (fit === 'cover') {
    const reach = rotation.bounds(window.width, window.height)
    return Math.max(reach.width / image.width, reach.height / image.height)
  }
  const bounds = rotation.bounds(image.width, image.height)
  if (fit === 'width') return window.width / bounds.width
  return Math.min(window.width / bounds.width, window.height / bounds.height)
}

/**
 * Returns the default zoom limits: out to the whole image, and in to 16 times that scale or full resolution.
 * @param {Size} image pixels
 * @param {Size} window CSS pixels
 * @param {Rotation} [rotation]
 * @returns {Limits}
 */
export function defaultLimits(image, window, rotation = new Rotation()) {
  const minimum = fitScale('contain', image, window, rotation)
  return { minimum, maximum: Math.max(1, 16 * minimum) }
}

/**
 * Clamps a scale to limits.
 * @param {number} scale
 * @param {Limits} limits
 */
export function limited(scale, limits) {
  return Math.min(Math.max(scale, limits.minimum), limits.maximum)
}
