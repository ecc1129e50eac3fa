import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Coverage } from '../../../public/geometry/coverage.js'
import { Pyramid } from '../../../public/geometry/pyramid.js'
import { TileSet } from '../../../public/geometry/tile-set.js'
import { Rotation } from '../../../public/geometry/rotation.js'
import { Viewport } from '../../../public/geometry/viewport.js'
import { close, random } from '../numbers.mjs'

// Found in exact fractions and by counting pixels, by Tests/scripts/scroll-cases. The Swift tests read the same file.
const { scrolls, changes } = JSON.parse(readFileSync(new URL('../../Fixtures/scroll-cases.json', import.meta.url), 'utf8'))

function view({ rotation, flip, ...parts }) { return new Viewport({ ...parts, rotation: new Rotation(rotation, flip) }) }

test('permitted offsets, settling, rubber band, zoom to a rectangle and resizing are as exact fractions have them', () => {
  assert.ok(scrolls.length >= 150)
  for (const [number, { image, insets, limits, rectangle, window, fit, answer, ...each }] of scrolls.entries()) {
    const viewport = view(each.viewport)
    const anchor = each.anchor ?? undefined
    // Offsets are differences of lengths as large as these.
    const size = Math.max(image.width, image.height) * Math.max(viewport.scale, limits.maximum) + viewport.width + viewport.height
      + Math.abs(viewport.x) + Math.abs(viewport.y)
    const near = (mine, theirs) => Math.abs(mine - theirs) <= 1e-9 * Math.max(size, Math.abs(theirs))
    const check = (result, place, what) => assert.ok(
      close(result.scale, place.scale) && near(result.x, place.x) && near(result.y, place.y) && result.rotation === viewport.rotation,
      `case ${number}, ${what}: ${result.scale}, ${result.x}, ${result.y}, not ${JSON.stringify(place)}`)
    const permitted = viewport.permittedOffsets(image, insets)
    for (const axis of ['x', 'y']) {
      for (const bound of ['low', 'high']) {
        assert.ok(near(permitted[axis][bound], answer.permittedOffsets[axis][bound]), `case ${number}, ${axis} ${bound}`)
      }
    }
    check(viewport.clamped(image, insets), answer.clamped, 'clamped')
    check(viewport.settled(image, limits, { anchor, insets }), answer.settled, 'settled')
    check(viewport.rubberBanded(image, limits, { anchor, insets }), answer.rubberBanded, 'rubberBanded')
    check(viewport.rubberBanded(image, limits, { anchor, insets, isZooming: true }), answer.zooming, 'zooming')
    check(viewport.zoomed(rectangle, limits, insets), answer.zoomed, 'zoomed')
    const resized = viewport.resized(window, insets)
    assert.deepEqual([resized.width, resized.height], [window.width, window.height])
    check(resized, answer.resized, 'resized')
    if (answer.fitting) check(Viewport.fitting(image, fit, viewport, viewport.rotation, insets), answer.fitting, 'fitting')
  }
})

test('tiles to add, to keep and to drop are those that counting pixels finds', () => {
  assert.ok(changes.length >= 80)
  const named = (tiles) => tiles.map(({ level, column, row }) => `${level}/${column}_${row}`).sort()
  for (const [number, { pyramid: { width, height, tileSize }, margin, previous, viewport, answer }] of changes.entries()) {
    const pyramid = new Pyramid({ width, height }, tileSize)
    const set = (parts) => new TileSet(new Coverage(pyramid, view(parts)), { margin })
    const now = set(viewport)
    const found = now.changes(set(previous))
    for (const part of ['added', 'kept', 'dropped']) assert.deepEqual(named(found[part]), named(answer[part]), `case ${number}, ${part}`)
    assert.equal(now.count, answer.added.length + answer.kept.length)
    assert.deepEqual(named(now.tiles()), named([...answer.added, ...answer.kept]))
    assert.deepEqual(now.changes(null), { added: now.tiles(), kept: [], dropped: [] })
  }
})

test('of more tiles than the limit those about the viewport’s centre are found, and of the margin none', () => {
  const pyramid = new Pyramid({ width: 5000, height: 4000 }, 10)
  const coverage = new Coverage(pyramid, new Viewport({ width: 1000, height: 1000, scale: 1, x: 2003, y: 1007 }))
  const tiles = (extras) => new TileSet(coverage, extras).tiles()
  assert.equal(tiles().length, 101 * 101)
  assert.equal(tiles({ margin: 1, limit: 101 * 101 }).length, 101 * 101)
  assert.equal(tiles({ margin: 1, limit: 103 * 103 }).length, 103 * 103)
  const some = tiles({ limit: 100 })
  assert.equal(some.length, 100)
  // Ten columns and rows about the tile in which the centre (2503, 1507) lies.
  assert.deepEqual([...new Set(some.map(({ column }) => column))].sort(), Array.from({ length: 10 }, (_, index) => 245 + index))
  assert.deepEqual([...new Set(some.map(({ row }) => row))].sort(), Array.from({ length: 10 }, (_, index) => 145 + index))
  assert.deepEqual(tiles({ limit: 0 }), [])
})

test('a window of absurd size finds as many tiles as the limit allows, and soon', () => {
  const pyramid = new Pyramid({ width: 2 ** 52, height: 2 ** 52 }, 1)
  const coverage = new Coverage(pyramid, new Viewport({ width: 1e10, height: 1e10, scale: 1, x: 5, y: 7, rotation: new Rotation(30) }))
  assert.ok(new TileSet(coverage, { limit: 100 }).tiles().length > 0)
})

test('a margin is the tiles within that many columns and rows of the visible ones', () => {
  const next = random(11)
  for (let round = 0; round < 300; round += 1) {
    const image = { width: 1 + Math.floor(next() * 3000), height: 1 + Math.floor(next() * 3000) }
    const pyramid = new Pyramid(image, 64 + Math.floor(next() * 200))
    const scale = 2 ** (next() * 4 - 3)
    const viewport = new Viewport({
      width: 50 + next() * 800, height: 50 + next() * 800, scale, x: next() * image.width * scale, y: next() * image.height * scale,
      rotation: new Rotation(next() * 360),
    })
    const coverage = new Coverage(pyramid, viewport)
    const margin = 1 + Math.floor(next() * 3)
    const tiles = new TileSet(coverage, { margin }).tiles()
    const own = tiles.filter(({ isPrefetch }) => !isPrefetch)
    assert.deepEqual(own, coverage.tiles().map((tile) => ({ ...tile, isPrefetch: false })))
    const wanted = new Set()
    for (const { level, column, row } of own) {
      for (let y = row - margin; y <= row + margin; y += 1) {
        for (let x = column - margin; x <= column + margin; x += 1) {
          if (x >= 0 && y >= 0 && x < pyramid.columns(level) && y < pyramid.rows(level)) wanted.add(`${x}_${y}`)
        }
      }
    }
    assert.deepEqual(new Set(tiles.map(({ column, row }) => `${column}_${row}`)), wanted)
  }
})
