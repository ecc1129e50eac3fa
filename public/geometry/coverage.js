import { VisibleArea } from './visible-area.js'

/** @typedef {import('./pyramid.js').Pyramid} Pyramid */
/** @typedef {import('./types.js').Tile & { distance: number }} FoundTile with the square of its distance from the middle */
/** @typedef {import('./viewport.js').Viewport} Viewport */

/** Which tiles of which level a viewport shows. */
export class Coverage {
  /**
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

  /**
   * Exactly the tiles that are seen, nearest the middle first.
   * @returns {FoundTile[]}
   */
  tiles() {
    const { pyramid, level, visible } = this
    if (!visible) return []
    const { width, height } = pyramid.imageSize
    const center = this.viewport.imageCenter
    const cell = pyramid.tileSize / pyramid.scale(level)
    /** @type {FoundTile[]} */
    const found = []
    const rows = cells(visible.y, visible.y + visible.height, cell, pyramid.rows(level))
    for (let row = rows.start; row < rows.end; row += 1) {
      const top = row * cell
      const bottom = Math.min(top + cell, height)
      const extent = this.area.horizontalExtent(top, bottom)
      if (!extent) continue
      const run = cells(Math.max(extent.low, 0), Math.min(extent.high, width), cell, pyramid.columns(level))
      for (let column = run.start; column < run.end; column += 1) {
        const left = column * cell
        const dx = left + (Math.min(left + cell, width) - left) / 2 - center.x
        const dy = top + (bottom - top) / 2 - center.y
        found.push({ level, column, row, distance: dx * dx + dy * dy })
      }
    }
    return found.sort((a, b) => a.distance - b.distance)
  }
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} cell
 * @param {number} count
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
