import { tilesOf } from './coverage.js'

/** @typedef {import('./coverage.js').Coverage} Coverage */
/** @typedef {import('./coverage.js').FoundTile} FoundTile */
/** @typedef {import('./coverage.js').Run} Run */
/** @typedef {import('./types.js').Tile} Tile */
/**
 * @typedef {{ margin?: number, limit?: number }} Extras the rings of tiles around the visible area, at most 1,024; and the
 *   maximum number of tiles. If it is exceeded, the margin is dropped, and then tiles far from the viewport's center are
 *   dropped.
 */

/** Functions for scroll views of other programs that the page does not need: margins, limits, and the difference of two coverages. */
export class TileSet {
  /**
   * Creates the set of the tiles that a coverage needs.
   * @param {Coverage} coverage
   * @param {Extras} extras
   */
  constructor(coverage, { margin = 0, limit = 2 ** 16 } = {}) {
    this.coverage = coverage
    this.level = coverage.level
    // If there are more rows than any screen shows, only those around the viewport's center.
    this.core = coverage.rows(nearest(2 ** 16, coverage.range, coverage.viewport.imageCenter.y / coverage.cell))
    this.rows = widened(this.core, Math.min(margin, 1024), coverage)
    if (this.count > limit) this.rows = this.core = narrowed(this.core, limit, coverage)
  }

  /** The number of tiles. */
  get count() { return count(this.rows) }

  /**
   * Whether a tile belongs to the set.
   * @param {Tile} tile
   */
  has(tile) { return tile.level === this.level && isIn(this.rows, tile) }

  /**
   * Returns the tiles in fetch order: the visible ones, nearest the center first, then those of the margin.
   * @returns {(FoundTile & { isPrefetch: boolean })[]}
   */
  tiles() {
    const sorted = this.coverage.sorted(tilesOf(this.level, this.rows)).map((tile) => ({ ...tile, isPrefetch: !isIn(this.core, tile) }))
    return [...sorted.filter(({ isPrefetch }) => !isPrefetch), ...sorted.filter(({ isPrefetch }) => isPrefetch)]
  }

  /**
   * Returns the tiles to add, to keep and to drop if this set follows another one of the same pyramid.
   * @param {TileSet | null} previous the set whose tiles are present
   */
  changes(previous) {
    const tiles = this.tiles()
    return {
      added: tiles.filter((tile) => !previous?.has(tile)), kept: tiles.filter((tile) => previous?.has(tile)),
      dropped: previous ? tilesOf(previous.level, previous.rows).filter((tile) => !this.has(tile)) : [],
    }
  }
}

/** @typedef {{ first: number, runs: Run[] }} Rows */

/** @param {Rows} rows */
function count({ runs }) { return runs.reduce((total, { start, end }) => total + end - start, 0) }

/**
 * @param {Rows} rows
 * @param {Tile} tile
 */
function isIn({ first, runs }, { column, row }) {
  const run = runs[row - first]
  return run !== undefined && column >= run.start && column < run.end
}

/**
 * Returns the tiles and those within `margin` columns and rows of them, within the pyramid.
 * @param {Rows} rows
 * @param {number} margin
 * @param {Coverage} coverage
 * @returns {Rows}
 */
function widened({ first, runs }, margin, { pyramid, level }) {
  if (!(margin > 0) || count({ first, runs }) === 0) return { first, runs }
  const columns = pyramid.columns(level)
  const start = Math.max(first - margin, 0)
  const end = Math.min(first + runs.length + margin, pyramid.rows(level))
  return { first: start, runs: Array.from({ length: end - start }, (_, index) => {
    const row = start + index - first
    const near = runs.slice(Math.max(row - margin, 0), row + margin + 1).filter((run) => run.start < run.end)
    if (near.length === 0) return { start: 0, end: 0 }
    const [low, high] = [Math.min(...near.map((run) => run.start)), Math.max(...near.map((run) => run.end))]
    return { start: Math.max(low - margin, 0), end: Math.min(high + margin, columns) }
  }) }
}

/**
 * Returns at most `limit` tiles: those of a block of rows and columns around the viewport's centre.
 * @param {Rows} rows
 * @param {number} limit
 * @param {Coverage} coverage
 * @returns {Rows}
 */
function narrowed({ first, runs }, limit, { cell, viewport: { imageCenter } }) {
  if (count({ first, runs }) <= limit) return { first, runs }
  if (!(limit > 0)) return { first, runs: [] }
  const side = Math.floor(Math.sqrt(limit))
  const all = { start: Infinity, end: 0 }
  let widest = 0
  for (const { start, end } of runs.filter((run) => run.start < run.end)) {
    all.start = Math.min(all.start, start)
    all.end = Math.max(all.end, end)
    widest = Math.max(widest, end - start)
  }
  const rows = nearest(widest <= side ? Math.floor(limit / widest) : Math.min(runs.length, side),
    { start: first, end: first + runs.length }, imageCenter.y / cell)
  const columns = nearest(Math.floor(limit / (rows.end - rows.start)), all, imageCenter.x / cell)
  return { first: rows.start, runs: runs.slice(rows.start - first, rows.end - first).map(({ start, end }) => {
    const [low, high] = [Math.max(start, columns.start), Math.min(end, columns.end)]
    return low < high ? { start: low, end: high } : { start: 0, end: 0 }
  }) }
}

/**
 * Returns at most `count` numbers of a run: those around a position.
 * @param {number} count
 * @param {Run} run
 * @param {number} position
 * @returns {Run}
 */
function nearest(count, { start, end }, position) {
  if (end - start <= count) return { start, end }
  const middle = Math.floor(Math.min(Math.max(position, start), end - 1))
  const first = Math.min(Math.max(middle - Math.floor(count / 2), start), end - count)
  return { start: first, end: first + count }
}
