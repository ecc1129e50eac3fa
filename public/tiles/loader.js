import { tileKey } from './plan.js'

const BACK_OFF = [250, 1000, 4000] // ms

/** An error for a tile that does not exist. Retries do not help. */
export class MissingTile extends Error {}

/** An error for a tile that the server refuses or that is invalid. It is only retried on the reader's request. */
export class RefusedTile extends MissingTile {}

/**
 * Loads the wanted tiles in their order, a few at a time. Tiles that are no longer wanted are aborted; unreachable ones are
 * retried with a backoff. Because thousands of tiles may be wanted, the handling of one tile never visits all of them.
 */
export class TileLoader {
  constructor({ fetchTile, loaded, failed, later = (action, delay) => setTimeout(action, delay) }, concurrency = 6) {
    Object.assign(this, { fetchTile, loaded, failed, later, concurrency, running: new Map() })
    /** The wanted tiles that are not loaded, by key. */
    this.wanted = new Map()
    /** The wanted tiles that can be requested now, in their order. */
    this.ready = new Map()
    /** The failures of a tile by key: their number, whether it waits for a retry, and whether it was refused. */
    this.troubles = new Map()
    /** The keys of wanted tiles that were given up. */
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

  /** Updates the tiles that are given up and those that can be requested. */
  sort() {
    this.givenUp = new Set([...this.troubles].filter(([key, trouble]) => hasFailed(trouble) && this.wanted.has(key)).map(([key]) => key))
    this.ready = new Map([...this.wanted].filter(([key]) => !this.running.has(key) && !this.troubles.get(key)?.waits && !this.givenUp.has(key)))
  }

  get failures() { return this.givenUp.size }

  /** Whether some of the tiles that are given up are only unreachable. */
  get mayCome() { return this.isGivenUp(({ tries }) => tries < Infinity) }

  /** Whether some of the tiles that are given up may load if the reader requests a retry. */
  get isRefused() { return this.isGivenUp(({ isRefused }) => isRefused) }

  isGivenUp(test) { return [...this.givenUp].some((key) => test(this.troubles.get(key))) }

  get pending() { return this.wanted.size - this.givenUp.size }

  stop() { this.want([]) }

  /**
   * Retries the unreachable tiles.
   * @param {boolean} [byHand] whether to retry the refused ones, too
   * @returns {number} the number of tiles
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
