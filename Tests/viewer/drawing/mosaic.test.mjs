import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cells, levelMatrix, levelRect, mosaicTiles } from '../../../public/drawing/mosaic.js'
import { Pyramid } from '../../../public/geometry/pyramid.js'
import { Turn } from '../../../public/geometry/turn.js'
import { Viewport } from '../../../public/geometry/viewport.js'
import { random } from '../numbers.mjs'

test('cells cover every device pixel of the canvas once, and none is large', () => {
  for (const [width, height] of [[1, 1], [1024, 1024], [1025, 700], [1170, 2532], [3840, 2160], [7680, 4321]]) {
    let area = 0
    for (const cell of cells({ width, height })) {
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
      turn: new Turn(next() * 360, round % 2 === 0),
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

test('a missing tile shows the nearest coarser one until it is there', () => {
  const pyramid = new Pyramid({ width: 2048, height: 1024 }, 256)
  const there = new Set(['8/0_0', '10/1_0', '11/3_1'])
  const has = ({ level, column, row }) => there.has(`${level}/${column}_${row}`)
  const rect = { x: 512, y: 0, width: 512, height: 512 }
  assert.deepEqual(mosaicTiles(pyramid, 11, rect, has), [{ level: 10, column: 1, row: 0 }, { level: 11, column: 3, row: 1 }])
  for (const key of ['11/2_0', '11/3_0', '11/2_1']) there.add(key)
  assert.deepEqual(new Set(mosaicTiles(pyramid, 11, rect, has).map(({ level }) => level)), new Set([11]))
})

test('zooming out, the finer tiles stay until the coarser one is there', () => {
  const pyramid = new Pyramid({ width: 2048, height: 1024 }, 256)
  const has = ({ level }) => level === 8 || level === 11
  assert.deepEqual(mosaicTiles(pyramid, 10, { x: 0, y: 0, width: 256, height: 256 }, has).map(({ level }) => level), [8, 11, 11, 11, 11])
})
