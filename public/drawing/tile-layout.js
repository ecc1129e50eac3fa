import { bounds } from '../geometry/bounds.js'
/** @typedef {import('../geometry/pyramid.js').Pyramid} Pyramid */
/** @typedef {import('../geometry/viewport.js').Viewport} Viewport */
/** @typedef {import('../geometry/types.js').Rect} Rect */
/** @typedef {import('../geometry/types.js').Size} Size */
/** @typedef {import('../geometry/types.js').Tile} Tile */

/** Maximum size of a cell in device pixels. It bounds the size of level canvases on any screen. */
const CELL = 1024
/** Level pixels: every sample at the edge of a cell has its neighbors. */
const MARGIN = 2

/**
 * Divides a window into cells that are drawn one after the other, row by row.
 * @param {Size} window device pixels
 * @returns {Rect[]} device pixels
 */
export function windowCells({ width, height }) {
  // Equal sizes, so that a canvas can be reused for another cell.
  const side = (/** @type {number} */ length) => Math.ceil(length / Math.ceil(length / CELL))
  const [across, down] = [side(width), side(height)]
  const result = []
  for (let y = 0; y < height; y += down) {
    for (let x = 0; x < width; x += across) {
      result.push({ x, y, width: Math.min(across, width - x), height: Math.min(down, height - y) })
    }
  }
  return result
}

/**
 * Returns the transformation from level pixels to device pixels of the viewport. At one device pixel per level pixel, it is
 * rounded to whole pixels.
 * @param {Viewport} viewport
 * @param {number} unit image pixels per level pixel
 * @param {number} ratio device pixels per CSS pixel
 * @returns {[number, number, number, number, number, number]} the arguments of `setTransform`
 */
export function levelMatrix(viewport, unit, ratio) {
  const { rotation } = viewport
  const k = unit * viewport.scale * ratio
  const mirror = rotation.isFlipped ? -1 : 1
  const origin = viewport.viewportPoint({ x: 0, y: 0 })
  let [e, f] = [origin.x * ratio, origin.y * ratio]
  if (rotation.degrees % 90 === 0 && Math.abs(k - 1) < 1e-6) [e, f] = [Math.round(e), Math.round(f)]
  return [mirror * rotation.cosine * k, mirror * rotation.sine * k, -rotation.sine * k, rotation.cosine * k, e, f]
}

/**
 * Returns the part of a level that is visible in a cell, with a margin, in whole pixels of the level. Returns null if there
 * is none.
 * @param {Viewport} viewport
 * @param {number} unit image pixels per level pixel
 * @param {number} ratio device pixels per CSS pixel
 * @param {Rect} cell device pixels
 * @param {Size} level the size of the level, in level pixels
 * @returns {Rect | null} level pixels
 */
export function levelRect(viewport, unit, ratio, cell, level) {
  const [right, bottom] = [cell.x + cell.width, cell.y + cell.height]
  const visible = bounds([[cell.x, cell.y], [right, cell.y], [cell.x, bottom], [right, bottom]]
    .map(([x, y]) => viewport.imagePoint({ x: x / ratio, y: y / ratio })))
  const x = Math.max(Math.floor(visible.x / unit) - MARGIN, 0)
  const y = Math.max(Math.floor(visible.y / unit) - MARGIN, 0)
  const width = Math.min(Math.ceil((visible.x + visible.width) / unit) + MARGIN, level.width) - x
  const height = Math.min(Math.ceil((visible.y + visible.height) / unit) + MARGIN, level.height) - y
  return width > 0 && height > 0 ? { x, y, width, height } : null
}

/**
 * Returns the tiles of a level that intersect a rectangle, row by row.
 * @param {Pyramid} pyramid
 * @param {number} level
 * @param {Rect} rect level pixels
 */
export function tilesInRect({ tileSize }, level, rect) {
  /** @type {Tile[]} */
  const found = []
  for (let row = Math.floor(rect.y / tileSize); row * tileSize < rect.y + rect.height; row += 1) {
    for (let column = Math.floor(rect.x / tileSize); column * tileSize < rect.x + rect.width; column += 1) {
      found.push({ level, column, row })
    }
  }
  return found
}

