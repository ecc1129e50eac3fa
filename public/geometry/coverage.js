import { CoveredRows } from './covered-rows.js'
import { VisibleArea } from './visible-area.js'

export class Coverage {
  constructor(pyramid, viewport, devicePixelRatio = 1) {
    this.pyramid = pyramid
    this.viewport = viewport
    this.level = pyramid.levelForScale(viewport.scale * devicePixelRatio)
    this.area = new VisibleArea(viewport)
    this.visible = this.area.bounds(pyramid.imageSize)
  }

  tiles(margin = 0) {
    const rows = this.rows(this.level)
    const tiles = this.sorted(rows, false)
    return margin > 0 ? tiles.concat(this.sorted(rows.ring(margin), true)) : tiles
  }

  tilesOfLevel(level) { return this.sorted(this.rows(level), false) }

  fallbackTiles() {
    const tiles = []
    for (let level = 0; level < this.level; level += 1) tiles.push(...this.tilesOfLevel(level))
    return tiles
  }

  rows(level) { return CoveredRows.meeting(this.pyramid, level, this.area, this.visible) }

  sorted(rows, prefetch) {
    const center = this.viewport.imageCenter
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
