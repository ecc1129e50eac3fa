import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TileCache } from '../../../public/tiles/cache.js'

const bitmap = (closed, name) => ({ width: 10, height: 10, close: () => closed.push(name) })

test('the least recently used tiles are given up first, within the bytes allowed', () => {
  const closed = []
  const cache = new TileCache(1200)
  for (const name of ['a', 'b', 'c']) cache.set(name, bitmap(closed, name))
  cache.get('a')
  cache.set('d', bitmap(closed, 'd'))
  assert.equal(cache.bytes, 1600)
  cache.evict(new Set())
  assert.deepEqual(['a', 'b', 'c'].map((key) => cache.has(key)), [true, false, true])
  assert.deepEqual([closed, cache.bytes], [['b'], 1200])
})

test('tiles in use are never given up', () => {
  const closed = []
  const cache = new TileCache(400)
  for (const name of ['a', 'b', 'c']) cache.set(name, bitmap(closed, name))
  cache.evict(new Set(['a', 'c']))
  assert.deepEqual(['a', 'b', 'c'].map((key) => cache.has(key)), [true, false, true])
  assert.equal(cache.bytes, 800)
})

test('a replaced or deleted tile is closed and counted once', () => {
  const closed = []
  const cache = new TileCache(1e6)
  cache.set('a', bitmap(closed, 1))
  cache.set('a', bitmap(closed, 2))
  assert.deepEqual([closed, cache.bytes], [[1], 400])
  cache.clear()
  assert.deepEqual([closed, cache.bytes], [[1, 2], 0])
})
