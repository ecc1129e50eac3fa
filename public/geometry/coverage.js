// @ts-check
import { CoveredRows } from './covered-rows.js'
import { VisibleArea } from './visible-area.js'

/**
 * @typedef {import('./pyramid.js').Pyramid} Pyramid
 * @typedef {import('./pyramid.js').Rect} Rect
 * @typedef {import('./viewport.js').Viewport} Viewport
 *
 * @typedef {object} CoveredTile
 * @property {number} level
 * @property {number} column
 * @property {number} row
 * @property {Rect} source the pixels the tile holds, level space
 * @property {Rect} target where they stand in viewport space, before the picture is mirrored and turned
 * @property {boolean} prefetch outside the visible area, asked for by `margin`
 */

/** Which tiles a viewport shows: exactly those whose area meets the visible area. */
export class Coverage {
  /** @param {Pyramid} pyramid @param {Viewport} viewport @param {number} [devicePixelRatio] */
  constructor(pyramid, viewport, devicePixelRatio = 1) {
    this.pyramid = pyramid
    this.viewport = viewport
    /** The coarsest level at least as fine as scale × device pixel ratio asks for. */
    this.level = pyramid.levelForScale(viewport.scale * devicePixelRatio)
    this.area = new VisibleArea(viewport)
    /** The box around what is seen of the image, image space. */
    this.visible = this.area.bounds(pyramid.imageSize)
  }

  /**
   * The covering tiles, then those of the `margin` rings; each group nearest the centre first.
   * @param {number} [margin] @returns {CoveredTile[]}
   */
  tiles(margin = 0) {
    const rows = this.rows(this.level)
    const tiles = this.sorted(rows, false)
    return margin > 0 ? tiles.concat(this.sorted(rows.ring(margin), true)) : tiles
  }

  /** The tiles of one other level that meet the visible area. @param {number} level @returns {CoveredTile[]} */
  tilesOfLevel(level) { return this.sorted(this.rows(level), false) }

  /** The tiles of every coarser level, coarsest first. @returns {CoveredTile[]} */
  fallbackTiles() {
    const tiles = []
    for (let level = 0; level < this.level; level += 1) tiles.push(...this.tilesOfLevel(level))
    return tiles
  }

  /** @param {number} level */
  rows(level) { return CoveredRows.meeting(this.pyramid, level, this.area, this.visible) }

  /** @param {CoveredRows} rows @param {boolean} prefetch @returns {CoveredTile[]} */
  sorted(rows, prefetch) {
    const center = this.viewport.imageCenter
    /** @type {{distance: number, tile: CoveredTile}[]} */
    const keyed = []
    rows.visit((column, row) => {
      const image = rows.imageRect(column, row)
      const dx = image.x + image.width / 2 - center.x
      const dy = image.y + image.height / 2 - center.y
      keyed.push({ distance: dx * dx + dy * dy, tile: this.tile(rows.level, column, row, prefetch) })
    })
    // Rows and columns come in order and the sort is stable, so equal distances need no more.
    keyed.sort((a, b) => a.distance - b.distance)
    return keyed.map(({ tile }) => tile)
  }

  /** @param {number} level @param {number} column @param {number} row @param {boolean} prefetch @returns {CoveredTile} */
  tile(level, column, row, prefetch) {
    const { pyramid, viewport } = this
    const size = pyramid.size(level)
    const across = pyramid.span(column, size.width)
    const down = pyramid.span(row, size.height)
    const unit = 1 / pyramid.scale(level)
    const [left, top] = [across.start * unit, down.start * unit]
    const right = Math.min((across.start + across.length) * unit, pyramid.imageSize.width)
    const bottom = Math.min((down.start + down.length) * unit, pyramid.imageSize.height)
    const { scale } = viewport
    return {
      level, column, row, prefetch,
      source: { x: across.start, y: down.start, width: across.length, height: down.length },
      target: {
        x: left * scale - viewport.x, y: top * scale - viewport.y,
        width: (right - left) * scale, height: (bottom - top) * scale,
      },
    }
  }
}
