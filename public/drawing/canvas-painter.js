import { tileKey } from '../tiles/plan.js'
import { cells, levelMatrix, levelRect, mosaicTiles } from './mosaic.js'

/** Lays tiles side by side and scales the whole: no edge between two is ever resampled. */
export class CanvasPainter {
  constructor(canvas) {
    this.canvas = canvas
    this.context = canvas.getContext('2d')
    /** One per cell: none is overwritten while still to be drawn */
    this.scratches = []
  }

  resize(width, height) {
    if (this.canvas.width !== width) this.canvas.width = width
    if (this.canvas.height !== height) this.canvas.height = height
  }

  clear() {
    this.context.setTransform(1, 0, 0, 1, 0, 0)
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height)
  }

  paint(pyramid, viewport, level, ratio, tiles) {
    const { context, canvas } = this
    const unit = 1 / pyramid.scale(level)
    const matrix = levelMatrix(viewport, unit, ratio)
    cells(canvas).forEach((cell, index) => {
      const rect = levelRect(viewport, unit, ratio, cell, pyramid.size(level))
      if (!rect) return
      const scratch = this.lay(index, pyramid, level, rect, tiles)
      context.save()
      context.setTransform(1, 0, 0, 1, 0, 0)
      context.beginPath()
      context.rect(cell.x, cell.y, cell.width, cell.height)
      context.clip()
      context.setTransform(...matrix)
      const width = Math.min(rect.width, pyramid.imageSize.width / unit - rect.x)
      const height = Math.min(rect.height, pyramid.imageSize.height / unit - rect.y)
      context.drawImage(scratch, 0, 0, width, height, rect.x, rect.y, width, height)
      context.restore()
    })
  }

  lay(index, pyramid, level, rect, tiles) {
    const scratch = this.scratches[index] ??= document.createElement('canvas')
    const context = scratch.getContext('2d')
    if (scratch.width < rect.width) scratch.width = Math.ceil(rect.width / 256) * 256
    if (scratch.height < rect.height) scratch.height = Math.ceil(rect.height / 256) * 256
    context.clearRect(0, 0, rect.width + 1, rect.height + 1)
    const has = (tile) => tiles.has(tileKey(tile))
    for (const tile of mosaicTiles(pyramid, level, rect, has)) {
      const size = pyramid.size(tile.level)
      const across = pyramid.span(tile.column, size.width)
      const down = pyramid.span(tile.row, size.height)
      const factor = 2 ** (level - tile.level)
      const [x, y] = [across.start * factor - rect.x, down.start * factor - rect.y]
      const [width, height] = [across.length * factor, down.length * factor]
      const bitmap = tiles.get(tileKey(tile))
      context.drawImage(bitmap, x, y, width, height)
      // Sampled beyond the image's edge, and its corner.
      const [w, h] = [bitmap.width, bitmap.height]
      const isRight = across.start + across.length === size.width
      const isBottom = down.start + down.length === size.height
      if (isRight) context.drawImage(bitmap, w - 1, 0, 1, h, x + width, y, 1, height)
      if (isBottom) context.drawImage(bitmap, 0, h - 1, w, 1, x, y + height, width, 1)
      if (isRight && isBottom) context.drawImage(bitmap, w - 1, h - 1, 1, 1, x + width, y + height, 1, 1)
    }
    return scratch
  }
}
