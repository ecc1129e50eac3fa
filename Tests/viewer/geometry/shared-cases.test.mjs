import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Coverage } from '../../../public/geometry/coverage.js'
import { defaultLimits, limited } from '../../../public/geometry/fit.js'
import { Pyramid } from '../../../public/geometry/pyramid.js'
import { Rotation } from '../../../public/geometry/rotation.js'
import { Viewport } from '../../../public/geometry/viewport.js'
import { close } from '../numbers.mjs'

// The Swift tests read the same file: what both agree with, they agree on.
const cases = JSON.parse(readFileSync(new URL('../../Fixtures/viewport-cases.json', import.meta.url), 'utf8'))

/** A viewport query's window on an image, and the limits it keeps, as the interface defines them. */
function queried(image, query) {
  const window = { width: query.width, height: query.height }
  const rotation = new Rotation(query.rotation ?? 0, query.flip ?? false)
  const standard = defaultLimits(image, window, rotation)
  const minimum = query.minScale ?? Math.min(standard.minimum, query.maxScale ?? standard.minimum)
  const limits = { minimum, maximum: query.maxScale ?? Math.max(standard.maximum, minimum) }
  let viewport = Viewport.fitting(image, query.fit ?? 'contain', window, rotation)
  if (query.scale !== undefined) {
    viewport = viewport.with({ scale: query.scale, x: 0, y: 0 })
    if (query.fit !== undefined) viewport = viewport.centered({ x: image.width / 2, y: image.height / 2 })
  }
  const point = (value) => value && (Array.isArray(value) ? { x: value[0], y: value[1] } : value)
  if (query.center) viewport = viewport.centered(point(query.center))
  viewport = viewport.with({ x: query.x ?? viewport.x, y: query.y ?? viewport.y })
  const zoom = query.zoom ?? 1
  // A default limit never moves a scale that is outside it.
  const reached = {
    minimum: query.minScale ?? Math.min(limits.minimum, viewport.scale),
    maximum: query.maxScale ?? Math.max(limits.maximum, viewport.scale),
  }
  viewport = viewport.scaled(limited(viewport.scale * zoom, reached), point(query.anchor))
  return { viewport: query.clamp ? viewport.clamped(image) : viewport, limits }
}

test('the file holds cases of every kind', () => {
  assert.ok(cases.length >= 100)
  const parameters = new Set(cases.flatMap(({ query }) => Object.keys(query)))
  for (const name of ['scale', 'fit', 'center', 'anchor', 'zoom', 'clamp', 'rotation', 'flip', 'dpr', 'buffer', 'fallback']) {
    assert.ok(parameters.has(name), name)
  }
})

for (const [index, { image, query, answer }] of cases.entries()) {
  test(`case ${index}: ${image.width}×${image.height}, ${JSON.stringify(query)}`, () => {
    const pyramid = new Pyramid({ width: image.width, height: image.height }, image.tileSize)
    const { viewport, limits } = queried(pyramid.imageSize, query)
    const coverage = new Coverage(pyramid, viewport, query.dpr ?? 1)
    const same = (mine, theirs, what) => assert.ok(close(mine, theirs), `${what}: ${mine}, not ${theirs}`)
    assert.equal(coverage.level, answer.level)
    assert.equal(pyramid.scale(coverage.level), answer.levelScale)
    for (const part of ['scale', 'x', 'y']) same(viewport[part], answer.viewport[part], part)
    same(limits.minimum, answer.viewport.minScale, 'minScale')
    same(limits.maximum, answer.viewport.maxScale, 'maxScale')
    const { visible } = answer.viewport
    assert.equal(coverage.visible === null, visible === null)
    for (const side of visible ? ['x', 'y', 'width', 'height'] : []) same(coverage.visible[side], visible[side], `visible ${side}`)
    // The page asks for no margin, and has what it needs of coarser levels.
    const tiles = answer.tiles.filter(({ level, prefetch }) => level === answer.level && !prefetch)
    const name = ({ level, column, row }) => `${level}/${column}_${row}`
    assert.deepEqual(coverage.tiles().map(name), tiles.map(name))
    tiles.forEach(({ column, row, source }) => {
      const size = pyramid.size(coverage.level)
      assert.deepEqual(pyramid.span(column, size.width), { start: source.x, length: source.width })
      assert.deepEqual(pyramid.span(row, size.height), { start: source.y, length: source.height })
    })
  })
}
