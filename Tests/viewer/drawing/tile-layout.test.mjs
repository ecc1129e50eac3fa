import { containsRect, expandRect, fallbackTiles, intersectRect, levelMatrix, levelRect, scaleRect, tileRect, tilesInRect, windowCells } from '../../../public/drawing/tile-layout.js'
import { Pyramid } from '../../../public/geometry/pyramid.js'
import { Rotation } from '../../../public/geometry/rotation.js'
import { Viewport } from '../../../public/geometry/viewport.js'
import { random } from '../numbers.mjs'
import assert from 'node:assert/strict'
import { test } from 'node:test'

test('cells cover every device pixel of the canvas once, and none is large or much smaller than others', () => {
  for (const [width, height] of [[1, 1], [1024, 1024], [1025, 700], [1170, 2532], [3840, 2160], [7680, 4321]]) {
    let area = 0
    for (const cell of windowCells({ width, height })) {
      assert.ok([cell.x, cell.y, cell.width, cell.height].every(Number.isInteger) && cell.width <= 1024 && cell.height <= 1024)
      area += cell.width * cell.height
    }
    assert.equal(area, width * height)
  }
})

test('the matrix puts level pixels where the viewport shows them', () => {
  const next = random(1)
  for (let round = 0; round < 2000; round += 1) {
    const viewport = new Viewport({
      width: 900, height: 600, scale: 2 ** (next() * 8 - 5), x: next() * 900, y: next() * 900,
      rotation: new Rotation(next() * 360, round % 2 === 0),
    })
    const [unit, ratio] = [2 ** (round % 5), 1 + next() * 2]
    const [a, b, c, d, e, f] = levelMatrix(viewport, unit, ratio)
    const point = { x: next() * 2000, y: next() * 2000 }
    const seen = viewport.viewportPoint({ x: point.x * unit, y: point.y * unit })
    assert.ok(Math.hypot(a * point.x + c * point.y + e - seen.x * ratio, b * point.x + d * point.y + f - seen.y * ratio) < 1e-6)
  }
})

test('full resolution falls on whole device pixels', () => {
  const viewport = new Viewport({ width: 900, height: 600, scale: 0.5, x: 10.3, y: 20.8 })
  assert.ok(levelMatrix(viewport, 1, 2).every((value, index) => value === [1, 0, 0, 1, -21, -42][index]))
})

test('a cell’s level pixels include a margin and end at the level’s edge', () => {
  const rect = levelRect(new Viewport({ width: 200, height: 100, scale: 2, x: 100, y: 0 }), 1, 1, { x: 0, y: 0, width: 200, height: 100 }, { width: 130, height: 400 })
  assert.deepEqual(rect, { x: 48, y: 0, width: 82, height: 52 })
  assert.equal(levelRect(new Viewport({ width: 200, height: 100, scale: 1, x: -5000, y: 0 }), 1, 1, { x: 0, y: 0, width: 200, height: 100 }, { width: 100, height: 100 }), null)
})

test('the tiles of a part of a level are those that it lies in', () => {
  const pyramid = new Pyramid({ width: 2048, height: 1024 }, 256)
  assert.deepEqual(tilesInRect(pyramid, 11, { x: 255, y: 256, width: 2, height: 256 }), [
    { level: 11, column: 0, row: 1 }, { level: 11, column: 1, row: 1 }])
  assert.deepEqual(tileRect(new Pyramid({ width: 600, height: 300 }, 254, 1), { level: 10, column: 1, row: 1 }), { x: 253, y: 253, width: 256, height: 47 })
})

test('in place of each missing tile comes the next coarser level that has it, as far as it is needed', () => {
  const pyramid = new Pyramid({ width: 4096, height: 4096 }, 256)
  const there = new Set(['8/0_0', '11/1_0'])
  const has = ({ level, column, row }) => there.has(`${level}/${column}_${row}`)
  const missing = [{ level: 12, column: 2, row: 1 }, { level: 12, column: 8, row: 8 }, { level: 12, column: 9, row: 8 }]
  assert.deepEqual(fallbackTiles(pyramid, missing, has), [
    { level: 8, rect: { x: 126, y: 126, width: 36, height: 20 } }, { level: 11, rect: { x: 254, y: 126, width: 132, height: 132 } }])
  assert.deepEqual(fallbackTiles(pyramid, missing, () => false), [])
})

test('a part of a level covers the same part of another', () => {
  const next = random(3)
  for (let round = 0; round < 500; round += 1) {
    const rect = { x: Math.floor(next() * 900), y: Math.floor(next() * 900), width: 1 + Math.floor(next() * 90), height: 1 + Math.floor(next() * 90) }
    const factor = 2 ** (Math.floor(next() * 9) - 4)
    const { x, y, width, height } = scaleRect(rect, factor)
    assert.ok([x, y, width, height].every(Number.isInteger))
    assert.ok(containsRect({ x: x / factor, y: y / factor, width: width / factor, height: height / factor }, rect))
  }
})

test('a sheet’s region is as large as its room, around what is seen and within the level', () => {
  const next = random(4)
  for (let round = 0; round < 2000; round += 1) {
    const size = { width: 1 + Math.floor(next() * 3000), height: 1 + Math.floor(next() * 3000) }
    const [x, y] = [Math.floor(next() * size.width), Math.floor(next() * size.height)]
    const rect = { x, y, width: 1 + Math.floor(next() * (size.width - x - 1)), height: 1 + Math.floor(next() * (size.height - y - 1)) }
    const room = { width: 1500, height: 900 }
    const region = expandRect(rect, room, size)
    assert.ok(containsRect(region, rect) && containsRect({ x: 0, y: 0, ...size }, region), JSON.stringify({ rect, size, region }))
    assert.equal(region.width, Math.min(Math.max(rect.width, room.width), size.width))
    assert.deepEqual(intersectRect(region, rect), rect)
  }
  assert.equal(intersectRect({ x: 0, y: 0, width: 10, height: 10 }, { x: 10, y: 0, width: 10, height: 10 }), null)
})
