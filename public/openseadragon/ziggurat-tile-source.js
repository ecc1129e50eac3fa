/**
 * @file A tile source for OpenSeadragon 6: the first view comes in one answer, with the image's description, and so do the
 * tiles of each move that lie side by side.
 */

import { readFrames } from '../sources/length-prefixed.js'
import { request, webURL, withPath } from '../web-url.js'

/** Milliseconds in which OpenSeadragon's jobs come together. */
const TOGETHER = 20
/** Milliseconds that what is coarser than the first view comes after it. */
const LATER = 300
/** Milliseconds between two drawings while tiles come. */
const DRAWN = 100

/**
 * Makes what OpenSeadragon's option `tileSources` and method `open` take.
 *
 * @param {object} OpenSeadragon the library, which need not be global
 * @param {string | URL} address an image's address in the API: `https://example.org/api/images/night-watch`
 * @param {object} [options]
 * @param {string | Element} [options.element] the viewer's element or its id, whose size the first view is asked for; without
 *   one the window's
 * @param {Promise<Response>} [options.view] the answer to the first view, where the page has asked for it already, so that it
 *   comes beside the scripts: `viewport.tiles` with the element's `width` and `height`, `dpr`, `include=overview,description`
 * @returns {object} an `OpenSeadragon.TileSource`
 */
export function zigguratTileSource(OpenSeadragon, address, { element, view } = {}) {
  const url = webURL(address)
  const box = (typeof element === 'string' ? document.getElementById(element) : element) ?? document.documentElement
  /**
   * Jobs that make a request together. OpenSeadragon has batches of its own since 6.0, and `ImageLoader.clear`, which each
   * frame calls, drops those that still wait: their tiles never come.
   */
  const waiting = []
  /** Each tile that is finished has OpenSeadragon draw the whole view: some are finished together. */
  const finishing = []
  let loading = 0
  let timer = 0
  const finishAll = () => {
    clearTimeout(timer)
    timer = 0
    finishing.splice(0).forEach((finish) => finish())
  }
  /** Tiles that have been asked for with others, by their keys: promises of bitmaps. */
  const coming = new Map()
  const place = { width: box.clientWidth || 1, height: box.clientHeight || 1 }
  // A hair more, since OpenSeadragon takes the finer of two levels that would both do.
  const first = ask(url, { ...place, dpr: devicePixelRatio * 1.00001, include: 'overview,description' }, coming, view)
  // Fulfilled once the first view is there: what is coarser waits, since by then hardly any of it is needed.
  const shown = first.then(() => Promise.allSettled([...coming.values()])).catch(() => {})
    .then(() => new Promise((done) => setTimeout(done, LATER)))

  class ZigguratTileSource extends OpenSeadragon.TileSource {
    getImageInfo() {
      first.then(({ description: { width, height, tileSize, overlap = 0, levels, format, generation, urls } }) => {
        const descriptor = webURL(urls.dzi, url)
        const single = levels.findLastIndex(({ columns, rows }) => columns * rows === 1)
        Object.assign(this, {
          width, height, tileSize, tileOverlap: overlap, minLevel: Math.max(single, 0), maxLevel: levels.length - 1, ready: true,
          folder: withPath(descriptor, descriptor.pathname.replace(/\.dzi$/, '_files')).href,
          // Browsers without JPEG XL get JPEG, tile by tile.
          ending: `${format === 'jpeg' || format === 'jxl' ? 'jpg' : format}${generation ? `?v=${generation}` : ''}`,
          grid: format === 'jxl' ? null : { tileSize, levels, pin: generation ? { v: generation } : {} },
        })
        if (!this.grid) coming.clear()
        this.raiseEvent('ready', { tileSource: this })
      }).catch((error) => {
        this.fault = { message: error.message, source: url.href }
        this.raiseEvent('open-failed', this.fault)
      })
    }

    /** A viewer that is made later hears of it, too. */
    addHandler(name, handler, ...rest) {
      super.addHandler(name, handler, ...rest)
      if (name === 'open-failed' && this.fault) handler(this.fault)
    }

    getTileUrl(level, column, row) { return `${this.folder}/${level}/${column}_${row}.${this.ending}` }

    equals(other) { return other.folder === this.folder && other.ending === this.ending }

    downloadTileStart(job) {
      const { tiledImage } = job.tile
      // By itself it takes ten tiles in the first frame and one in each that follows; the first view's are on their way. Once: where
      // more tiles come together than it may keep, it drops some that it needs, and asks for them again without end.
      if (tiledImage && !this.begun) {
        tiledImage._currentMaxTilesPerFrame = Math.max(tiledImage._currentMaxTilesPerFrame ?? 1, coming.size)
      }
      this.begun = true
      job.userData.ending = new AbortController()
      if (coming.has(keyOf(job)) || !this.grid) return this.load(job)
      waiting.push(job)
      if (waiting.length === 1) shown.then(() => setTimeout(() => this.loadWaiting(), TOGETHER))
    }

    loadWaiting() {
      const jobs = waiting.splice(0).filter(({ userData }) => !userData.ending.signal.aborted)
      for (const level of new Set(jobs.map(({ tile }) => tile.level))) {
        askTogether(url, this.grid, level, jobs.filter(({ tile }) => tile.level === level), coming)
      }
      jobs.forEach((job) => this.load(job))
    }

    load(job) {
      const key = keyOf(job)
      const { ending } = job.userData
      const alone = () => request(job.src, { signal: ending.signal }).then((answer) => {
        if (!answer.ok) throw new Error(`${answer.status} for ${job.src}`)
        return answer.blob()
      }).then(decoded)
      const bitmap = coming.get(key)?.catch(alone) ?? alone()
      loading += 1
      bitmap.then((found) => () => job.finish(found, null, 'imageBitmap'), ({ message }) => () => job.fail(message, null))
        .then((finish) => {
          coming.delete(key)
          loading -= 1
          finishing.push(finish)
          if (loading === 0) finishAll()
          else timer ||= setTimeout(finishAll, DRAWN)
        })
    }

    downloadTileAbort(job) { job.userData.ending?.abort() }
  }
  return new ZigguratTileSource(url.href)
}

