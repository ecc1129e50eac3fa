import { bounds } from '../geometry/bounds.js'
import { text } from '../text/english.js'

const LONGEST = 140 // CSS px

export function citation(source, viewport, address) {
  const { width, height } = source.pyramid.imageSize
  const [x, y, right, bottom] = seenPart(source, viewport)
  const region = `${x},${y},${right - x},${bottom - y}`
  const isWhole = x === 0 && y === 0 && right === width && bottom === height
  return [source.title, text.pixels(width, height), isWhole ? '' : text.region(region), address]
    .filter(Boolean).join(', ')
}

export function seenPart(source, viewport) {
  const { width, height } = source.pyramid.imageSize
  const seen = bounds(viewport.corners)
  const within = (value, side) => Math.min(Math.max(Math.round(value), 0), side)
  return [within(seen.x, width), within(seen.y, height),
    within(seen.x + seen.width, width), within(seen.y + seen.height, height)]
}

/** A view, for who hears it: its scale by the device's pixels, and where its middle lies in the picture. */
export function spokenView(source, viewport, ratio) {
  const { x, y } = viewport.imageCenter
  const { width, height } = source.pyramid.imageSize
  return text.spoken(viewport.scale * ratio, x / width, y / height)
}

export function detailPairs({ title, pyramid, details }) {
  const { width, height } = pyramid.imageSize
  const { id, keywords, format, bytes, micronsPerPixel, animation } = details
  return [
    [text.title, title], ...['caption', 'creator', 'date', 'place', 'rights'].map((name) => [text[name], details[name]]),
    [text.keywords, keywords?.join(', ')],
    [text.size, text.pixels(width, height)], [text.megapixels, text.number(width * height / 1e6)], [text.identifier, id],
    [text.format, (animation?.type.split('/')[1] ?? format)?.toUpperCase()], [text.storage, bytes && text.bytes(bytes)],
    [text.resolution, micronsPerPixel && text.microns(micronsPerPixel)],
  ].filter(([, value]) => value)
}

export function scaleBar(micronsPerPixel, scale) {
  const most = LONGEST * micronsPerPixel / scale
  const power = 10 ** Math.floor(Math.log10(most))
  const microns = power * (most / power >= 5 ? 5 : most / power >= 2 ? 2 : 1)
  return { length: microns * scale / micronsPerPixel, words: text.length(microns) }
}
