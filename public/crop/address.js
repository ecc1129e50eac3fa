import { wholePixels } from './frame.js'

/** IIIF mirrors before it turns, as the viewer does. */
export function cropAddress(service, frame, image, turn, format) {
  const base = service.replace(/\/info\.json$/, '').replace(/\/$/, '')
  const { x, y, width, height } = wholePixels(frame, image)
  const isWhole = width === image.width && height === image.height
  const size = base.includes('/iiif/2/') ? 'full' : 'max'
  const rotation = `${turn.isFlipped ? '!' : ''}${Math.round(turn.degrees * 100) / 100}`
  return `${base}/${isWhole ? 'full' : `${x},${y},${width},${height}`}/${size}/${rotation}/default.${format}`
}
