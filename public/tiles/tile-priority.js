import { Coverage } from '../geometry/coverage.js'

/** @typedef {import('../geometry/pyramid.js').Pyramid} Pyramid */
/** @typedef {import('../geometry/viewport.js').Viewport} Viewport */
/** @typedef {import('../geometry/types.js').Tile} Tile */

/**
 * Returns the key of a tile within its source.
 * @param {Tile} tile
 */
export function tileKey({ level, column, row }) { return `${level}/${column}_${row}` }

/**
 * Returns the tiles that a view needs, the most important first. During a zoom, only those of its end are needed, and not
 * the finer ones just before it.
 * @param {Pyramid} pyramid
 * @param {Viewport} viewport the current viewport
 * @param {Viewport} destination the viewport at the end of the motion
 * @param {number} devicePixelRatio
 * @returns {Tile[]}
 */
export function prioritizedTiles(pyramid, viewport, destination, devicePixelRatio) {
  const atDestination = new Coverage(pyramid, destination, devicePixelRatio)
  const isSameScale = Math.abs(viewport.scale / destination.scale - 1) < 1e-6
  const current = new Coverage(pyramid, isSameScale ? viewport.with({ scale: destination.scale }) : viewport, devicePixelRatio)
  if (!atDestination.visible && !current.visible) return []
  /** @type {Map<string, Tile>} */
  const tiles = new Map()
  const add = (/** @type {Tile} */ tile) => tiles.set(tileKey(tile), tile)
  if (atDestination.level > pyramid.singleTileLevel) add({ level: pyramid.singleTileLevel, column: 0, row: 0 })
  if (isSameScale) current.tiles().forEach(add)
  atDestination.tiles().forEach(add)
  return [...tiles.values()]
}
