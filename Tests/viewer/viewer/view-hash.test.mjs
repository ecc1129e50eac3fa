import { Rotation } from '../../../public/geometry/rotation.js'
import { Viewport } from '../../../public/geometry/viewport.js'
import { decodeView, encodeView, viewQuery } from '../../../public/viewer/view-hash.js'
import { random } from '../numbers.mjs'
import assert from 'node:assert/strict'
import { test } from 'node:test'

test('a link leads back to the exact view', () => {
  const next = random(1)
  for (let round = 0; round < 1000; round += 1) {
    const window = { width: 100 + Math.floor(next() * 3000), height: 100 + Math.floor(next() * 2000) }
    const viewport = new Viewport({
      ...window, scale: 2 ** (next() * 12 - 8), x: (next() - 0.2) * 1e5, y: (next() - 0.2) * 1e5,
      rotation: new Rotation(round % 3 ? 0 : Math.floor(next() * 360), round % 2 === 0),
    })
    const linked = decodeView(encodeView(viewport), window)
    for (const corner of [{ x: 0, y: 0 }, { x: window.width, y: window.height }]) {
      const seen = linked.viewportPoint(viewport.imagePoint(corner))
      assert.ok(Math.hypot(seen.x - corner.x, seen.y - corner.y) < 0.1)
    }
  }
})

test('on every screen a fitted view is fitted, and of any other all is seen', () => {
  const image = { width: 4000, height: 3000 }
  const windows = [{ width: 1280, height: 800 }, { width: 390, height: 844 }, { width: 3840, height: 2160 }]
  for (const window of windows) {
    for (const rotation of [new Rotation(), new Rotation(90), new Rotation(0, true)]) {
      const fitted = Viewport.fitting(image, 'contain', window, rotation)
      const hash = encodeView(fitted, image)
      assert.equal(hash === '', rotation.isIdentity)
      if (!hash) continue
      for (const other of windows) assert.ok(decodeView(hash, other, image).equals(Viewport.fitting(image, 'contain', other, rotation)))
    }
    const viewport = new Viewport({ ...window, scale: 0.75, x: 500, y: 300 })
    for (const other of windows) {
      const linked = decodeView(encodeView(viewport, image), other, image)
      for (const { x, y } of viewport.corners.map((corner) => linked.viewportPoint(corner))) {
        assert.ok(x > -0.1 && y > -0.1 && x < other.width + 0.1 && y < other.height + 0.1)
      }
      assert.ok(Math.hypot(linked.imageCenter.x - viewport.imageCenter.x, linked.imageCenter.y - viewport.imageCenter.y) < 0.01)
    }
  }
})

test('the server is asked for the view that a link names', () => {
  const window = { width: 1280, height: 800 }
  for (const [hash, query] of [
    ['', 'width=1280&height=800&dpr=2'], ['#fit=contain&rotation=90', 'width=1280&height=800&fit=contain&rotation=90&dpr=2'],
    ['#scale=1&x=500&y=300', 'scale=1&x=500&y=300&width=1280&height=800&dpr=2'], ['#fit=bogus', 'width=1280&height=800&dpr=2'],
  ]) assert.equal(viewQuery(hash, window, 2), query)
})

test('in a window of another size the middle stays in the middle', () => {
  const viewport = new Viewport({ width: 1280, height: 800, scale: 0.5, x: 300, y: 200 })
  const linked = decodeView('#scale=0.5&x=300&y=200&width=1280&height=800', { width: 390, height: 844 })
  assert.deepEqual(linked.imageCenter, viewport.imageCenter)
})

test('scale, x and y are enough, and a center may stand instead', () => {
  const window = { width: 1280, height: 800 }
  const linked = decodeView('#scale=0.25&x=300&y=200', window)
  assert.deepEqual([linked.scale, linked.x, linked.y], [0.25, 300, 200])
  assert.deepEqual(decodeView('#scale=2&center=100,50', window).imageCenter, { x: 100, y: 50 })
})

test('a link that makes no sense asks for nothing', () => {
  for (const hash of ['', '#', '#x=1&y=2', '#scale=0', '#scale=-1', '#scale=abc', '#scale=Infinity', '#scale=1&x=NaN',
    '#scale=1&rotation=x', '#scale=1&center=1', '#fit=bogus', '#fit=contain', '#scale=1&width=0&height=9', '#scale=1&width=-5', '#scale=1&center=a,b', '#%%%', '#scale=']) {
    assert.equal(decodeView(hash, { width: 10, height: 10 }), null, hash)
  }
})
