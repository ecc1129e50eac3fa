import { bounds } from '../geometry/bounds.js'
import { tileKey } from '../tiles/plan.js'

/** Device pixels: bounds the scratch canvas on any screen. */
const CELL = 1024
/** Level pixels: no sample at a cell's edge lacks a neighbour. */
const MARGIN = 2

/**
 * The parts of a window that are drawn one after the other, row by row.
 * @param {{ width: number, height: number }} window device pixels
 * @returns {{ x: number, y: number, width: number, height: number }[]} device pixels
 */
export function cells({ width, height }) {
  const result = []
  for (let y = 0; y < height; y += CELL) {
    for (let x = 0; x < width; x += CELL) {
      result.push({ x, y, width: Math.min(CELL, width - x), height: Math.min(CELL, height - y) })
    }
  }
  return result
}

/** At one device pixel a level pixel, whole pixels fall on whole pixels. */
export function levelMatrix(viewport, unit, ratio) {
  const { turn } = viewport
  const k = unit * viewport.scale * ratio
  const mirror = turn.isFlipped ? -1 : 1
  const origin = viewport.viewportPoint({ x: 0, y: 0 })
  let [e, f] = [origin.x * ratio, origin.y * ratio]
  if (turn.degrees % 90 === 0 && Math.abs(k - 1) < 1e-6) [e, f] = [Math.round(e), Math.round(f)]
  return [mirror * turn.cosine * k, mirror * turn.sine * k, -turn.sine * k, turn.cosine * k, e, f]
}

/**
 * What a cell shows of a level, with a margin, on whole pixels of the level; null where that is nothing.
 * @param {import('../geometry/viewport.js').Viewport} viewport
 * @param {number} unit image pixels a level pixel
 * @param {number} ratio device pixels a CSS pixel
 * @param {{ x: number, y: number, width: number, height: number }} cell device pixels
 * @param {{ width: number, height: number }} level its size, level pixels
 */
export function levelRect(viewport, unit, ratio, cell, level) {
  const [right, bottom] = [cell.x + cell.width, cell.y + cell.height]
  const seen = bounds([[cell.x, cell.y], [right, cell.y], [cell.x, bottom], [right, bottom]]
    .map(([x, y]) => viewport.imagePoint({ x: x / ratio, y: y / ratio })))
  const x = Math.max(Math.floor(seen.x / unit) - MARGIN, 0)
  const y = Math.max(Math.floor(seen.y / unit) - MARGIN, 0)
  const width = Math.min(Math.ceil((seen.x + seen.width) / unit) + MARGIN, level.width) - x
  const height = Math.min(Math.ceil((seen.y + seen.height) / unit) + MARGIN, level.height) - y
  return width > 0 && height > 0 ? { x, y, width, height } : null
}

/**
 * The tiles that are there to draw a part of a level, in the order in which they are laid over each other: coarser ones in place of
 * those that are missing, then finer ones, then the level's own.
 * @param {import('../geometry/pyramid.js').Pyramid} pyramid
 * @param {number} level
 * @param {{ x: number, y: number, width: number, height: number }} rect level pixels
 * @param {(tile: { level: number, column: number, row: number }) => boolean} has whether a tile is there
 */
export function mosaicTiles(pyramid, level, rect, has) {
  const own = []
  const finer = []
  const coarser = new Map()
  const size = pyramid.tileSize
  for (let row = Math.floor(rect.y / size); row * size < rect.y + rect.height; row += 1) {
    for (let column = Math.floor(rect.x / size); column * size < rect.x + rect.width; column += 1) {
      const here = { level, column, row }
      if (has(here)) {
        own.push(here)
        continue
      }
      for (let up = 1; up <= level; up += 1) {
        const tile = { level: level - up, column: Math.floor(column / 2 ** up), row: Math.floor(row / 2 ** up) }
        if (!has(tile)) continue
        coarser.set(tileKey(tile), tile)
        break
      }
      if (level < pyramid.topLevel) {
        for (const [dx, dy] of [[0, 0], [1, 0], [0, 1], [1, 1]]) {
          const tile = { level: level + 1, column: column * 2 + dx, row: row * 2 + dy }
          if (has(tile)) finer.push(tile)
        }
      }
    }
  }
  return [...[...coarser.values()].sort((a, b) => a.level - b.level), ...finer, ...own]
}
