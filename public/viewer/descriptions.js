import { bounds } from '../geometry/bounds.js'

const MAX_LENGTH = 140 // CSS px

/**
 * Returns the part of an image that a viewport shows.
 * @returns {[number, number, number, number]} left, top, right and bottom, whole image pixels
 */
export function visibleRegion(source, viewport) {
  const { width, height } = source.pyramid.imageSize
  const visible = bounds(viewport.corners)
  const within = (value, side) => Math.min(Math.max(Math.round(value), 0), side)
  return [within(visible.x, width), within(visible.y, height),
    within(visible.x + visible.width, width), within(visible.y + visible.height, height)]
}

/** Describes a view for screen readers: its scale in device pixels, and the position of its center in the image. */
export function describeView(source, viewport, ratio, t) {
  const { x, y } = viewport.imageCenter
  const { width, height } = source.pyramid.imageSize
  return t('spoken', {
    scale: percent(viewport.scale * ratio), across: Math.round(x / width * 100), down: Math.round(y / height * 100),
  })
}

/**
 * Returns a scale bar: the longest round length that fits.
 * @param {number} micronsPerPixel microns per image pixel
 * @param {number} scale CSS pixels per image pixel
 * @param {import('../i18n/translator.js').Translate} t
 * @returns {{ length: number, text: string }} the length in CSS pixels, and the text
 */
export function scaleBar(micronsPerPixel, scale, t) {
  const maxMicrons = MAX_LENGTH * micronsPerPixel / scale
  const power = 10 ** Math.floor(Math.log10(maxMicrons))
  const microns = power * (maxMicrons / power >= 5 ? 5 : maxMicrons / power >= 2 ? 2 : 1)
  return { length: microns * scale / micronsPerPixel, text: formatLength(microns, t) }
}

/**
 * Formats a length with a suitable unit.
 * @param {number} microns
 * @param {import('../i18n/translator.js').Translate} t the messages of the group `viewer`
 */
export function formatLength(microns, t) {
  if (microns < 1) return t('nanometres', { value: microns * 1e3 })
  if (microns < 1e3) return t('micrometres', { value: microns })
  return microns < 1e6 ? t('millimetres', { value: microns / 1e3 }) : t('metres', { value: microns / 1e6 })
}

/**
 * Returns a scale in percent, rounded to two digits below 100.
 * @param {number} scale
 */
export function percent(scale) {
  const value = scale * 100
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(2))
}
