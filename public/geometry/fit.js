import { Turn } from './turn.js'

/** How an image may fill a window: whole, without a gap, as wide, in its own pixels. */
export const FITS = ['contain', 'cover', 'width', 'none']

export function fitScale(fit, image, window, turn = new Turn()) {
  if (!FITS.includes(fit)) throw new RangeError(`not a fit: ${fit}; there are ${FITS.join(', ')}`)
  if (fit === 'none') return 1
  if (fit === 'cover') {
    const reach = turn.bounds(window.width, window.height)
    return Math.max(reach.width / image.width, reach.height / image.height)
  }
  const seen = turn.bounds(image.width, image.height)
  if (fit === 'width') return window.width / seen.width
  return Math.min(window.width / seen.width, window.height / seen.height)
}

export function defaultLimits(image, window, turn = new Turn()) {
  const minimum = fitScale('contain', image, window, turn)
  return { minimum, maximum: Math.max(1, 16 * minimum) }
}

export function limited(scale, limits) {
  return Math.min(Math.max(scale, limits.minimum), limits.maximum)
}
