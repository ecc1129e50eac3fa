/**
 * @file A tile source for OpenSeadragon 6. The first view and the image's description are loaded in one response. The
 *   adjacent tiles of each later movement are also loaded together.
 */

import { readFrames } from '../sources/length-prefixed.js'
import { request, webURL, withPath } from '../web-url.js'

/** Milliseconds during which OpenSeadragon's jobs are collected into one request. */
const BATCH_DELAY = 20
/** Milliseconds after the first view before coarser tiles are loaded. */
const PREFETCH_DELAY = 300
/** Milliseconds between redraws while tiles arrive. */
const REDRAW_INTERVAL = 100

/**
 * Creates the tile source for OpenSeadragon's option `tileSources` and its method `open`. If loading fails, it raises the
 * event `open-failed`.
 *
 * @param {object} OpenSeadragon the library, which need not be global
 * @param {string | URL} address an image's address in the API: `https://example.org/api/images/night-watch`
 * @param {object} [options]
 * @param {string | Element} [options.element] the viewer's element or its id, whose size determines the first view (default:
 *   the window)
 * @param {Promise<Response>} [options.view] the response to a request for the first view that the page has already sent, in
 *   parallel with its scripts: `viewport.tiles` with the element's `width` and `height`, `dpr`,
 *   `include=overview,description`
 * @returns {object} an `OpenSeadragon.TileSource`
 */
export function zigguratTileSource(OpenSeadragon, address, { element, view } = {}) {
  const url = webURL(address)
  const box = (typeof element === 'string' ? document.getElementById(element) : element) ?? document.documentElement
  /**
   * The jobs to be combined into one request. OpenSeadragon's own batches, since 6.0, are not usable: each frame calls
   * `ImageLoader.clear`, which drops waiting batches, and their tiles never load.
   */
  const waitingJobs = []
  /** Each finished tile makes OpenSeadragon redraw the whole view, so several are finished together. */
  const finishing = []
  let loading = 0
  let timer = 0
  const finishAll = () => {
    clearTimeout(timer)
    timer = 0
    finishing.splice(0).forEach((finish) => finish())
  }
  /** Promises of bitmaps of tiles in combined requests, by tile key. */
  const pendingTiles = new Map()
  const size = { width: box.clientWidth || 1, height: box.clientHeight || 1 }
  // Slightly more, since OpenSeadragon prefers the finer one of two sufficient levels.
  const first = requestView(url, { ...size, dpr: devicePixelRatio * 1.00001, include: 'overview,description' }, pendingTiles, view)
  // Resolves after the first view is shown. Coarser tiles wait for it, because few of them are needed then.
  const shown = first.then(() => Promise.allSettled([...pendingTiles.values()])).catch(() => {})
    .then(() => new Promise((done) => setTimeout(done, PREFETCH_DELAY)))

  class ZigguratTileSource extends OpenSeadragon.TileSource {
    getImageInfo() {
      first.then(({ description: { width, height, tileSize, overlap = 0, levels, format, generation, urls } }) => {
        const descriptor = webURL(urls.dzi, url)
        const single = levels.findLastIndex(({ columns, rows }) => columns * rows === 1)
        Object.assign(this, {
          width, height, tileSize, tileOverlap: overlap, minLevel: Math.max(single, 0), maxLevel: levels.length - 1, ready: true,
          folder: withPath(descriptor, descriptor.pathname.replace(/\.dzi$/, '_files')).href,
          // Browsers without JPEG XL load JPEG, tile by tile.
          fileExtension: `${format === 'jpeg' || format === 'jxl' ? 'jpg' : format}${generation ? `?v=${generation}` : ''}`,
          grid: format === 'jxl' ? null : { tileSize, levels, version: generation ? { v: generation } : {} },
        })
        if (!this.grid) pendingTiles.clear()
        this.raiseEvent('ready', { tileSource: this })
      }).catch((error) => {
        this.openError = { message: error.message, source: url.href }
        this.raiseEvent('open-failed', this.openError)
      })
    }

    /** Also notifies a viewer that is created after the failure. */
    addHandler(name, handler, ...rest) {
      super.addHandler(name, handler, ...rest)
      if (name === 'open-failed' && this.openError) handler(this.openError)
    }

    getTileUrl(level, column, row) { return `${this.folder}/${level}/${column}_${row}.${this.fileExtension}` }

    equals(other) { return other.folder === this.folder && other.fileExtension === this.fileExtension }

    downloadTileStart(job) {
      const { tiledImage } = job.tile
      // OpenSeadragon would take ten tiles in the first frame and one in each later frame, but those of the first view are
      // already loading. This is done only once. If more tiles arrived at once than its cache holds, it would drop needed
      // tiles and request them again endlessly.
      if (tiledImage && !this.hasStarted) {
        tiledImage._currentMaxTilesPerFrame = Math.max(tiledImage._currentMaxTilesPerFrame ?? 1, pendingTiles.size)
      }
      this.hasStarted = true
      job.userData.abort = new AbortController()
      if (pendingTiles.has(keyOf(job)) || !this.grid) return this.load(job)
      waitingJobs.push(job)
      if (waitingJobs.length === 1) shown.then(() => setTimeout(() => this.loadWaiting(), BATCH_DELAY))
    }

    loadWaiting() {
      const jobs = waitingJobs.splice(0).filter(({ userData }) => !userData.abort.signal.aborted)
      for (const level of new Set(jobs.map(({ tile }) => tile.level))) {
        requestBatch(url, this.grid, level, jobs.filter(({ tile }) => tile.level === level), pendingTiles)
      }
      jobs.forEach((job) => this.load(job))
    }

    load(job) {
      const key = keyOf(job)
      const { abort } = job.userData
      const loadSingle = () => request(job.src, { signal: abort.signal }).then((response) => {
        if (!response.ok) throw new Error(`${response.status} for ${job.src}`)
        return response.blob()
      }).then(decodeTile)
      const bitmap = pendingTiles.get(key)?.catch(loadSingle) ?? loadSingle()
      loading += 1
      bitmap.then((found) => () => job.finish(found, null, 'imageBitmap'), ({ message }) => () => job.fail(message, null))
        .then((finish) => {
          pendingTiles.delete(key)
          loading -= 1
          finishing.push(finish)
          if (loading === 0) finishAll()
          else timer ||= setTimeout(finishAll, REDRAW_INTERVAL)
        })
    }

    downloadTileAbort(job) { job.userData.abort?.abort() }
  }
  return new ZigguratTileSource(url.href)
}

