import { HANDLES, cropAddress, fitRatio, resizeFrame, wholePixels } from '../../../public/crop/crop-rect.js'
import { Rotation } from '../../../public/geometry/rotation.js'
import { random } from '../numbers.mjs'
import assert from 'node:assert/strict'
import { test } from 'node:test'

const IMAGE = { width: 5120, height: 2880 }
const MIDDLE = { x: 0, y: 0 }

function* pulls(count, seed) {
  const next = random(seed)
  for (let index = 0; index < count; index += 1) {
    const [width, height] = [64 + next() * 4000, 64 + next() * 2500]
    yield {
      next, frame: { x: next() * (IMAGE.width - width), y: next() * (IMAGE.height - height), width, height },
      dx: (next() - 0.5) * 12000, dy: (next() - 0.5) * 8000, handle: [...HANDLES, MIDDLE][index % 9],
    }
  }
}

function assertInside({ x, y, width, height }, least = 64) {
  const slack = 1e-6
  assert.ok(x >= -slack && y >= -slack && x + width <= IMAGE.width + slack && y + height <= IMAGE.height + slack)
  assert.ok(width >= least - slack && height >= least - slack, `${width}×${height}`)
}

test('the frame stays inside the image and above its least size, whatever is drawn', () => {
  for (const { frame, handle, dx, dy } of pulls(9000, 1)) {
    const after = resizeFrame(frame, handle, dx, dy, IMAGE, { minSize: 64, ratio: null })
    assertInside(after)
    if (handle === MIDDLE) assert.ok(after.width === frame.width && after.height === frame.height)
    // The edges that the handle does not hold stay.
    if (handle.x === 1) assert.equal(after.x, frame.x)
    if (handle.y === 1) assert.equal(after.y, frame.y)
    if (handle.x === -1) assert.ok(Math.abs(after.x + after.width - frame.x - frame.width) < 1e-6)
    if (handle.y === -1) assert.ok(Math.abs(after.y + after.height - frame.y - frame.height) < 1e-6)
  }
})

test('within the image the edge follows the hand exactly', () => {
  const frame = { x: 1000, y: 1000, width: 800, height: 600 }
  assert.deepEqual(resizeFrame(frame, { x: 1, y: 0 }, 50, 99, IMAGE, { minSize: 64, ratio: null }), { ...frame, width: 850 })
  assert.deepEqual(resizeFrame(frame, { x: -1, y: -1 }, 30, -40, IMAGE, { minSize: 64, ratio: null }),
    { x: 1030, y: 960, width: 770, height: 640 })
  assert.deepEqual(resizeFrame(frame, MIDDLE, 7, -8, IMAGE, { minSize: 64, ratio: null }), { ...frame, x: 1007, y: 992 })
})

test('a locked ratio is kept by every handle, and what is across from it stays', () => {
  for (const ratio of [1, 3 / 2, 16 / 9, 9 / 16]) {
    for (const { frame, handle, dx, dy } of pulls(3000, 2)) {
      const start = fitRatio(frame, ratio)
      if (handle === MIDDLE || Math.min(start.width, start.height) < 64) continue
      const after = resizeFrame(start, handle, dx, dy, IMAGE, { minSize: 64, ratio })
      assert.ok(Math.abs(after.width / after.height / ratio - 1) < 1e-9)
      assertInside(after)
      const hold = (box) => [box.x + box.width * (1 - handle.x) / 2, box.y + box.height * (1 - handle.y) / 2]
      hold(after).forEach((value, axis) => assert.ok(Math.abs(value - hold(start)[axis]) < 1e-6))
    }
  }
})

test('the result is whole pixels within the image', () => {
  for (const { frame } of pulls(2000, 3)) {
    const { x, y, width, height } = wholePixels(frame, IMAGE)
    assert.ok([x, y, width, height].every(Number.isInteger) && width >= 1 && height >= 1)
    assert.ok(x >= 0 && y >= 0 && x + width <= IMAGE.width && y + height <= IMAGE.height)
  }
})

test('a frame that is moved as a whole keeps its size in pixels, and what touches an edge of the image still does', () => {
  for (const { frame, dx, dy } of pulls(2000, 4)) {
    const { width, height } = wholePixels(frame, IMAGE)
    const moved = resizeFrame(frame, MIDDLE, dx, dy, IMAGE, { minSize: 64, ratio: null })
    const after = wholePixels(moved, IMAGE)
    assert.deepEqual([after.width, after.height], [width, height])
    assert.ok(Math.abs(after.x - moved.x) <= 1 && Math.abs(after.x + after.width - moved.x - moved.width) <= 1)
    if (moved.x === 0) assert.equal(after.x, 0)
    if (Math.abs(moved.x + moved.width - IMAGE.width) < 1e-6) assert.equal(after.x + after.width, IMAGE.width)
    if (Math.abs(moved.y + moved.height - IMAGE.height) < 1e-6) assert.equal(after.y + after.height, IMAGE.height)
  }
})

test('a crop has its IIIF address: region, full resolution, mirror and rotation', () => {
  const service = 'https://example.org/iiif/3/a%2Fb'
  const frame = { x: 10.2, y: 20, width: 300, height: 199.6 }
  for (const [rotation, format, path] of [
    [new Rotation(), 'jpg', '10,20,300,200/max/0/default.jpg'], [new Rotation(90), 'png', '10,20,300,200/max/90/default.png'],
    [new Rotation(270, true), 'webp', '10,20,300,200/max/!270/default.webp'],
  ]) assert.equal(cropAddress(`${service}/info.json`, frame, IMAGE, rotation, format), `${service}/${path}`)
  assert.equal(cropAddress('https://e.org/iiif/2/a', { x: 0, y: 0, ...IMAGE }, IMAGE, new Rotation(), 'jpg'),
    'https://e.org/iiif/2/a/full/full/0/default.jpg')
})
