import { tileKey } from './plan.js'

const BACK_OFF = [250, 1000, 4000] // ms

/** There is no such tile: trying again does not change that. */
export class MissingTile extends Error {}

/** The server refuses the tile, or sends something else: it is tried again only when the reader asks for it. */
export class RefusedTile extends MissingTile {}

/**
 * Loads the tiles that are wanted, a few at a time in their order; those that are not wanted any more are aborted, those out of reach
 * tried again after pauses. Thousands of tiles may be wanted, so nothing that happens to one looks at all of them.
 */
export class TileLoader {
  constructor({ fetchTile, loaded, failed, later = (action, delay) => setTimeout(action, delay) }, concurrency = 6) {
    Object.assign(this, { fetchTile, loaded, failed, later, concurrency, running: new Map() })
    /** Tiles that are wanted and have not come, by their keys. */
    this.wanted = new Map()
    /** Those of them that can be asked for now, in their order. */
    this.ready = new Map()
    /** How often a tile has failed, by its key, whether it waits for its next try, and whether it was refused. */
    this.troubles = new Map()
    /** Keys of tiles that are wanted and were given up. */
    this.givenUp = new Set()
    this.counts = { requested: 0, loaded: 0, aborted: 0, retried: 0, failed: 0 }
  }

  want(tiles) {
    this.wanted = new Map(tiles.map((tile) => [tileKey(tile), tile]))
    for (const [key, request] of this.running) {
      if (this.wanted.has(key)) continue
      this.running.delete(key)
      this.counts.aborted += 1
      request.abort.abort()
    }
    this.sort()
    this.fill()
  }

  /** Finds out which tiles are given up, and which can be asked for. */
  sort() {
    this.givenUp = new Set([...this.troubles].filter(([key, trouble]) => hasFailed(trouble) && this.wanted.has(key)).map(([key]) => key))
    this.ready = new Map([...this.wanted].filter(([key]) => !this.running.has(key) && !this.troubles.get(key)?.waits && !this.givenUp.has(key)))
  }

  get failures() { return this.givenUp.size }

  /** Whether some of those that are given up are only out of reach. */
  get mayCome() { return this.isGivenUp(({ tries }) => tries < Infinity) }

  /** Whether some of those that are given up may come when the reader has them tried again. */
  get isRefused() { return this.isGivenUp(({ isRefused }) => isRefused) }

  isGivenUp(test) { return [...this.givenUp].some((key) => test(this.troubles.get(key))) }

  get pending() { return this.wanted.size - this.givenUp.size }

  stop() { this.want([]) }

  /**
   * Tries again what was out of reach.
   * @param {boolean} [byHand] also what was refused
   * @returns {number} how many tiles
   */
  retry(byHand = false) {
    const out = [...this.troubles].filter(([, trouble]) => hasFailed(trouble) && (trouble.tries < Infinity || byHand && trouble.isRefused))
    for (const [key] of out) this.troubles.delete(key)
    this.sort()
    this.fill()
    return out.length
  }

  fill() {
    for (const [key, tile] of this.ready) {
      if (this.running.size >= this.concurrency) return
      this.ready.delete(key)
      this.start(tile, key)
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
      this.wanted.delete(key)
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
    const trouble = { tries, waits: tries <= BACK_OFF.length, isRefused: error instanceof RefusedTile }
    this.troubles.set(key, trouble)
    if (!trouble.waits) {
      this.counts.failed += 1
      this.givenUp.add(key)
      return this.failed(tile)
    }
    this.counts.retried += 1
    this.later(() => {
      trouble.waits = false
      if (this.troubles.get(key) === trouble && this.wanted.has(key) && !this.running.has(key)) this.ready.set(key, tile)
      this.fill()
    }, BACK_OFF[tries - 1])
  }
}

function hasFailed({ tries }) { return tries > BACK_OFF.length }
