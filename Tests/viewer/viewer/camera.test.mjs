import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Rotation } from '../../../public/geometry/rotation.js'
import { Camera } from '../../../public/viewer/camera.js'
import { random } from '../numbers.mjs'

const IMAGE = { width: 5120, height: 2880 }
const WINDOWS = [{ width: 1280, height: 800 }, { width: 390, height: 844 }, { width: 3840, height: 2160 }]

/** Runs to rest, and says how often it moved. */
function rest(camera, now = 0) {
  for (let frame = 0; frame < 2000; frame += 1) if (!camera.advance(now + frame * 16)) return frame
  throw new Error('it never comes to rest')
}

function assertWithin(camera) {
  const { viewport, limits, image } = camera
  const { x, y } = viewport.permittedOffsets(image)
  const slack = 1e-6
  assert.ok(viewport.scale >= limits.minimum * (1 - 1e-9) && viewport.scale <= limits.maximum * (1 + 1e-9), `scale ${viewport.scale}`)
  assert.ok(viewport.x >= x.low - slack && viewport.x <= x.high + slack, `x ${viewport.x}`)
  assert.ok(viewport.y >= y.low - slack && viewport.y <= y.high + slack, `y ${viewport.y}`)
}

/** A camera somewhere in the middle, where no edge is near. */
function middle(window, degrees = 0, options = {}) {
  const camera = new Camera(IMAGE, window, options)
  camera.rotateTo(new Rotation(degrees))
  camera.show(camera.viewport.with({ scale: camera.limits.minimum * 8 }).centered({ x: 2560, y: 1440 }))
  return camera
}

for (const window of WINDOWS) {
  for (const degrees of [0, 90, 30]) {
    test(`a pinch keeps the image point under the fingers, ${window.width}×${window.height} at ${degrees}°`, () => {
      const next = random(window.width + degrees)
      for (let round = 0; round < 100; round += 1) {
        const camera = middle(window, degrees)
        const center = { x: window.width * (0.35 + 0.3 * next()), y: window.height * (0.35 + 0.3 * next()) }
        const fingers = (gap, dx, dy) => [
          { x: center.x + dx - gap, y: center.y + dy - gap / 2 }, { x: center.x + dx + gap, y: center.y + dy + gap / 2 }]
        camera.grab(fingers(50, 0, 0))
        const point = camera.viewport.imagePoint(center)
        for (let step = 1; step <= 20; step += 1) {
          const [dx, dy] = [step * (next() - 0.5), step * (next() - 0.5)]
          camera.drag(fingers(50 * (0.85 + 0.7 * step * next() / 20), dx, dy))
          const seen = camera.viewport.viewportPoint(point)
          assert.ok(Math.hypot(seen.x - center.x - dx, seen.y - center.y - dy) < 1e-6)
        }
        camera.release({ x: 0, y: 0 }, 0)
        rest(camera)
        assertWithin(camera)
      }
    })
  }

  test(`the wheel keeps the image point under the pointer, ${window.width}×${window.height}`, () => {
    const next = random(window.height)
    for (let round = 0; round < 200; round += 1) {
      const camera = middle(window)
      const pointer = { x: window.width * next(), y: window.height * next() }
      const point = camera.viewport.imagePoint(pointer)
      let now = 0
      for (let step = 0; step < 12; step += 1) {
        camera.wheel(pointer, 1 + next() / 20, now)
        camera.advance(now += 16)
        const seen = camera.viewport.viewportPoint(point)
        assert.ok(Math.hypot(seen.x - pointer.x, seen.y - pointer.y) < 1e-6)
      }
      rest(camera, now)
      assertWithin(camera)
    }
  })
}

test('from fit, wheel steps with frames between them end where one leap would', () => {
  for (const pointer of [{ x: 500, y: 300 }, { x: 900, y: 500 }, { x: 640, y: 60 }]) {
    const ends = [1, 30].map((steps) => {
      const camera = new Camera(IMAGE, WINDOWS[0])
      let now = 0
      for (let step = 0; step < steps; step += 1) {
        camera.wheel(pointer, 4 ** (1 / steps), now)
        for (let frame = 0; frame < 5; frame += 1) camera.advance(now += 16)
      }
      rest(camera, now)
      return camera.viewport
    })
    assert.ok(Math.hypot(ends[0].x - ends[1].x, ends[0].y - ends[1].y) < 1e-6)
  }
})

