// @ts-check
import { wholePixels } from './frame.js'

/**
 * The address of a crop at full resolution: IIIF region, size, rotation, quality, format. A mirrored
 * picture is asked for mirrored, which IIIF does before it turns, as the viewer does.
 * @param {string} service the image's IIIF address: its info.json or what stands before it
 * @param {import('../geometry/pyramid.js').Rect} frame image space
 * @param {import('../geometry/pyramid.js').Size} image
 * @param {import('../geometry/turn.js').Turn} turn
 * @param {'jpg' | 'png' | 'webp'} format
 */
export function cropAddress(service, frame, image, turn, format) {
  const base = service.replace(/\/info\.json$/, '').replace(/\/$/, '')
  const { x, y, width, height } = wholePixels(frame, image)
  const isWhole = width === image.width && height === image.height
  const size = base.includes('/iiif/2/') ? 'full' : 'max'
  const rotation = `${turn.isFlipped ? '!' : ''}${Math.round(turn.degrees * 100) / 100}`
  return `${base}/${isWhole ? 'full' : `${x},${y},${width},${height}`}/${size}/${rotation}/default.${format}`
}
