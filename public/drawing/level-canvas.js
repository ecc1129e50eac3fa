import { tileKey } from '../tiles/tile-priority.js'
import { containsRect, expandRect, intersectRect, tileRect, tilesInRect } from './tile-layout.js'

/** @typedef {import('../geometry/pyramid.js').Pyramid} Pyramid */
/** @typedef {import('../geometry/types.js').Rect} Rect */
/** @typedef {import('../geometry/types.js').Size} Size */
/** @typedef {import('../geometry/types.js').Tile} Tile */
/** @typedef {{ has: (key: string) => boolean, get: (key: string) => ImageBitmap | undefined }} Tiles decoded tiles by key */
/**
 * @typedef {{ pixels: number, isExceeded: boolean }} DrawBudget the level pixels that may still be drawn; whether
 *   available tiles are left
 */

/** Maximum pixels of all spare canvases, at four bytes each. */
const MAX_POOL_PIXELS = 12 * 2 ** 20

/** A pool of spare canvases. Creating a canvas takes longer than drawing its content. */
export class CanvasPool {
  /** @type {HTMLCanvasElement[]} */
  #canvases = []

  /**
   * Returns a canvas of at least this size, with arbitrary content.
   * @param {number} width
   * @param {number} height
   */
  acquire(width, height) {
    const index = this.#canvases.findIndex((each) => each.width >= width && each.height >= height)
    if (index >= 0) return this.#canvases.splice(index, 1)[0]
    return Object.assign(document.createElement('canvas'), { width, height })
  }

  /**
   * Returns a canvas to the pool.
   * @param {HTMLCanvasElement} canvas
   */
  release(canvas) {
    this.#canvases.push(canvas)
    while (this.#pixels > MAX_POOL_PIXELS) this.#canvases.shift()
  }

  /**
   * Creates a canvas in advance unless there are enough.
   * @param {number} width @param {number} height
   * @returns {boolean} whether one was created
   */
  prepare(width, height) {
    if (this.#pixels + width * height > MAX_POOL_PIXELS) return false
    const canvas = Object.assign(document.createElement('canvas'), { width, height })
    // The memory is allocated at the first drawing.
    contextOf(canvas).clearRect(0, 0, width, height)
    this.#canvases.push(canvas)
    return true
  }

  get #pixels() { return this.#canvases.reduce((sum, { width, height }) => sum + width * height, 0) }
}

/** The tiles of one level on a canvas, in level pixels. They stay from frame to frame; only new tiles are drawn. */
export class LevelCanvas {
  /**
   * @param {Pyramid} pyramid
   * @param {number} level
   * @param {CanvasPool} pool
   */
  constructor(pyramid, level, pool) {
    this.pyramid = pyramid
    this.level = level
    this.pool = pool
    this.size = pyramid.size(level)
    /** @type {HTMLCanvasElement | null} */
    this.canvas = null
    /** @type {Rect | null} The part of the level that the canvas covers, in level pixels. */
    this.region = null
    /**
     * The tiles that are drawn and intersect the region, by key.
     * @type {Map<string, Tile>}
     */
    this.drawnTiles = new Map()
  }

  /**
   * Draws the tiles of a part of the level that are available and not drawn yet.
   * @param {Rect} rect level pixels
   * @param {Tiles} tiles
   * @param {DrawBudget} budget
   * @param {Size} capacity the size that will probably be needed, in level pixels
   * @returns {Tile[]} the missing tiles
   */
  drawTiles(rect, tiles, budget, capacity) {
    if (this.region && !containsRect(this.region, rect)) this.#move(rect, capacity)
    const missing = []
    for (const tile of tilesInRect(this.pyramid, this.level, rect)) {
      const key = tileKey(tile)
      const bitmap = tiles.get(key)
      if (this.drawnTiles.has(key)) continue
      if (!bitmap || budget.pixels <= 0) {
        budget.isExceeded ||= Boolean(bitmap)
        missing.push(tile)
        continue
      }
      if (!this.region) this.#move(rect, capacity)
      this.#draw(tile, bitmap)
      this.drawnTiles.set(key, tile)
      budget.pixels -= bitmap.width * bitmap.height
    }
    return missing
  }

  /** Returns the canvas to the pool. */
  close() {
    if (this.canvas) this.pool.release(this.canvas)
    this.canvas = this.region = null
    this.drawnTiles.clear()
  }

  /**
   * Moves the region to another part of the level; the common part stays drawn.
   * @param {Rect} rect
   * @param {Size} capacity
   */
  #move(rect, capacity) {
    const { canvas: former, region: before } = this
    const region = this.region = expandRect(rect, capacity, this.size)
    // One more pixel, for samples beyond the image's edge.
    const canvas = this.canvas = this.pool.acquire(Math.max(region.width, capacity.width) + 1, Math.max(region.height, capacity.height) + 1)
    const context = contextOf(canvas)
    if (former && before && intersectRect(before, region)) {
      // Into another canvas: if a canvas is drawn into itself, browsers copy all of it into newly allocated memory.
      context.globalCompositeOperation = 'copy'
      context.drawImage(former, before.x - region.x, before.y - region.y)
      context.globalCompositeOperation = 'source-over'
    } else context.clearRect(0, 0, canvas.width, canvas.height)
    if (former) this.pool.release(former)
    for (const [key, tile] of this.drawnTiles) {
      const part = intersectRect(tileRect(this.pyramid, tile), region)
      if (!part || !before || !containsRect(before, part)) this.drawnTiles.delete(key)
    }
  }

  /** @param {Tile} tile @param {ImageBitmap} bitmap */
  #draw(tile, bitmap) {
    const { region, canvas, size } = this
    if (!region || !canvas) return
    const context = contextOf(canvas)
    const { width, height, ...at } = tileRect(this.pyramid, tile)
    const [x, y] = [at.x - region.x, at.y - region.y]
    context.drawImage(bitmap, x, y, width, height)
    // The edge and corner pixels, repeated for samples beyond the image.
    const [w, h] = [bitmap.width, bitmap.height]
    const isRight = at.x + width === size.width
    const isBottom = at.y + height === size.height
    if (isRight) context.drawImage(bitmap, w - 1, 0, 1, h, x + width, y, 1, height)
    if (isBottom) context.drawImage(bitmap, 0, h - 1, w, 1, x, y + height, width, 1)
    if (isRight && isBottom) context.drawImage(bitmap, w - 1, h - 1, 1, 1, x + width, y + height, 1, 1)
  }
}

/**
 * Returns the canvas's 2D context. It exists because no canvas here has a context of another type.
 * @param {HTMLCanvasElement} canvas
 */
export function contextOf(canvas) { return /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')) }
