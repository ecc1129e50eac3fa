import { VisibleArea } from './visible-area.js'

/** @typedef {import('./pyramid.js').Pyramid} Pyramid */
/** @typedef {import('./types.js').Tile} Tile */
/** @typedef {Tile & { distance: number }} FoundTile with the square of its distance from the center, in image pixels */
/** @typedef {import('./viewport.js').Viewport} Viewport */
/** @typedef {{ start: number, end: number }} Run numbers from `start` to before `end` */

/** The tiles that a viewport shows: exactly those whose area meets the visible area. */
export class Coverage {
  /**
   * Chooses the coarsest level that is at least as fine as scale × device pixel ratio requires.
   * @param {Pyramid} pyramid
   * @param {Viewport} viewport
   * @param {number} [devicePixelRatio]
   */
  constructor(pyramid, viewport, devicePixelRatio = 1) {
    this.pyramid = pyramid
    this.viewport = viewport
    this.level = pyramid.levelForScale(viewport.scale * devicePixelRatio)
    this.area = new VisibleArea(viewport)
    this.visible = this.area.bounds(pyramid.imageSize)
  }

  /** The extent of a tile in image pixels. */
  get cell() { return this.pyramid.tileSize / this.pyramid.scale(this.level) }

  /** The rows that are visible. */
  get range() {
    const { visible, pyramid } = this
    return visible ? cells(visible.y, visible.y + visible.height, this.cell, pyramid.rows(this.level)) : { start: 0, end: 0 }
  }

  /**
   * Returns the visible columns of each row, from the first row on. A viewport is convex and therefore intersects one
   * unbroken run in each row.
   * @param {Run} range the rows
   */
  rows({ start, end } = this.range) {
    const { pyramid, level, cell } = this
    const { width, height } = pyramid.imageSize
    /** @type {Run[]} */
    const runs = []
    for (let row = start; row < end; row += 1) {
      const extent = this.area.horizontalExtent(row * cell, Math.min((row + 1) * cell, height))
      runs.push(cells(Math.max(extent?.low ?? 0, 0), Math.min(extent?.high ?? 0, width), cell, pyramid.columns(level)))
    }
    return { first: start, runs }
  }

  /**
   * Returns exactly the visible tiles, nearest the middle first.
   * @returns {FoundTile[]}
   */
  tiles() { return this.sorted(tilesOf(this.level, this.rows())) }

  /**
   * Returns tiles of the level by the distance of their middles from the viewport's, nearest first.
   * @param {Tile[]} tiles
   * @returns {FoundTile[]}
   */
  sorted(tiles) {
    const { cell } = this
    const { width, height } = this.pyramid.imageSize
    const center = this.viewport.imageCenter
    return tiles.map((tile) => {
      const [left, top] = [tile.column * cell, tile.row * cell]
      const dx = left + (Math.min(left + cell, width) - left) / 2 - center.x
      const dy = top + (Math.min(top + cell, height) - top) / 2 - center.y
      return { ...tile, distance: dx * dx + dy * dy }
    }).sort((a, b) => a.distance - b.distance)
  }
}

/**
 * Returns tiles one by one, row by row from the top, each row from the left.
 * @param {number} level
 * @param {{ first: number, runs: Run[] }} rows
 */
export function tilesOf(level, { first, runs }) {
  /** @type {Tile[]} */
  const tiles = []
  for (const [index, { start, end }] of runs.entries()) {
    for (let column = start; column < end; column += 1) tiles.push({ level, column, row: first + index })
  }
  return tiles
}

/**
 * Returns the cells that [low, high) meets in more than a point.
 * @param {number} low not negative
 * @param {number} high
 * @param {number} cell
 * @param {number} count
 * @returns {Run}
 */
function cells(low, high, cell, count) {
  if (!(low < high)) return { start: 0, end: 0 }
  let start = Math.max(Math.min(Math.trunc(low / cell), count - 1), 0)
  while (start > 0 && start * cell > low) start -= 1
  while (start < count && (start + 1) * cell <= low) start += 1
  let end = Math.max(Math.min(Math.trunc(high / cell) + 1, count), 1)
  while (end > 1 && (end - 1) * cell >= high) end -= 1
  while (end < count && end * cell < high) end += 1
  return { start, end }
}
