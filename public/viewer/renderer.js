import { CanvasPainter } from '../drawing/canvas-painter.js'
import { Pyramid } from '../geometry/pyramid.js'
import { TileCache } from '../tiles/cache.js'
import { fetchTile } from '../tiles/fetch.js'
import { TileLoader } from '../tiles/loader.js'
import { prioritizedTiles, tileKey } from '../tiles/tile-priority.js'
import { Camera } from './camera.js'
import { createElement } from './dom.js'

const REDRAW_INTERVAL = 100 // ms between redraws of a view at rest while tiles arrive
const CACHE_SIZE = 192 * 1024 * 1024 // bytes
/**
 * Maximum level pixels to draw onto level canvases per frame while the view moves: some milliseconds on a slow processor.
 */
const DRAW_BUDGET = 2 ** 21

/** One image on a canvas: its camera, its tiles, and the drawing of both. */
export class Renderer {
  #wasMoving = false
  /** The viewport that was drawn last. */
  #drawnViewport = null
  /** The time of the last drawing, in ms. */
  #drawnAt = -Infinity
  #redrawTimer = 0

  constructor(canvas, events) {
    this.events = events
    this.painter = new CanvasPainter(canvas)
    this.cache = new TileCache(CACHE_SIZE)
    Object.assign(this, {
      window: { width: 1, height: 1 }, ratio: 1, source: null, camera: null, loader: null,
      isComplete: false,
    })
  }

  open(source, options, overview = null) {
    if (overview) this.cache.set(overviewKey(source), overview)
    this.source = source
    this.camera = new Camera(source.pyramid.imageSize, this.window, options)
    this.camera.ratio = this.ratio
    this.missing = 0
    const loader = new TileLoader({
      fetchTile: (tile, signal) => fetchTile(source, tile, signal),
      loaded: (tile, bitmap) => {
        if (this.loader !== loader) return bitmap.close()
        this.cache.set(tileKey(tile), bitmap)
        this.#tileLoaded(loader.pending === 0)
      },
      failed: () => {
        if (this.loader !== loader) return
        this.invalidate()
      },
    })
    this.loader = loader
  }

  /**
   * Runs the drawing code once while the response is awaited, because its first run is slow. It uses a canvas of its own,
   * since the browser would present the visible one. No spare canvases are created, because their allocation takes longer
   * than the response.
   */
  warmUp() {
    if (this.source) return
    const pyramid = new Pyramid({ width: 2048, height: 2048 }, 512)
    const { viewport } = new Camera(pyramid.imageSize, this.window)
    prioritizedTiles(pyramid, viewport, viewport, 1)
    new CanvasPainter(createElement('canvas', {})).paint(pyramid, viewport, 11, this.ratio, this.cache)
  }

  close() {
    this.loader?.stop()
    this.loader = this.camera = this.source = null
    this.cache.clear()
    this.isComplete = this.#wasMoving = false
    cancelAnimationFrame(this.frame)
    this.frame = 0
    this.painter.clear()
    this.painter.forget()
  }

  resize(window, device, ratio) {
    this.window = window
    this.ratio = ratio
    this.painter.resize(device.width, device.height)
    if (this.camera) this.camera.ratio = ratio
    this.camera?.resize(this.window, performance.now())
    // A change of its size clears a canvas.
    if (this.camera) this.draw(performance.now())
  }

  overview() { return this.source ? this.cache.get(overviewKey(this.source)) ?? null : null }

  setPaging(paging) { if (this.camera) this.camera.options.paging = paging }

  /**
   * Retries failed tiles.
   * @param {boolean} [isManual] whether the reader requested it
   */
  retry(isManual) {
    const count = this.loader.retry(isManual)
    if (!count) return
    this.isComplete = false
    this.invalidate()
  }

  cameraChanged() {
    this.#wasMoving = true
    this.isComplete = false
    this.invalidate()
  }

  invalidate() {
    if (!this.frame && this.camera) this.frame = requestAnimationFrame((now) => this.draw(now))
  }

  #tileLoaded(isLast) {
    if (isLast && !this.#wasMoving) return this.draw(performance.now())
    const wait = this.#wasMoving ? 0 : this.#drawnAt + REDRAW_INTERVAL - performance.now()
    if (wait <= 0) return this.invalidate()
    this.#redrawTimer ||= setTimeout(() => this.invalidate(), wait)
  }

  draw(now) {
    cancelAnimationFrame(this.frame)
    clearTimeout(this.#redrawTimer)
    this.frame = this.#redrawTimer = 0
    const { camera, loader, source, cache } = this
    if (!camera) return
    const before = camera.viewport
    const isMoving = camera.advance(now)
    const { viewport } = camera
    const planned = prioritizedTiles(source.pyramid, viewport, camera.destination, this.ratio)
    const used = new Set(planned.map(tileKey))
    for (const key of used) cache.get(key)
    cache.evict(used)
    const wanted = planned.filter((tile) => !cache.has(tileKey(tile)))
    loader.setWanted(wanted)
    if (this.missing !== loader.failedCount) this.events.missing(this.missing = loader.failedCount)
    let isDrawn = true
    if (cache.bytes) {
      this.painter.clear()
      const level = source.pyramid.levelForScale(viewport.scale * this.ratio)
      isDrawn = this.painter.paint(source.pyramid, viewport, level, this.ratio, cache, this.#wasMoving ? DRAW_BUDGET : Infinity)
    }
    if (isMoving || !isDrawn) this.invalidate()
    if (before !== viewport || this.#drawnViewport !== viewport) this.events.moved()
    this.#drawnViewport = viewport
    this.#drawnAt = performance.now()
    const isAtRest = !isMoving && !camera.isHeld
    if (isAtRest && this.#wasMoving) {
      this.events.settled()
      this.retry()
    }
    this.#wasMoving = !isAtRest
    const complete = isAtRest && loader.pending === 0 && isDrawn
    this.events.progress(planned.length === 0 ? 1 : 1 - loader.pending / planned.length)
    // Later work waits until the image is on the screen.
    if (complete && !this.isComplete) requestAnimationFrame(() => setTimeout(() => this.#completed()))
    this.isComplete = complete
  }

  #completed() {
    if (!this.isComplete) return
    this.events.complete()
    this.#prepare()
  }

  /** Creates spare canvases for the next movement while the view is at rest, one by one. */
  #prepare() {
    setTimeout(() => this.isComplete && this.painter.prepare() && this.#prepare(), REDRAW_INTERVAL)
  }
}

function overviewKey({ pyramid }) { return tileKey({ level: pyramid.singleTileLevel, column: 0, row: 0 }) }
