import { bounds } from '../geometry/bounds.js'

const LONGEST = 140 // CSS px

/**
 * The part of an image that a view shows.
 * @returns {[number, number, number, number]} left, top, right and bottom, whole image pixels
 */
export function seenPart(source, viewport) {
  const { width, height } = source.pyramid.imageSize
  const seen = bounds(viewport.corners)
  const within = (value, side) => Math.min(Math.max(Math.round(value), 0), side)
  return [within(seen.x, width), within(seen.y, height),
    within(seen.x + seen.width, width), within(seen.y + seen.height, height)]
}

/** A view, for who hears it: its scale by the device's pixels, and where its middle lies in the picture. */
export function describeView(source, viewport, ratio, say) {
  const { x, y } = viewport.imageCenter
  const { width, height } = source.pyramid.imageSize
  return say('spoken', {
    scale: percent(viewport.scale * ratio), across: Math.round(x / width * 100), down: Math.round(y / height * 100),
  })
}

/**
 * A ruler: the longest round length that is short enough.
 * @param {number} micronsPerPixel of the image
 * @param {number} scale CSS pixels an image pixel
 * @param {import('../text/language.js').Say} say
 * @returns {{ length: number, words: string }} CSS pixels; what they are
 */
export function scaleBar(micronsPerPixel, scale, say) {
  const most = LONGEST * micronsPerPixel / scale
  const power = 10 ** Math.floor(Math.log10(most))
  const microns = power * (most / power >= 5 ? 5 : most / power >= 2 ? 2 : 1)
  return { length: microns * scale / micronsPerPixel, words: formatLength(microns, say) }
}

/**
 * A length as one says it.
 * @param {number} microns
 * @param {import('../text/language.js').Say} say the words of `reading`
 */
export function formatLength(microns, say) {
  if (microns < 1) return say('nanometres', { value: microns * 1e3 })
  if (microns < 1e3) return say('micrometres', { value: microns })
  return microns < 1e6 ? say('millimetres', { value: microns / 1e3 }) : say('metres', { value: microns / 1e6 })
}

/** A scale in percent, no finer than one reads it. @param {number} scale */
export function percent(scale) {
  const value = scale * 100
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(2))
}
