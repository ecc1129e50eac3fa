import { Coverage } from '../geometry/coverage.js'

export function tileKey({ level, column, row }) { return `${level}/${column}_${row}` }

/** Most wanted first. A zoom asks for its end only: what it passes is seen too briefly. */
export function plannedTiles(pyramid, viewport, destination, devicePixelRatio) {
  const there = new Coverage(pyramid, destination, devicePixelRatio)
  const here = new Coverage(pyramid, viewport, devicePixelRatio)
  if (!there.visible && !here.visible) return []
  const tiles = new Map()
  const add = ({ level, column, row }) => tiles.set(tileKey({ level, column, row }), { level, column, row })
  if (there.level > pyramid.singleTileLevel) add({ level: pyramid.singleTileLevel, column: 0, row: 0 })
  if (Math.abs(viewport.scale / destination.scale - 1) < 1e-6) here.tiles().forEach(add)
  there.tiles().forEach(add)
  return [...tiles.values()]
}
