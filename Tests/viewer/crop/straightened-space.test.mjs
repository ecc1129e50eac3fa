import { HANDLES, resizeFrame, straightAddress } from '../../../public/crop/crop-rect.js'
import { StraightenedSpace } from '../../../public/crop/straightened-space.js'
import { Rotation } from '../../../public/geometry/rotation.js'
import { Viewport } from '../../../public/geometry/viewport.js'
import { random } from '../numbers.mjs'
import assert from 'node:assert/strict'
import { test } from 'node:test'

const IMAGE = { width: 5120, height: 2880 }

function corners({ x, y, width, height }) {
  return [[0, 0], [1, 0], [0, 1], [1, 1]].map(([right, below]) => ({ x: x + right * width, y: y + below * height }))
}

function assertInImage(space, frame, slack = 1e-6) {
  for (const corner of corners(frame)) {
    const { x, y } = space.toImage(corner)
    assert.ok(x >= -slack && y >= -slack && x <= IMAGE.width + slack && y <= IMAGE.height + slack, `${x}, ${y}`)
  }
}

test('a point goes into the space and back', () => {
  const next = random(3)
  for (let index = 0; index < 500; index += 1) {
    const space = new StraightenedSpace(IMAGE, next() * 90 - 45, next() < 0.5)
    const point = { x: next() * IMAGE.width, y: next() * IMAGE.height }
    const back = space.toImage(space.fromImage(point))
    assert.ok(Math.hypot(back.x - point.x, back.y - point.y) < 1e-6)
  }
})

test('a frame is held in the picture whatever its degrees, and one that is in it stays', () => {
  const next = random(4)
  for (let index = 0; index < 2000; index += 1) {
    const space = new StraightenedSpace(IMAGE, next() * 90 - 45, false)
    const frame = {
      x: (next() - 0.3) * 6000, y: (next() - 0.3) * 4000, width: 64 + next() * 6000, height: 64 + next() * 4000,
    }
    const held = space.confine(frame)
    assertInImage(space, held)
    assert.ok(Math.abs(held.width / held.height - frame.width / frame.height) < 1e-6, 'of the same shape')
    const again = space.confine(held)
    for (const name of ['x', 'y', 'width', 'height']) assert.ok(Math.abs(again[name] - held[name]) < 1e-6)
  }
})

test('however a handle is drawn, no corner leaves the picture, and within it the hand is followed exactly', () => {
  const next = random(5)
  for (let index = 0; index < 4000; index += 1) {
    const space = new StraightenedSpace(IMAGE, next() * 90 - 45, false)
    const size = { width: 100 + next() * 800, height: 100 + next() * 800 }
    const from = space.confine(space.frameAround({ x: next() * IMAGE.width, y: next() * IMAGE.height }, size))
    const handle = [...HANDLES, { x: 0, y: 0 }][index % 9]
    const limits = { minSize: 48, ratio: index % 2 ? null : from.width / from.height }
    const wanted = resizeFrame(from, handle, (next() - 0.5) * 6000, (next() - 0.5) * 6000, space.size, limits)
    const after = space.moveWithin(from, wanted)
    assertInImage(space, after)
    const near = resizeFrame(from, handle, 0.001, 0.001, space.size, limits)
    if (space.maxScale(from) > 1.01) assert.deepEqual(space.moveWithin(from, near), near)
  }
})

test('what the server is asked for is in whole pixels, in the picture, and nearly all of the frame', () => {
  const next = random(6)
  for (let index = 0; index < 2000; index += 1) {
    const degrees = Math.round((next() * 90 - 45) * 10) / 10
    const space = new StraightenedSpace(IMAGE, degrees, next() < 0.5)
    const size = { width: 20 + next() * 6000, height: 20 + next() * 4000 }
    const frame = space.confine(space.frameAround({ x: next() * IMAGE.width, y: next() * IMAGE.height }, size))
    const region = space.region(frame)
    assert.ok(Object.values(region).every(Number.isInteger))
    assertInImage(space, space.frameAround({ x: region.x + region.width / 2, y: region.y + region.height / 2 }, region))
    assert.ok(frame.width - region.width < 8 && frame.height - region.height < 8, `${frame.width} ${region.width}`)
  }
})

test('the address of a straightened part is a window that shows the frame alone', () => {
  for (const [quarter, isFlipped] of [[0, false], [90, false], [180, true], [270, true]]) {
    const space = new StraightenedSpace(IMAGE, 7.5, isFlipped)
    const region = space.region(space.confine(space.frameAround({ x: 2000, y: 1500 }, { width: 1200, height: 700 })))
    const rotation = new Rotation(quarter + 7.5, isFlipped)
    const size = quarter % 180 === 0 ? region : { width: region.height, height: region.width }
    const url = new URL(straightAddress(new URL('https://e.org/api/images/a%2Fb#x'), region, rotation, size, 'png'))
    assert.equal(url.pathname, '/api/images/a%2Fb/viewport.png')
    const { width, height, scale, center, rotation: degrees, flip } = Object.fromEntries(url.searchParams)
    const [x, y] = center.split(',').map(Number)
    const window = new Viewport({
      width: Number(width), height: Number(height), scale: Number(scale), x: 0, y: 0, rotation: new Rotation(Number(degrees), flip === 'true'),
    }).centered({ x, y })
    const frame = space.frameAround({ x, y }, region)
    const seen = corners({ ...size, x: 0, y: 0 }).map((corner) => window.imagePoint(corner))
    for (const corner of corners(frame).map((point) => space.toImage(point))) {
      assert.ok(seen.some((point) => Math.hypot(point.x - corner.x, point.y - corner.y) < 1e-6), 'the same corners')
    }
  }
})
