import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pyramid, levelCount } from '../../../public/geometry/pyramid.js'

test('every level is half of the one above, rounded up, down to one pixel', () => {
  for (let width = 1; width <= 70; width += 1) {
    for (let height = 1; height <= 70; height += 1) {
      const pyramid = new Pyramid({ width, height }, 16)
      assert.deepEqual(pyramid.size(0), { width: 1, height: 1 })
      assert.deepEqual(pyramid.size(pyramid.topLevel), { width, height })
      for (let level = 0; level < pyramid.topLevel; level += 1) {
        const above = pyramid.size(level + 1)
        assert.deepEqual(pyramid.size(level), {
          width: Math.ceil(above.width / 2), height: Math.ceil(above.height / 2),
        })
      }
    }
  }
})

test('levels are counted right at exact powers of two up to 2^40', () => {
  for (let power = 1; power <= 40; power += 1) {
    assert.equal(levelCount(2 ** power - 1), power === 1 ? 1 : power + 1)
    assert.equal(levelCount(2 ** power), power + 1)
    assert.equal(levelCount(2 ** power + 1), power + 2)
  }
})

test('tiles cover each level without gap, with and without overlap', () => {
  for (const [tileSize, overlap] of [[1, 0], [4, 0], [4, 1], [7, 3], [16, 2], [254, 1]]) {
    for (let length = 1; length <= 300; length += 1) {
      const pyramid = new Pyramid({ width: length, height: 1 }, tileSize, overlap)
      const columns = pyramid.columns(pyramid.topLevel)
      assert.equal(columns, Math.ceil(length / tileSize))
      let end = 0
      for (let column = 0; column < columns; column += 1) {
        const span = pyramid.span(column, length)
        assert.equal(span.start, Math.max(column * tileSize - (column ? overlap : 0), 0))
        assert.ok(span.start <= end && span.length >= 1)
        end = span.start + span.length
      }
      assert.equal(end, length)
    }
  }
})

test('the level for a scale is the coarsest that is fine enough', () => {
  const pyramid = new Pyramid({ width: 5120, height: 2880 }, 512)
  for (const [scale, level] of [[16, 13], [1, 13], [0.51, 13], [0.5, 12], [0.2501, 12], [0.25, 11], [1e-9, 0]]) {
    assert.equal(pyramid.levelForScale(scale), level, `scale ${scale}`)
  }
})

test('sizes that are none are refused', () => {
  for (const size of [0, -1, 1.5, NaN, Infinity, '5']) {
    assert.throws(() => new Pyramid({ width: size, height: 5 }, 512), RangeError)
    assert.throws(() => new Pyramid({ width: 5, height: 5 }, size), RangeError)
  }
  assert.throws(() => new Pyramid({ width: 5, height: 5 }, 4, 4), RangeError)
})
