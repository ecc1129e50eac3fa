import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MissingTile, RefusedTile, TileLoader } from '../../../public/tiles/loader.js'

/** A loader whose requests are answered by hand and whose clock is turned by hand. */
function bench(concurrency) {
  const world = { asked: [], aborted: [], loaded: [], failed: [], timers: [], answers: new Map() }
  world.loader = new TileLoader({
    fetchTile: (tile, signal) => new Promise((resolve, reject) => {
      world.asked.push(tile.column)
      world.answers.set(tile.column, { resolve, reject })
      signal.addEventListener('abort', () => {
        world.aborted.push(tile.column)
        reject(new DOMException('', 'AbortError'))
      })
    }),
    loaded: (tile) => world.loaded.push(tile.column),
    failed: (tile) => world.failed.push(tile.column),
    schedule: (action, delay) => world.timers.push({ action, delay }),
  }, concurrency)
  world.setWanted = (...columns) => world.loader.setWanted(columns.map((column) => ({ level: 3, column, row: 0 })))
  world.settle = async (column, how = 'resolve', value = {}) => {
    world.answers.get(column)[how](value)
    await new Promise((done) => setImmediate(done))
  }
  return world
}

test('the most wanted tiles are asked for first, a few at a time, none twice', async () => {
  const world = bench(2)
  world.setWanted(1, 2, 3, 4)
  world.setWanted(1, 2, 3, 4)
  assert.deepEqual(world.asked, [1, 2])
  await world.settle(2)
  assert.deepEqual(world.asked, [1, 2, 3])
  await world.settle(1)
  await world.settle(3)
  await world.settle(4)
  assert.deepEqual(world.asked, [1, 2, 3, 4])
  assert.deepEqual(world.loaded, [2, 1, 3, 4])
  assert.equal(world.loader.pending, 0)
})

test('what is no longer wanted is aborted and makes room', async () => {
  const world = bench(2)
  world.setWanted(1, 2, 3)
  world.setWanted(2, 7, 8)
  assert.deepEqual(world.aborted, [1])
  assert.deepEqual(world.asked, [1, 2, 7])
  await world.settle(2)
  await world.settle(7)
  await world.settle(8)
  assert.deepEqual(world.loaded, [2, 7, 8])
  assert.deepEqual(world.loader.counts, { requested: 4, loaded: 3, aborted: 1, retried: 0, failed: 0 })
})

test('a failed tile is tried four times, waiting longer each time, then given up once', async () => {
  const world = bench(2)
  world.setWanted(5)
  const waits = []
  for (let round = 0; round < 3; round += 1) {
    await world.settle(5, 'reject', new Error('503'))
    world.setWanted(5)
    assert.equal(world.asked.length, round + 1, 'no try before the wait is over')
    const { action, delay } = world.timers.shift()
    waits.push(delay)
    action()
  }
  await world.settle(5, 'reject', new Error('503'))
  world.setWanted(5)
  assert.deepEqual(world.asked, [5, 5, 5, 5])
  assert.deepEqual(world.failed, [5])
  assert.ok(waits[0] < waits[1] && waits[1] < waits[2])
  assert.equal(world.loader.pending, 0)
})

test('a tile that is not there is not asked for again', async () => {
  const world = bench(2)
  world.setWanted(5, 6)
  await world.settle(5, 'reject', new MissingTile('404'))
  world.setWanted(5, 6)
  assert.deepEqual([world.asked, world.failed, world.timers.length], [[5, 6], [5], 0])
})

test('one failing tile does not hold up the others', async () => {
  const world = bench(1)
  world.setWanted(1, 2)
  await world.settle(1, 'reject', new Error('503'))
  assert.deepEqual(world.asked, [1, 2])
})

test('a tile that was refused is asked for again when the reader wants it, and not before', async () => {
  const world = bench(3)
  world.setWanted(1, 2, 3)
  await world.settle(1, 'reject', new RefusedTile('403'))
  await world.settle(2, 'reject', new MissingTile('404'))
  await world.settle(3)
  assert.deepEqual([world.loader.failedCount, world.loader.pending, world.loader.hasUnreachable, world.loader.hasRefused], [2, 0, false, true])
  assert.equal(world.loader.retry(), 0)
  assert.deepEqual(world.asked, [1, 2, 3])
  assert.equal(world.loader.retry(true), 1)
  assert.deepEqual(world.asked, [1, 2, 3, 1])
  assert.deepEqual([world.loader.failedCount, world.loader.pending, world.loader.hasRefused], [1, 1, false])
  await world.settle(1)
  assert.deepEqual([world.loaded, world.loader.pending], [[3, 1], 0])
})

test('what waits for its next try and is not wanted meanwhile is not asked for', async () => {
  const world = bench(2)
  world.setWanted(1)
  await world.settle(1, 'reject', new Error('503'))
  world.setWanted(2)
  world.timers.shift().action()
  assert.deepEqual(world.asked, [1, 2])
  world.setWanted(2, 1)
  assert.deepEqual(world.asked, [1, 2, 1])
})

test('ten thousand tiles are loaded, or given up, with work for each alone', async () => {
  for (const settle of [async () => ({}), async () => { throw new MissingTile('404') }]) {
    const tiles = Array.from({ length: 10_000 }, (_, column) => ({ level: 13, column, row: 0 }))
    let keys = 0
    for (const tile of tiles) Object.defineProperty(tile, 'level', { get() { keys += 1; return 13 } })
    await new Promise((done) => {
      const tell = () => { if (loader.pending === 0) done() }
      const loader = new TileLoader({ fetchTile: settle, loaded: tell, failed: tell })
      loader.setWanted(tiles)
    })
    // Keys are made of tiles: each time one is looked at.
    assert.ok(keys <= 2 * tiles.length, keys)
  }
})