function keyOf({ tile: { level, x, y } }) { return `${level}/${x}_${y}` }

/** Asks for tiles of a level that fill a rectangle, or nearly so, by the viewport that shows just these. */
function askTogether(url, { tileSize, levels, pin }, level, jobs, coming) {
  const [columns, rows] = [jobs.map(({ tile }) => tile.x), jobs.map(({ tile }) => tile.y)]
  const [left, top, right, bottom] = [Math.min(...columns), Math.min(...rows), Math.max(...columns) + 1, Math.max(...rows) + 1]
  if (jobs.length === 1 || (right - left) * (bottom - top) > jobs.length * 1.5) return
  const [x, y] = [left * tileSize, top * tileSize]
  const width = Math.min(right * tileSize, levels[level].width) - x
  const height = Math.min(bottom * tileSize, levels[level].height) - y
  const wanted = jobs.map(keyOf)
  const found = new Map()
  const answer = ask(url, { width, height, x, y, scale: 2 ** (level + 1 - levels.length), ...pin }, found)
  for (const key of wanted) {
    coming.set(key, answer.then(() => found.get(key) ?? Promise.reject(new Error(`${key} is not in the answer`))))
  }
}

/**
 * Asks the server for a viewport with its tiles.
 * @param {URL} url the image's
 * @param {object} query the viewport
 * @param {Map<string, Promise<ImageBitmap>>} coming where the tiles are told of as soon as it is known which ones come
 * @param {Promise<Response>} [begun] the answer, where somebody has asked
 * @returns {Promise<object>} the coverage, before its tiles are there
 */
async function ask(url, query, coming, begun) {
  const asked = await begun?.catch(() => null)
  const answer = asked?.ok ? asked : await request(withPath(url, `${url.pathname}/viewport.tiles`, `?${new URLSearchParams(query)}`))
  if (!answer.ok) throw new Error(`${answer.status} for ${url}`)
  const parts = readFrames(answer.body.getReader())
  const next = async () => {
    const { value, done } = await parts.next()
    if (done) throw new Error('the answer was cut short')
    return value
  }
  const coverage = JSON.parse(new TextDecoder().decode(await next()))
  for (const { level, column, row } of coverage.tiles) {
    // Decoded as it comes, beside the others: OpenSeadragon decodes one after the other.
    const bitmap = next().then((part) => decoded(new Blob([part])))
    bitmap.catch(() => {})
    coming.set(`${level}/${column}_${row}`, bitmap)
  }
  return coverage
}

/** As OpenSeadragon decodes. */
function decoded(blob) { return createImageBitmap(blob, { colorSpaceConversion: 'none' }) }
