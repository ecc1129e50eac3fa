// @ts-check
import { tileKey } from './plan.js'

/**
 * @typedef {import('./plan.js').TileAddress} TileAddress
 * @typedef {{tile: TileAddress, abort: AbortController}} Request
 */

/** Waits before the second, third and fourth try, ms. */
const BACK_OFF = [250, 1000, 4000]

/** A tile that no retry would mend. */
export class MissingTile extends Error {}

/**
 * Keeps the wanted tiles coming: a few at a time, most wanted first; what is no longer wanted is
 * aborted, what failed is tried again later.
 * @template Bitmap
 */
export class TileLoader {
  /**
   * @param {object} world
   * @param {(tile: TileAddress, signal: AbortSignal) => Promise<Bitmap>} world.fetchTile throws MissingTile where a retry is of no use
   * @param {(tile: TileAddress, bitmap: Bitmap) => void} world.loaded
   * @param {(tile: TileAddress, error: unknown) => void} world.failed after the last try
   * @param {(action: () => void, delay: number) => void} [world.later]
   * @param {number} [concurrency] what browsers open to one host
   */
  constructor({ fetchTile, loaded, failed, later = wait }, concurrency = 6) {
    this.fetchTile = fetchTile
    this.loaded = loaded
    this.failed = failed
    this.later = later
    this.concurrency = concurrency
    /** @type {Map<string, Request>} */
    this.running = new Map()
    /** @type {TileAddress[]} */
    this.wanted = []
    /** @type {Map<string, {tries: number, waits: boolean}>} */
    this.troubles = new Map()
    this.counts = { requested: 0, loaded: 0, aborted: 0, retried: 0, failed: 0 }
  }

  /** @param {TileAddress[]} tiles not yet held, most wanted first */
  want(tiles) {
    this.wanted = tiles
    const keys = new Set(tiles.map(tileKey))
    for (const [key, request] of this.running) {
      if (keys.has(key)) continue
      this.running.delete(key)
      this.counts.aborted += 1
      request.abort.abort()
    }
    this.fill()
  }

  /** Tiles wanted and neither loaded nor given up. */
  get pending() { return this.wanted.filter((tile) => !this.hasFailed(tile)).length }

  /** @param {TileAddress} tile */
  hasFailed(tile) { return (this.troubles.get(tileKey(tile))?.tries ?? 0) > BACK_OFF.length }

  /** Lets failed tiles be asked for again. */
  forgive() { this.troubles.clear() }

  stop() { this.want([]) }

  fill() {
    for (const tile of this.wanted) {
      if (this.running.size >= this.concurrency) return
      const key = tileKey(tile)
      if (!this.running.has(key) && !this.troubles.get(key)?.waits && !this.hasFailed(tile)) this.start(tile, key)
    }
  }

  /** @param {TileAddress} tile @param {string} key */
  async start(tile, key) {
    const request = { tile, abort: new AbortController() }
    this.running.set(key, request)
    this.counts.requested += 1
    try {
      const bitmap = await this.fetchTile(tile, request.abort.signal)
      if (this.running.get(key) !== request) return
      this.running.delete(key)
      this.troubles.delete(key)
      this.wanted = this.wanted.filter((other) => tileKey(other) !== key)
      this.counts.loaded += 1
      this.loaded(tile, bitmap)
    } catch (error) {
      if (this.running.get(key) !== request) return
      this.running.delete(key)
      this.trouble(tile, key, error)
    }
    this.fill()
  }

  /** @param {TileAddress} tile @param {string} key @param {unknown} error */
  trouble(tile, key, error) {
    const tries = error instanceof MissingTile ? Infinity : (this.troubles.get(key)?.tries ?? 0) + 1
    const trouble = { tries, waits: tries <= BACK_OFF.length }
    this.troubles.set(key, trouble)
    if (!trouble.waits) {
      this.counts.failed += 1
      this.failed(tile, error)
      return
    }
    this.counts.retried += 1
    this.later(() => {
      trouble.waits = false
      this.fill()
    }, BACK_OFF[tries - 1])
  }
}

/** @param {() => void} action @param {number} delay ms */
function wait(action, delay) { setTimeout(action, delay) }
