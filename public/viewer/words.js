import { text } from '../text/english.js'

/** The bar's greatest length, CSS pixels. */
const LONGEST = 140

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
  const corners = [[0, 0], [viewport.width, 0], [viewport.width, viewport.height], [0, viewport.height]]
    .map(([x, y]) => viewport.imagePoint({ x, y }))
  const [xs, ys] = [corners.map(({ x }) => x), corners.map(({ y }) => y)]
  const within = (value, side) => Math.min(Math.max(Math.round(value), 0), side)
  return [within(Math.min(...xs), width), within(Math.min(...ys), height),
    within(Math.max(...xs), width), within(Math.max(...ys), height)]
}

export function detailPairs({ title, pyramid, details }) {
  const { width, height } = pyramid.imageSize
  const pairs = [[text.title, title]]
  if (details.caption) pairs.push([text.caption, details.caption])
  pairs.push([text.size, text.pixels(width, height)], [text.megapixels, text.number(width * height / 1e6)])
  if (details.id) pairs.push([text.identifier, details.id])
  pairs.push([text.levels, String(pyramid.levelCount)], [text.tiles, `${pyramid.tileSize} × ${pyramid.tileSize}`])
  if (details.format) pairs.push([text.format, String(details.format).toUpperCase()])
  if (details.bytes > 0) pairs.push([text.storage, text.bytes(details.bytes)])
  if (details.micronsPerPixel) pairs.push([text.resolution, text.microns(details.micronsPerPixel)])
  return pairs
}

export function scaleBar(micronsPerPixel, scale) {
  const most = LONGEST * micronsPerPixel / scale
  const power = 10 ** Math.floor(Math.log10(most))
  const microns = power * (most / power >= 5 ? 5 : most / power >= 2 ? 2 : 1)
  return { length: microns * scale / micronsPerPixel, words: text.length(microns) }
}
