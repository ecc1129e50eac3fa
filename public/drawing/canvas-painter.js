import { tileKey } from '../tiles/tile-priority.js'
import { CanvasPool, LevelCanvas, contextOf } from './level-canvas.js'
import { fallbackTiles, intersectRect, levelMatrix, levelRect, scaleRect, windowCells } from './tile-layout.js'

/** @typedef {import('../geometry/pyramid.js').Pyramid} Pyramid */
/** @typedef {import('../geometry/viewport.js').Viewport} Viewport */
/** @typedef {import('../geometry/types.js').Rect} Rect */
/** @typedef {import('./level-canvas.js').Tiles} Tiles */
/** @typedef {import('./level-canvas.js').DrawBudget} DrawBudget */

/** Additional level pixels of a level canvas beyond the visible part. */
const MARGIN = 128

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
  #levelCanvases = []
  #pool = new CanvasPool()

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
    this.#levelCanvases.forEach((levelCanvases) => levelCanvases.forEach((levelCanvas) => levelCanvas.close()))
    this.#levelCanvases = []
    this.#pyramid = null
  }

  /**
   * Creates one of the canvases that will be needed, in idle time.
   * @returns {boolean} whether more may have to be created
   */
  prepare() {
    const { width, height } = capacityFor(windowCells(this.canvas)[0])
    return this.#pool.prepare(width + 1, height + 1)
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
    const budget = { pixels, isExceeded: false }
    windowCells(this.canvas).forEach((cell, index) => this.#paintCell(cell, index, pyramid, viewport, level, ratio, tiles, budget))
    return !budget.isExceeded
  }

  /**
   * @param {Rect} cell @param {number} index @param {Pyramid} pyramid @param {Viewport} viewport @param {number} level
   * @param {number} ratio @param {Tiles} tiles @param {DrawBudget} budget
   */
  #paintCell(cell, index, pyramid, viewport, level, ratio, tiles, budget) {
    const visibleRect = (/** @type {number} */ at) => levelRect(viewport, 1 / pyramid.scale(at), ratio, cell, pyramid.size(at))
    const rect = visibleRect(level)
    if (!rect) return
    const levelCanvases = this.#levelCanvases[index] ??= new Map()
    const current = this.#levelCanvas(levelCanvases, pyramid, level)
    // A view at rest needs no room to move.
    const capacity = budget.pixels === Infinity ? { width: 0, height: 0 } : capacityFor(cell)
    const missing = current.drawTiles(rect, tiles, budget, capacity)
    /** @type {{ levelCanvas: LevelCanvas, part: Rect }[]} */
    const layers = []
    if (missing.length) {
      for (const need of fallbackTiles(pyramid, missing, (tile) => tiles.has(tileKey(tile)))) {
        const within = visibleRect(need.level)
        const part = within && intersectRect(need.rect, within)
        if (!part) continue
        const levelCanvas = this.#levelCanvas(levelCanvases, pyramid, need.level)
        levelCanvas.drawTiles(part, tiles, { pixels: Infinity, isExceeded: false }, capacity)
        layers.push({ levelCanvas, part })
      }
      // Also those of other cells: when the view zooms out, content moves to other cells.
      for (const levelCanvas of this.#levelCanvases.flatMap((each) => [...each.values()])) {
        if (levelCanvas.level <= level) continue
        const part = levelCanvas.region && intersectRect(levelCanvas.region, scaleRect(rect, 2 ** (levelCanvas.level - level)))
        if (part) layers.push({ levelCanvas, part })
      }
    }
    layers.push({ levelCanvas: current, part: rect })
    this.#draw(cell, layers, pyramid, viewport, ratio)
    this.#keep(levelCanvases, current, missing.length > 0, layers.map(({ levelCanvas }) => levelCanvas))
  }

  /** @param {Map<number, LevelCanvas>} levelCanvases @param {Pyramid} pyramid @param {number} level */
  #levelCanvas(levelCanvases, pyramid, level) {
    if (!levelCanvases.has(level)) levelCanvases.set(level, new LevelCanvas(pyramid, level, this.#pool))
    return /** @type {LevelCanvas} */ (levelCanvases.get(level))
  }

  /**
   * @param {Rect} cell @param {{ levelCanvas: LevelCanvas, part: Rect }[]} layers @param {Pyramid} pyramid
   * @param {Viewport} viewport @param {number} ratio
   */
  #draw(cell, layers, pyramid, viewport, ratio) {
    const { context } = this
    context.save()
    context.setTransform(1, 0, 0, 1, 0, 0)
    context.beginPath()
    context.rect(cell.x, cell.y, cell.width, cell.height)
    context.clip()
    for (const { levelCanvas: { level, canvas, region }, part: { x, y, ...part } } of layers) {
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
   * @param {Map<number, LevelCanvas>} levelCanvases @param {LevelCanvas} current @param {boolean} isMissing
   * @param {LevelCanvas[]} drawn
   */
  #keep(levelCanvases, current, isMissing, drawn) {
    const finest = isMissing ? Math.max(...[...levelCanvases.values()].filter(({ region }) => region).map(({ level }) => level)) : current.level
    for (const [level, levelCanvas] of levelCanvases) {
      if (level === current.level || level === finest || (level < current.level && drawn.includes(levelCanvas))) continue
      levelCanvas.close()
      levelCanvases.delete(level)
    }
  }
}

/**
 * Returns the size of a level canvas for a cell: two level pixels per device pixel of an upright view, and a margin.
 * @param {Rect} cell
 */
function capacityFor({ width, height }) { return { width: 2 * width + MARGIN, height: 2 * height + MARGIN } }
