import { tileKey } from '../tiles/plan.js'
import { LevelCanvas, SpareCanvases, contextOf } from './level-canvas.js'
import { fallbackTiles, intersectRect, levelMatrix, levelRect, scaled, tileRange } from './tile-layout.js'

/** @typedef {import('../geometry/pyramid.js').Pyramid} Pyramid */
/** @typedef {import('../geometry/viewport.js').Viewport} Viewport */
/** @typedef {import('../geometry/types.js').Rect} Rect */
/** @typedef {import('./level-canvas.js').Tiles} Tiles */
/** @typedef {import('./level-canvas.js').Work} Work */

/** Additional level pixels of a level canvas beyond the visible part. */
const BESIDE = 128

/**
 * Composes the tiles of each level on one canvas and scales it as a whole, so that no edge between two tiles is resampled.
 * Missing tiles of the current level are replaced by those of other levels. Coarser levels are drawn first, then the
 * finer ones that were seen last.
 */
export class CanvasPainter {
  /** @type {Pyramid | null} */
  #pyramid = null
  /**
   * The level canvases of each cell of the window, by cell index and level. None is overwritten before it is drawn.
   * @type {Map<number, LevelCanvas>[]}
   */
  #sheets = []
  #spare = new SpareCanvases()

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas
    this.context = contextOf(canvas)
  }

  /** @param {number} width device pixels @param {number} height */
  resize(width, height) {
    if (this.canvas.width === width && this.canvas.height === height) return
    // Setting either dimension clears the canvas.
    Object.assign(this.canvas, { width, height })
    this.forget()
  }

  /** Clears the canvas. */
  clear() {
    this.context.setTransform(1, 0, 0, 1, 0, 0)
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height)
  }

  /** Discards all level canvases. */
  forget() {
    this.#sheets.forEach((sheets) => sheets.forEach((sheet) => sheet.close()))
    this.#sheets = []
    this.#pyramid = null
  }

  /**
   * Creates one of the canvases that will be needed, in idle time.
   * @returns {boolean} whether more may have to be created
   */
  prepare() {
    const { width, height } = roomOf(tileRange(this.canvas)[0])
    return this.#spare.prepare(width + 1, height + 1)
  }

  /**
   * Draws a view with the available tiles.
   * @param {Pyramid} pyramid
   * @param {Viewport} viewport
   * @param {number} level the current level
   * @param {number} ratio device pixels per CSS pixel
   * @param {Tiles} tiles
   * @param {number} [pixels] maximum number of level pixels to draw onto the level canvas now, while the view moves
   * @returns {boolean} whether all available tiles are drawn
   */
  paint(pyramid, viewport, level, ratio, tiles, pixels = Infinity) {
    if (this.#pyramid !== pyramid) this.forget()
    this.#pyramid = pyramid
    const work = { pixels, isLeft: false }
    tileRange(this.canvas).forEach((cell, index) => this.#paintCell(cell, index, pyramid, viewport, level, ratio, tiles, work))
    return !work.isLeft
  }

  /**
   * @param {Rect} cell @param {number} index @param {Pyramid} pyramid @param {Viewport} viewport @param {number} level
   * @param {number} ratio @param {Tiles} tiles @param {Work} work
   */
  #paintCell(cell, index, pyramid, viewport, level, ratio, tiles, work) {
    const seen = (/** @type {number} */ at) => levelRect(viewport, 1 / pyramid.scale(at), ratio, cell, pyramid.size(at))
    const rect = seen(level)
    if (!rect) return
    const sheets = this.#sheets[index] ??= new Map()
    const own = this.#sheet(sheets, pyramid, level)
    // A view at rest needs no room to move.
    const room = work.pixels === Infinity ? { width: 0, height: 0 } : roomOf(cell)
    const missing = own.lay(rect, tiles, work, room)
    /** @type {{ sheet: LevelCanvas, part: Rect }[]} */
    const layers = []
    if (missing.length) {
      for (const need of fallbackTiles(pyramid, missing, (tile) => tiles.has(tileKey(tile)))) {
        const within = seen(need.level)
        const part = within && intersectRect(need.rect, within)
        if (!part) continue
        const sheet = this.#sheet(sheets, pyramid, need.level)
        sheet.lay(part, tiles, { pixels: Infinity, isLeft: false }, room)
        layers.push({ sheet, part })
      }
      // Also those of other cells: when the view zooms out, content moves to other cells.
      for (const sheet of this.#sheets.flatMap((each) => [...each.values()])) {
        if (sheet.level <= level) continue
        const part = sheet.region && intersectRect(sheet.region, scaled(rect, 2 ** (sheet.level - level)))
        if (part) layers.push({ sheet, part })
      }
    }
    layers.push({ sheet: own, part: rect })
    this.#draw(cell, layers, pyramid, viewport, ratio)
    this.#keep(sheets, own, missing.length > 0, layers.map(({ sheet }) => sheet))
  }

  /** @param {Map<number, LevelCanvas>} sheets @param {Pyramid} pyramid @param {number} level */
  #sheet(sheets, pyramid, level) {
    if (!sheets.has(level)) sheets.set(level, new LevelCanvas(pyramid, level, this.#spare))
    return /** @type {LevelCanvas} */ (sheets.get(level))
  }

  /**
   * @param {Rect} cell @param {{ sheet: LevelCanvas, part: Rect }[]} layers @param {Pyramid} pyramid @param {Viewport} viewport
   * @param {number} ratio
   */
  #draw(cell, layers, pyramid, viewport, ratio) {
    const { context } = this
    context.save()
    context.setTransform(1, 0, 0, 1, 0, 0)
    context.beginPath()
    context.rect(cell.x, cell.y, cell.width, cell.height)
    context.clip()
    for (const { sheet: { level, canvas, region }, part: { x, y, ...part } } of layers) {
      if (!canvas || !region) continue
      const unit = 1 / pyramid.scale(level)
      context.setTransform(...levelMatrix(viewport, unit, ratio))
      const width = Math.min(part.width, pyramid.imageSize.width / unit - x)
      const height = Math.min(part.height, pyramid.imageSize.height / unit - y)
      context.drawImage(canvas, x - region.x, y - region.y, width, height, x, y, width, height)
    }
    context.restore()
  }

  /**
   * Keeps the level canvases that were drawn and, until no tile is missing, the finest one.
   * @param {Map<number, LevelCanvas>} sheets @param {LevelCanvas} own @param {boolean} isMissing @param {LevelCanvas[]} drawn
   */
  #keep(sheets, own, isMissing, drawn) {
    const finest = isMissing ? Math.max(...[...sheets.values()].filter(({ region }) => region).map(({ level }) => level)) : own.level
    for (const [level, sheet] of sheets) {
      if (level === own.level || level === finest || (level < own.level && drawn.includes(sheet))) continue
      sheet.close()
      sheets.delete(level)
    }
  }
}

/**
 * Returns the size of a level canvas for a cell: two level pixels per device pixel of an upright view, and a margin.
 * @param {Rect} cell
 */
function roomOf({ width, height }) { return { width: 2 * width + BESIDE, height: 2 * height + BESIDE } }
