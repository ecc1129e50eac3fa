import { Coverage } from '../geometry/coverage.js'

/** A tile's name among those of its source. @param {{ level: number, column: number, row: number }} tile */
export function tileKey({ level, column, row }) { return `${level}/${column}_${row}` }

/** A zoom asks for its end only, and not for finer tiles a hair before it. */
export function plannedTiles(pyramid, viewport, destination, devicePixelRatio) {
  const there = new Coverage(pyramid, destination, devicePixelRatio)
  const atEnd = Math.abs(viewport.scale / destination.scale - 1) < 1e-6
  const here = new Coverage(pyramid, atEnd ? viewport.with({ scale: destination.scale }) : viewport, devicePixelRatio)
  if (!there.visible && !here.visible) return []
  const tiles = new Map()
  const add = (tile) => tiles.set(tileKey(tile), tile)
  if (there.level > pyramid.singleTileLevel) add({ level: pyramid.singleTileLevel, column: 0, row: 0 })
  if (atEnd) here.tiles().forEach(add)
  there.tiles().forEach(add)
  return [...tiles.values()]
}
