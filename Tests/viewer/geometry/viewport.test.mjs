import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitScale } from '../../../public/geometry/fit.js'
import { Rotation } from '../../../public/geometry/rotation.js'
import { Viewport } from '../../../public/geometry/viewport.js'
import { close, random } from '../numbers.mjs'

function* viewports(count, seed) {
  const next = random(seed)
  for (let index = 0; index < count; index += 1) {
    yield {
      next,
      image: { width: 1 + Math.floor(next() * 20000), height: 1 + Math.floor(next() * 20000) },
      viewport: new Viewport({
        width: 1 + next() * 4000, height: 1 + next() * 3000, scale: 2 ** (next() * 16 - 10),
        x: (next() - 0.5) * 10000, y: (next() - 0.5) * 10000,
        rotation: new Rotation([0, 90, 180, 270, next() * 360][index % 5], index % 3 === 0),
      }),
    }
  }
}

test('image and viewport points are each other’s inverse', () => {
  for (const { viewport, next } of viewports(5000, 1)) {
    const point = { x: next() * viewport.width, y: next() * viewport.height }
    const back = viewport.viewportPoint(viewport.imagePoint(point))
    assert.ok(Math.hypot(back.x - point.x, back.y - point.y) < 1e-6)
  }
})

test('zooming about a point leaves the image point under it, at any scale and angle', () => {
  for (const { viewport, next } of viewports(5000, 2)) {
    const anchor = { x: next() * viewport.width, y: next() * viewport.height }
    const before = viewport.imagePoint(anchor)
    const after = viewport.scaled(viewport.scale * 2 ** (next() * 8 - 4), anchor).viewportPoint(before)
    assert.ok(Math.hypot(after.x - anchor.x, after.y - anchor.y) < 1e-6)
  }
})

test('placing puts the image point under the pointer', () => {
  for (const { viewport, next } of viewports(1000, 3)) {
    const [image, point] = [{ x: next() * 5000, y: next() * 5000 }, { x: next() * 900, y: next() * 900 }]
    const placed = viewport.placing(image, point).viewportPoint(image)
    assert.ok(Math.hypot(placed.x - point.x, placed.y - point.y) < 1e-6)
  }
})

test('a clamped viewport centres what is smaller and leaves no gap around what is larger', () => {
  for (const { viewport, image } of viewports(5000, 4)) {
    const clamped = viewport.clamped(image)
    const corners = [[0, 0], [0, 1], [1, 0], [1, 1]].map(([x, y]) =>
      clamped.imagePoint({ x: x * clamped.width, y: y * clamped.height }))
    const reach = clamped.rotation.bounds(clamped.width, clamped.height)
    for (const [axis, side, extent] of [['x', 'width', reach.width], ['y', 'height', reach.height]]) {
      const [low, high] = [Math.min(...corners.map((c) => c[axis])), Math.max(...corners.map((c) => c[axis]))]
      const slack = 1e-9 * (Math.abs(low) + Math.abs(high) + image[side])
      if (image[side] * clamped.scale <= extent) assert.ok(Math.abs((low + high) / 2 - image[side] / 2) < slack + 1e-6)
      else assert.ok(low >= -slack && high <= image[side] + slack)
    }
    assert.deepEqual(clamped.clamped(image), clamped)
  }
})

test('each fit shows what it promises', () => {
  for (const { image, viewport } of viewports(2000, 5)) {
    const { rotation } = viewport
    const contained = Viewport.fitting(image, 'contain', viewport, rotation)
    for (const [x, y] of [[0, 0], [image.width, 0], [0, image.height], [image.width, image.height]]) {
      const seen = contained.viewportPoint({ x, y })
      assert.ok(seen.x > -1e-6 && seen.x < viewport.width + 1e-6 && seen.y > -1e-6 && seen.y < viewport.height + 1e-6)
    }
    const covering = Viewport.fitting(image, 'cover', viewport, rotation)
    for (const [x, y] of [[0, 0], [1, 0], [0, 1], [1, 1]]) {
      const seen = covering.imagePoint({ x: x * viewport.width, y: y * viewport.height })
      const slack = 1e-9 * (image.width + image.height)
      assert.ok(seen.x > -slack && seen.x < image.width + slack && seen.y > -slack && seen.y < image.height + slack)
    }
    assert.ok(close(fitScale('width', image, viewport, rotation) * rotation.bounds(image.width, image.height).width, viewport.width))
    assert.equal(fitScale('none', image, viewport, rotation), 1)
  }
})

test('quarter turns are exact', () => {
  for (const [degrees, cosine, sine] of [[0, 1, 0], [90, 0, 1], [180, -1, 0], [270, 0, -1], [-90, 0, -1], [450, 0, 1]]) {
    const rotation = new Rotation(degrees)
    assert.ok(rotation.cosine === cosine && rotation.sine === sine, `${degrees}`)
  }
})