/**
 * Returns the rectangle of a tile, including its overlap.
 * @param {Pyramid} pyramid
 * @param {Tile} tile
 * @returns {Rect} pixels of its level
 */
export function tileRect(pyramid, { level, column, row }) {
  const size = pyramid.size(level)
  const [across, down] = [pyramid.span(column, size.width), pyramid.span(row, size.height)]
  return { x: across.start, y: down.start, width: across.length, height: down.length }
}

/**
 * Returns the parts of coarser levels that replace missing tiles: for each tile, the next coarser level with an available
 * tile.
 * @param {Pyramid} pyramid
 * @param {Tile[]} missing
 * @param {(tile: Tile) => boolean} has whether a tile is available
 * @returns {{ level: number, rect: Rect }[]} coarser levels first, each with the needed part in level pixels
 */
export function fallbackTiles(pyramid, missing, has) {
  /** @type {Map<number, Rect>} */
  const parts = new Map()
  for (const tile of missing) {
    for (let up = 1; up <= tile.level; up += 1) {
      const level = tile.level - up
      if (!has({ level, column: Math.floor(tile.column / 2 ** up), row: Math.floor(tile.row / 2 ** up) })) continue
      const rect = scaleRect(tileRect(pyramid, tile), 2 ** -up)
      const part = parts.get(level)
      parts.set(level, part ? unionRect(part, rect) : rect)
      break
    }
  }
  return [...parts].sort(([a], [b]) => a - b).map(([level, rect]) => ({ level, rect }))
}

/**
 * Converts a rectangle to another level, in whole pixels and with a margin for sampling.
 * @param {Rect} rect
 * @param {number} factor pixels of the other level per pixel of this one
 * @returns {Rect}
 */
export function scaleRect(rect, factor) {
  const [x, y] = [Math.floor(rect.x * factor) - MARGIN, Math.floor(rect.y * factor) - MARGIN]
  const [right, bottom] = [Math.ceil((rect.x + rect.width) * factor) + MARGIN, Math.ceil((rect.y + rect.height) * factor) + MARGIN]
  return { x, y, width: right - x, height: bottom - y }
}

/**
 * Expands a part of a level to the available size, around its center.
 * @param {Rect} rect within the level
 * @param {Size} capacity the available size
 * @param {Size} size the size of the level
 * @returns {Rect}
 */
export function expandRect(rect, capacity, size) {
  const width = Math.min(Math.max(rect.width, capacity.width), size.width)
  const height = Math.min(Math.max(rect.height, capacity.height), size.height)
  const x = Math.min(Math.max(Math.floor(rect.x + (rect.width - width) / 2), 0), size.width - width)
  const y = Math.min(Math.max(Math.floor(rect.y + (rect.height - height) / 2), 0), size.height - height)
  return { x, y, width, height }
}

/**
 * Whether a rectangle contains another one.
 * @param {Rect} outer
 * @param {Rect} inner
 */
export function containsRect(outer, inner) {
  return inner.x >= outer.x && inner.y >= outer.y
    && inner.x + inner.width <= outer.x + outer.width && inner.y + inner.height <= outer.y + outer.height
}

/**
 * Returns the intersection of two rectangles, or null.
 * @param {Rect} one
 * @param {Rect} other
 * @returns {Rect | null}
 */
export function intersectRect(one, other) {
  const [x, y] = [Math.max(one.x, other.x), Math.max(one.y, other.y)]
  const width = Math.min(one.x + one.width, other.x + other.width) - x
  const height = Math.min(one.y + one.height, other.y + other.height) - y
  return width > 0 && height > 0 ? { x, y, width, height } : null
}

/**
 * Returns the smallest rectangle around two others.
 * @param {Rect} one
 * @param {Rect} other
 * @returns {Rect}
 */
function unionRect(one, other) {
  return bounds([one, other].flatMap(({ x, y, width, height }) => [{ x, y }, { x: x + width, y: y + height }]))
}
