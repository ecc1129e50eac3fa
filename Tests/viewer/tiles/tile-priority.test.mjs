import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Coverage } from '../../../public/geometry/coverage.js'
import { Pyramid } from '../../../public/geometry/pyramid.js'
import { Viewport } from '../../../public/geometry/viewport.js'
import { prioritizedTiles, tileKey } from '../../../public/tiles/tile-priority.js'

const pyramid = new Pyramid({ width: 5120, height: 2880 }, 512)
const view = (scale, x, y) => new Viewport({ width: 1280, height: 800, scale, x, y })

test('the whole image in one tile comes first, then exactly the tiles in view, each once', () => {
  const seen = view(1, 1700, 900)
  const tiles = prioritizedTiles(pyramid, seen, seen, 1)
  assert.deepEqual(tiles[0], { level: 9, column: 0, row: 0 })
  assert.deepEqual(tiles.slice(1).map(tileKey), new Coverage(pyramid, seen, 1).tiles().map(tileKey))
  assert.equal(new Set(tiles.map(tileKey)).size, tiles.length)
})

test('a zoom asks for the level it ends on, not for those it passes', () => {
  const tiles = prioritizedTiles(pyramid, view(0.3, 0, 0), view(1, 300, 300), 1)
  assert.deepEqual([...new Set(tiles.map(({ level }) => level))], [9, 13])
})

test('the last frame before a quarter of full resolution asks for no finer level', () => {
  const tiles = prioritizedTiles(pyramid, view(0.25 * (1 + 1e-8), 0, 0), view(0.25, 0, 0), 1)
  assert.deepEqual([...new Set(tiles.map(({ level }) => level))], [9, 11])
})

test('a throw asks for what is passed and for where it ends', () => {
  const [here, there] = [view(1, 0, 0), view(1, 2560, 0)]
  const tiles = new Set(prioritizedTiles(pyramid, here, there, 1).map(tileKey))
  for (const end of [here, there]) {
    for (const tile of new Coverage(pyramid, end, 1).tiles()) assert.ok(tiles.has(tileKey(tile)))
  }
})

test('nothing in view, nothing asked for', () => {
  assert.deepEqual(prioritizedTiles(pyramid, view(1, 9000, 0), view(1, 9000, 0), 1), [])
})
