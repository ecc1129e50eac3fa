import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Coverage } from '../../../public/geometry/coverage.js'
import { Pyramid } from '../../../public/geometry/pyramid.js'
import { Rotation } from '../../../public/geometry/rotation.js'
import { Viewport } from '../../../public/geometry/viewport.js'
import { random } from '../numbers.mjs'

/** How far two convex polygons reach into each other, the least over all edge directions; ≤ 0 is apart. */
function penetration(a, b) {
  let least = Infinity
  for (const polygon of [a, b]) {
    polygon.forEach((p, index) => {
      const q = polygon[(index + 1) % polygon.length]
      const length = Math.hypot(q.x - p.x, q.y - p.y)
      const normal = { x: (q.y - p.y) / length, y: (p.x - q.x) / length }
      const shadow = (points) => points.map(({ x, y }) => x * normal.x + y * normal.y)
      const [sa, sb] = [shadow(a), shadow(b)]
      least = Math.min(least, Math.max(...sa) - Math.min(...sb), Math.max(...sb) - Math.min(...sa))
    })
  }
  return least
}

test('the tiles are exactly those that meet the visible area, at any scale, offset and angle', () => {
  const next = random(7)
  let checked = 0
  for (let round = 0; round < 1500; round += 1) {
    const image = { width: 1 + Math.floor(next() * 3000), height: 1 + Math.floor(next() * 3000) }
    const pyramid = new Pyramid(image, 64 + Math.floor(next() * 200))
    const scale = 2 ** (next() * 8 - 5)
    const viewport = new Viewport({
      width: 50 + next() * 800, height: 50 + next() * 800, scale,
      x: (next() * 1.4 - 0.2) * image.width * scale - 200, y: (next() * 1.4 - 0.2) * image.height * scale - 200,
      rotation: new Rotation([0, 90, 30, 45, next() * 360][round % 5], round % 2 === 0),
    })
    const coverage = new Coverage(pyramid, viewport, [1, 1.5, 3][round % 3])
    const corners = [[0, 0], [1, 0], [1, 1], [0, 1]].map(([x, y]) =>
      viewport.imagePoint({ x: x * viewport.width, y: y * viewport.height }))
    const found = new Set(coverage.tiles().map(({ column, row }) => `${column}_${row}`))
    const cell = pyramid.tileSize / pyramid.scale(coverage.level)
    for (let row = 0; row < pyramid.rows(coverage.level); row += 1) {
      for (let column = 0; column < pyramid.columns(coverage.level); column += 1) {
        const [left, top] = [column * cell, row * cell]
        const [right, bottom] = [Math.min(left + cell, image.width), Math.min(top + cell, image.height)]
        const depth = penetration(corners, [
          { x: left, y: top }, { x: right, y: top }, { x: right, y: bottom }, { x: left, y: bottom }])
        // Nearer than rounding the oracle itself cannot say.
        if (Math.abs(depth) < 1e-6) continue
        assert.equal(found.has(`${column}_${row}`), depth > 0, `round ${round} tile ${column}_${row} depth ${depth}`)
        checked += 1
      }
    }
  }
  assert.ok(checked > 50_000, `${checked} tiles checked`)
})

test('the nearest to the centre comes first', () => {
  const pyramid = new Pyramid({ width: 5120, height: 2880 }, 512)
  const viewport = new Viewport({ width: 1280, height: 800, scale: 1, x: 1700, y: 900 })
  const tiles = new Coverage(pyramid, viewport).tiles()
  const distance = ({ column, row }) => Math.hypot(
    (column * 512 + Math.min(column * 512 + 512, 5120)) / 2 - 2340, (row * 512 + Math.min(row * 512 + 512, 2880)) / 2 - 1300)
  for (let index = 1; index < tiles.length; index += 1) assert.ok(distance(tiles[index]) >= distance(tiles[index - 1]))
  assert.equal(tiles.length, 3 * 3)
})

test('a viewport beside the image has no tiles', () => {
  const pyramid = new Pyramid({ width: 100, height: 100 }, 64)
  for (const [x, y] of [[100, 0], [-50, 0], [0, 100], [0, -50], [1e9, 1e9]]) {
    const coverage = new Coverage(pyramid, new Viewport({ width: 50, height: 50, scale: 1, x, y }))
    assert.deepEqual(coverage.tiles(), [])
    assert.equal(coverage.visible, null)
  }
})