function keyOf({ tile: { level, x, y } }) { return `${level}/${x}_${y}` }

/** Requests tiles of a level that nearly fill a rectangle, by the viewport that shows exactly these. */
function requestBatch(url, { tileSize, levels, version }, level, jobs, pendingTiles) {
  const [columns, rows] = [jobs.map(({ tile }) => tile.x), jobs.map(({ tile }) => tile.y)]
  const [left, top, right, bottom] = [Math.min(...columns), Math.min(...rows), Math.max(...columns) + 1, Math.max(...rows) + 1]
  if (jobs.length === 1 || (right - left) * (bottom - top) > jobs.length * 1.5) return
  const [x, y] = [left * tileSize, top * tileSize]
  const width = Math.min(right * tileSize, levels[level].width) - x
  const height = Math.min(bottom * tileSize, levels[level].height) - y
  const wanted = jobs.map(keyOf)
  const found = new Map()
  const coverage = requestView(url, { width, height, x, y, scale: 2 ** (level + 1 - levels.length), ...version }, found)
  for (const key of wanted) {
    pendingTiles.set(key, coverage.then(() => found.get(key) ?? Promise.reject(new Error(`${key} is not in the answer`))))
  }
}

/**
 * Requests a viewport with its tiles.
 * @param {URL} url the image's address
 * @param {object} query the viewport
 * @param {Map<string, Promise<ImageBitmap>>} pendingTiles receives the promises of the tiles as soon as the response
 *   lists them
 * @param {Promise<Response>} [sentRequest] the response, if the request was already sent
 * @returns {Promise<object>} the coverage, before its tiles are loaded; rejected with an `Error` if the request fails
 */
async function requestView(url, query, pendingTiles, sentRequest) {
  const sentResponse = await sentRequest?.catch(() => null)
  const response = sentResponse?.ok ? sentResponse : await request(withPath(url, `${url.pathname}/viewport.tiles`, `?${new URLSearchParams(query)}`))
  if (!response.ok) throw new Error(`${response.status} for ${url}`)
  const parts = readFrames(response.body.getReader())
  const next = async () => {
    const { value, done } = await parts.next()
    if (done) throw new Error('the answer was cut short')
    return value
  }
  const coverage = JSON.parse(new TextDecoder().decode(await next()))
  for (const { level, column, row } of coverage.tiles) {
    // Decoded on arrival, in parallel: OpenSeadragon decodes tiles one after the other.
    const bitmap = next().then((part) => decodeTile(new Blob([part])))
    bitmap.catch(() => {})
    pendingTiles.set(`${level}/${column}_${row}`, bitmap)
  }
  return coverage
}

/** Decodes a tile in the same way as OpenSeadragon. */
function decodeTile(blob) { return createImageBitmap(blob, { colorSpaceConversion: 'none' }) }
