import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pyramid } from '../../../public/geometry/pyramid.js'
import { fetchTile } from '../../../public/tiles/fetch.js'
import { MissingTile, RefusedTile } from '../../../public/tiles/loader.js'

const tile = { level: 0, column: 0, row: 0 }

function source(width, height, pyramid) {
  let closed = 0
  globalThis.createImageBitmap = async () => ({ width, height, close() { closed += 1 } })
  globalThis.fetch = async () => new Response('a picture')
  return { source: { pyramid, tileURL: () => 'https://example.org/0/0_0.jpg' }, closed: () => closed }
}

test('a picture far larger than its tile is refused and let go of', async () => {
  const pyramid = new Pyramid({ width: 8000, height: 6000 }, 254, 1)
  for (const [width, height, isRefused] of [[256, 256, false], [512, 512, false], [513, 512, true], [30_000, 30_000, true], [1, 262_145, true]]) {
    const { source: one, closed } = source(width, height, pyramid)
    if (isRefused) await assert.rejects(fetchTile(one, tile), RefusedTile)
    else assert.equal((await fetchTile(one, tile)).width, width)
    assert.equal(closed(), Number(isRefused))
  }
})

test('an image that is one tile may be larger than its description says', async () => {
  const { source: one } = source(9000, 6000, new Pyramid({ width: 90, height: 60 }, 90))
  assert.equal((await fetchTile(one, tile)).width, 9000)
})

test('what came ahead is held to the same, and what failed is asked for', async () => {
  const { source: one } = source(99, 99, new Pyramid({ width: 8000, height: 6000 }, 64))
  const large = { width: 9999, height: 9999, close() {} }
  await assert.rejects(fetchTile({ ...one, pendingTiles: new Map([['0/0_0', Promise.resolve(large)]]) }, tile), RefusedTile)
  assert.equal((await fetchTile({ ...one, pendingTiles: new Map([['0/0_0', Promise.reject(new Error('cut short'))]]) }, tile)).width, 99)
})

test('an answer says whether its tile is missing, refused or away', async () => {
  for (const [status, kind] of [[404, MissingTile], [410, MissingTile], [401, RefusedTile], [403, RefusedTile], [400, RefusedTile], [429, Error], [408, Error], [500, Error], [503, Error]]) {
    const { source: one } = source(9, 9, null)
    globalThis.fetch = async () => new Response('', { status })
    await assert.rejects(fetchTile(one, tile), ({ constructor }) => constructor === kind, String(status))
  }
})