test('a double tap zooms in at the tapped point, and again goes back to fit', () => {
  for (const window of WINDOWS) {
    const camera = new Camera(IMAGE, window)
    const fit = camera.viewport
    const tapped = fit.viewportPoint({ x: 2500, y: 1400 })
    camera.doubleTap(tapped, 0)
    rest(camera)
    assert.ok(Math.abs(camera.viewport.scale - camera.doubleTapScale) < 1e-9)
    const seen = camera.viewport.viewportPoint({ x: 2500, y: 1400 })
    const { x, y } = camera.viewport.permittedOffsets(IMAGE)
    if (camera.viewport.x > x.low && camera.viewport.x < x.high) assert.ok(Math.abs(seen.x - tapped.x) < 1e-6)
    if (camera.viewport.y > y.low && camera.viewport.y < y.high) assert.ok(Math.abs(seen.y - tapped.y) < 1e-6)
    camera.doubleTap(tapped, 5000)
    rest(camera, 5000)
    assert.ok(Math.abs(camera.viewport.scale - fit.scale) < 1e-9 && Math.abs(camera.viewport.x - fit.x) < 1e-6)
  }
})

test('whatever fingers do, after release it comes to rest within the limits', () => {
  const next = random(99)
  for (let round = 0; round < 600; round += 1) {
    const image = { width: 1 + Math.floor(next() * 20000), height: 1 + Math.floor(next() * 20000) }
    const window = WINDOWS[round % 3]
    const camera = new Camera(image, window, { twoFingerRotation: round % 4 === 0 })
    camera.rotateTo(new Rotation([0, 90, 37][round % 3]))
    const point = () => ({ x: next() * window.width, y: next() * window.height })
    for (let gesture = 0; gesture < 4; gesture += 1) {
      const two = next() < 0.5
      camera.grab(two ? [point(), point()] : [point()])
      for (let step = 0; step < 6; step += 1) camera.drag(two ? [point(), point()] : [point()])
      camera.release({ x: (next() - 0.5) * 8, y: (next() - 0.5) * 8 }, gesture * 1e5)
      // Some are caught again in flight.
      if (next() < 0.5) camera.advance(gesture * 1e5 + 50)
      else rest(camera, gesture * 1e5)
    }
    rest(camera, 1e6)
    assertWithin(camera)
  }
})

test('two fingers rotate the picture only where that is wanted', () => {
  for (const twoFingerRotation of [true, false]) {
    const camera = middle(WINDOWS[0], 0, { twoFingerRotation })
    camera.grab([{ x: 600, y: 400 }, { x: 700, y: 400 }])
    camera.drag([{ x: 650, y: 350 }, { x: 650, y: 450 }])
    assert.equal(Math.round(camera.viewport.rotation.degrees), twoFingerRotation ? 90 : 0)
  }
})

test('a fit is kept when the window changes, another view keeps its middle', () => {
  const camera = new Camera(IMAGE, WINDOWS[0])
  camera.resize(WINDOWS[1])
  assert.deepEqual(camera.viewport, new Camera(IMAGE, WINDOWS[1]).viewport)
  const zoomed = middle(WINDOWS[0])
  const [center, scale] = [zoomed.viewport.imageCenter, zoomed.viewport.scale]
  zoomed.resize({ width: 1000, height: 900 })
  assert.ok(Math.hypot(zoomed.viewport.imageCenter.x - center.x, zoomed.viewport.imageCenter.y - center.y) < 1e-6)
  assert.equal(zoomed.viewport.scale, scale)
})

test('without animation every command arrives at once', () => {
  const camera = new Camera(IMAGE, WINDOWS[0], { reducedMotion: true })
  camera.zoomTo(1, { x: 640, y: 400 }, 0)
  assert.equal(camera.viewport.scale, 1)
  camera.wheel({ x: 640, y: 400 }, 0.5, 0)
  assert.ok(Math.abs(camera.viewport.scale - 0.5) < 1e-9)
  assert.equal(camera.advance(10), false)
})

test('original size is one image pixel a pixel of the screen, within the limits of every screen', () => {
  const huge = { width: 100_000, height: 60_000 }
  for (const ratio of [0.25, 0.5, 1, 1.5, 3]) {
    const camera = new Camera(huge, { width: 390, height: 844 }, { reducedMotion: true })
    camera.ratio = ratio
    camera.fit('none', 0)
    assert.ok(Math.abs(camera.viewport.scale * ratio - 1) < 1e-9, `at ${ratio} device pixels`)
    assertWithin(camera)
  }
})
