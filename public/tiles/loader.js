import { tileKey } from './plan.js'

const BACK_OFF = [250, 1000, 4000] // ms

/** There is no such tile, or it is no picture: trying again does not change that. */
export class MissingTile extends Error {}

/**
 * Loads the tiles that are wanted, a few at a time in their order; those that are not wanted any more are aborted, those out of reach
 * tried again after pauses.
 */
export class TileLoader {
  constructor({ fetchTile, loaded, failed, later = (action, delay) => setTimeout(action, delay) }, concurrency = 6) {
    Object.assign(this, { fetchTile, loaded, failed, later, concurrency, running: new Map(), wanted: [], troubles: new Map() })
    this.counts = { requested: 0, loaded: 0, aborted: 0, retried: 0, failed: 0 }
  }

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

  get failures() { return this.wanted.filter((tile) => this.hasFailed(tile)).length }

  /** Whether some of those that are given up are only out of reach. */
  get mayCome() { return this.wanted.some((tile) => this.hasFailed(tile) && this.troubles.get(tileKey(tile)).tries < Infinity) }

  get pending() { return this.wanted.length - this.failures }

  hasFailed(tile) { return (this.troubles.get(tileKey(tile))?.tries ?? 0) > BACK_OFF.length }

  stop() { this.want([]) }

  /** How many were out of reach, but not missing. */
  retry() {
    const out = [...this.troubles].filter(([, { tries }]) => tries > BACK_OFF.length && tries < Infinity)
    for (const [key] of out) this.troubles.delete(key)
    this.fill()
    return out.length
  }

  fill() {
    for (const tile of this.wanted) {
      if (this.running.size >= this.concurrency) return
      const key = tileKey(tile)
      if (!this.running.has(key) && !this.troubles.get(key)?.waits && !this.hasFailed(tile)) this.start(tile, key)
    }
  }

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

  trouble(tile, key, error) {
    const tries = error instanceof MissingTile ? Infinity : (this.troubles.get(key)?.tries ?? 0) + 1
    const trouble = { tries, waits: tries <= BACK_OFF.length }
    this.troubles.set(key, trouble)
    if (!trouble.waits) {
      this.counts.failed += 1
      return this.failed(tile)
    }
    this.counts.retried += 1
    this.later(() => {
      trouble.waits = false
      this.fill()
    }, BACK_OFF[tries - 1])
  }
}
