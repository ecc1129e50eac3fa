import { tileKey } from './tile-priority.js'

const BACKOFF = [250, 1000, 4000] // ms

/** An error for a tile that does not exist. Retries do not help. */
export class MissingTile extends Error {}

/** An error for a tile that the server refuses or that is invalid. It is only retried on the reader's request. */
export class RefusedTile extends MissingTile {}

/**
 * Loads the wanted tiles in their order, a few at a time. Tiles that are no longer wanted are aborted; unreachable ones are
 * retried with a backoff. Because thousands of tiles may be wanted, the handling of one tile never visits all of them.
 */
export class TileLoader {
  /** The running requests, by key. */
  #running = new Map()
  /** The wanted tiles that are not loaded, by key. */
  #wanted = new Map()
  /** The wanted tiles that can be requested now, in their order. */
  #ready = new Map()
  /** The failures of a tile by key: their number, whether it waits for a retry, and whether it was refused. */
  #failures = new Map()
  /** The keys of wanted tiles that were given up. */
  #givenUp = new Set()

  constructor({ fetchTile, loaded, failed, schedule = (action, delay) => setTimeout(action, delay) }, concurrency = 6) {
    Object.assign(this, { fetchTile, loaded, failed, schedule, concurrency })
    this.counts = { requested: 0, loaded: 0, aborted: 0, retried: 0, failed: 0 }
  }

  setWanted(tiles) {
    this.#wanted = new Map(tiles.map((tile) => [tileKey(tile), tile]))
    for (const [key, request] of this.#running) {
      if (this.#wanted.has(key)) continue
      this.#running.delete(key)
      this.counts.aborted += 1
      request.abort.abort()
    }
    this.#updateQueue()
    this.#startNext()
  }

  /** Updates the tiles that are given up and those that can be requested. */
  #updateQueue() {
    this.#givenUp = new Set([...this.#failures].filter(([key, failure]) => hasFailed(failure) && this.#wanted.has(key)).map(([key]) => key))
    this.#ready = new Map([...this.#wanted].filter(([key]) => !this.#running.has(key) && !this.#failures.get(key)?.isWaiting && !this.#givenUp.has(key)))
  }

  get failedCount() { return this.#givenUp.size }

  /** Whether some of the tiles that are given up are only unreachable. */
  get hasUnreachable() { return this.#someGivenUp(({ attempts }) => attempts < Infinity) }

  /** Whether some of the tiles that are given up may load if the reader requests a retry. */
  get hasRefused() { return this.#someGivenUp(({ isRefused }) => isRefused) }

  #someGivenUp(test) { return [...this.#givenUp].some((key) => test(this.#failures.get(key))) }

  get pending() { return this.#wanted.size - this.#givenUp.size }

  stop() { this.setWanted([]) }

  /**
   * Retries the unreachable tiles.
   * @param {boolean} [isManual] whether to retry the refused ones, too
   * @returns {number} the number of tiles
   */
  retry(isManual = false) {
    const retried = [...this.#failures].filter(([, failure]) => hasFailed(failure) && (failure.attempts < Infinity || isManual && failure.isRefused))
    for (const [key] of retried) this.#failures.delete(key)
    this.#updateQueue()
    this.#startNext()
    return retried.length
  }

  #startNext() {
    for (const [key, tile] of this.#ready) {
      if (this.#running.size >= this.concurrency) return
      this.#ready.delete(key)
      this.#start(tile, key)
    }
  }

  async #start(tile, key) {
    const request = { tile, abort: new AbortController() }
    this.#running.set(key, request)
    this.counts.requested += 1
    try {
      const bitmap = await this.fetchTile(tile, request.abort.signal)
      if (this.#running.get(key) !== request) return
      this.#running.delete(key)
      this.#failures.delete(key)
      this.#wanted.delete(key)
      this.counts.loaded += 1
      this.loaded(tile, bitmap)
    } catch (error) {
      if (this.#running.get(key) !== request) return
      this.#running.delete(key)
      this.#handleFailure(tile, key, error)
    }
    this.#startNext()
  }

  #handleFailure(tile, key, error) {
    const attempts = error instanceof MissingTile ? Infinity : (this.#failures.get(key)?.attempts ?? 0) + 1
    const failure = { attempts, isWaiting: attempts <= BACKOFF.length, isRefused: error instanceof RefusedTile }
    this.#failures.set(key, failure)
    if (!failure.isWaiting) {
      this.counts.failed += 1
      this.#givenUp.add(key)
      return this.failed(tile)
    }
    this.counts.retried += 1
    this.schedule(() => {
      failure.isWaiting = false
      if (this.#failures.get(key) === failure && this.#wanted.has(key) && !this.#running.has(key)) this.#ready.set(key, tile)
      this.#startNext()
    }, BACKOFF[attempts - 1])
  }
}

function hasFailed({ attempts }) { return attempts > BACKOFF.length }
