import { tileKey } from '../tiles/plan.js'
import { contains, expandRect, intersectRect, tileRect, tilesIn } from './tile-layout.js'

/** @typedef {import('../geometry/pyramid.js').Pyramid} Pyramid */
/** @typedef {import('../geometry/types.js').Rect} Rect */
/** @typedef {import('../geometry/types.js').Size} Size */
/** @typedef {import('../geometry/types.js').Tile} Tile */
/** @typedef {{ has: (key: string) => boolean, get: (key: string) => ImageBitmap | undefined }} Tiles decoded, by their keys */
/** @typedef {{ pixels: number, isLeft: boolean }} Work how many pixels may still be laid; whether tiles that are there wait */

/** Pixels of all canvases that are kept and not needed: four bytes each. */
const SPARE = 12 * 2 ** 20

/** Canvases that are not needed and kept for who needs one next: making one takes longer than drawing what it shows. */
export class SpareCanvases {
  /** @type {HTMLCanvasElement[]} */
  #kept = []

  /**
   * A canvas that is at least as large, with anything in it.
   * @param {number} width
   * @param {number} height
   */
  take(width, height) {
    const index = this.#kept.findIndex((each) => each.width >= width && each.height >= height)
    if (index >= 0) return this.#kept.splice(index, 1)[0]
    return Object.assign(document.createElement('canvas'), { width, height })
  }

  /**
   * Takes back one.
   * @param {HTMLCanvasElement} canvas
   */
  give(canvas) {
    this.#kept.push(canvas)
    while (this.#pixels > SPARE) this.#kept.shift()
  }

  /**
   * Makes one ahead, unless there are enough.
   * @param {number} width @param {number} height
   * @returns {boolean} whether it made one
   */
  prepare(width, height) {
    if (this.#pixels + width * height > SPARE) return false
    const canvas = Object.assign(document.createElement('canvas'), { width, height })
    // It has its memory when it is drawn into.
    contextOf(canvas).clearRect(0, 0, width, height)
    this.#kept.push(canvas)
    return true
  }

  get #pixels() { return this.#kept.reduce((sum, { width, height }) => sum + width * height, 0) }
}

/** Tiles of one level side by side, in its own pixels. From frame to frame they stay; only those that come are drawn. */
export class LevelCanvas {
  /**
   * @param {Pyramid} pyramid
   * @param {number} level
   * @param {SpareCanvases} spare
   */
  constructor(pyramid, level, spare) {
    this.pyramid = pyramid
    this.level = level
    this.spare = spare
    this.size = pyramid.size(level)
    /** @type {HTMLCanvasElement | null} */
    this.canvas = null
    /** @type {Rect | null} What of the level the canvas has room for, in level pixels. */
    this.region = null
    /** Tiles that are drawn, as far as they lie in the region, by their keys. @type {Map<string, Tile>} */
    this.laid = new Map()
  }

  /**
   * Draws the tiles of a part of the level that are there and not drawn yet.
   * @param {Rect} rect level pixels
   * @param {Tiles} tiles
   * @param {Work} work
   * @param {Size} room what is likely to be needed, level pixels
   * @returns {Tile[]} what is not drawn
   */
  lay(rect, tiles, work, room) {
    if (this.region && !contains(this.region, rect)) this.#move(rect, room)
    const missing = []
    for (const tile of tilesIn(this.pyramid, this.level, rect)) {
      const key = tileKey(tile)
      const bitmap = tiles.get(key)
      if (this.laid.has(key)) continue
      if (!bitmap || work.pixels <= 0) {
        work.isLeft ||= Boolean(bitmap)
        missing.push(tile)
        continue
      }
      if (!this.region) this.#move(rect, room)
      this.#draw(tile, bitmap)
      this.laid.set(key, tile)
      work.pixels -= bitmap.width * bitmap.height
    }
    return missing
  }

  /** Lets go of its canvas. */
  close() {
    if (this.canvas) this.spare.give(this.canvas)
    this.canvas = this.region = null
    this.laid.clear()
  }

  /**
   * Another part of the level has room in a canvas; what both share stays.
   * @param {Rect} rect
   * @param {Size} room
   */
  #move(rect, room) {
    const { canvas: former, region: before } = this
    const region = this.region = expandRect(rect, room, this.size)
    // A pixel more, for what is sampled beyond the image's edge.
    const canvas = this.canvas = this.spare.take(Math.max(region.width, room.width) + 1, Math.max(region.height, room.height) + 1)
    const context = contextOf(canvas)
    if (former && before && intersectRect(before, region)) {
      // Into another canvas: a browser copies all of one that is drawn into itself, into memory that it has to get first.
      context.globalCompositeOperation = 'copy'
      context.drawImage(former, before.x - region.x, before.y - region.y)
      context.globalCompositeOperation = 'source-over'
    } else context.clearRect(0, 0, canvas.width, canvas.height)
    if (former) this.spare.give(former)
    for (const [key, tile] of this.laid) {
      const part = intersectRect(tileRect(this.pyramid, tile), region)
      if (!part || !before || !contains(before, part)) this.laid.delete(key)
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
    // Sampled beyond the image's edge, and its corner.
    const [w, h] = [bitmap.width, bitmap.height]
    const isRight = at.x + width === size.width
    const isBottom = at.y + height === size.height
    if (isRight) context.drawImage(bitmap, w - 1, 0, 1, h, x + width, y, 1, height)
    if (isBottom) context.drawImage(bitmap, 0, h - 1, w, 1, x, y + height, width, 1)
    if (isRight && isBottom) context.drawImage(bitmap, w - 1, h - 1, 1, 1, x + width, y + height, 1, 1)
  }
}

/**
 * What draws in a canvas: there is one, since none has another kind of it.
 * @param {HTMLCanvasElement} canvas
 */
export function contextOf(canvas) { return /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')) }
