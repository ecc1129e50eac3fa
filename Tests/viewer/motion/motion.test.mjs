import { defaultLimits } from '../../../public/geometry/fit.js'
import { Viewport } from '../../../public/geometry/viewport.js'
import { InertiaAxis } from '../../../public/motion/inertia.js'
import { SmoothZoom } from '../../../public/motion/smooth-zoom.js'
import { ZoomAnimation } from '../../../public/motion/zoom-animation.js'
import { random } from '../numbers.mjs'
import assert from 'node:assert/strict'
import { test } from 'node:test'

const IMAGE = { width: 5120, height: 2880 }
const WINDOW = { width: 1280, height: 800 }

test('a flight keeps the point still that is in the same place at both ends', () => {
  const next = random(1)
  for (let round = 0; round < 500; round += 1) {
    const from = new Viewport({ ...WINDOW, scale: 2 ** (next() * 6 - 3), x: next() * 900, y: next() * 900 })
    const anchor = { x: next() * 1280, y: next() * 800 }
    const to = from.scaled(from.scale * 2 ** (next() * 6 - 3), anchor)
    const flight = new ZoomAnimation(from, to, 100, 260)
    const point = from.imagePoint(anchor)
    for (const now of [100, 130, 200, 300, 359]) {
      const seen = flight.at(now).viewport.viewportPoint(point)
      assert.ok(Math.hypot(seen.x - anchor.x, seen.y - anchor.y) < 1e-6)
    }
    assert.equal(flight.at(360).viewport, to)
    assert.equal(flight.at(360).done, true)
  }
})

test('a throw slows down, ends within its range, and comes back where it overshot', () => {
  const next = random(2)
  for (let round = 0; round < 2000; round += 1) {
    const first = next() * 1000 - 500
    const range = { low: first, high: first + (round % 4 === 0 ? 0 : next() * 3000) }
    const start = first - 200 + next() * (range.high - first + 400)
    const glide = new InertiaAxis(start, (next() - 0.5) * 12, range)
    assert.ok(Math.abs(glide.at(0).position - start) < 1e-9)
    let [time, last] = [0, glide.at(0)]
    while (!last.done && time < 20_000) {
      time += 8
      const now = glide.at(time)
      assert.ok(Math.abs(now.position - last.position) < 100, 'no jump')
      last = now
    }
    assert.ok(last.done, 'it ends')
    assert.ok(last.position >= range.low && last.position <= range.high)
    assert.ok(Math.abs(last.position - glide.destination) < 1, `${last.position} for ${glide.destination}`)
  }
})

test('turning the wheel in many small steps drifts no further than in one', () => {
  const limits = defaultLimits(IMAGE, WINDOW)
  const next = random(3)
  for (let round = 0; round < 300; round += 1) {
    // From fit, where the picture is centred for a while before the pointer has its way.
    const from = Viewport.fitting(IMAGE, 'contain', WINDOW)
    const anchor = { x: 300 + next() * 680, y: 200 + next() * 400 }
    const point = from.imagePoint(anchor)
    const chase = new SmoothZoom(from, anchor, IMAGE, limits, 0)
    let now = 0
    for (let step = 0; step < 40; step += 1) {
      chase.targetScale = Math.min(chase.targetScale * 1.05, limits.maximum)
      chase.at(now += 16)
    }
    while (!chase.at(now += 16).done) assert.ok(now < 10_000)
    const seen = chase.at(now + 16).viewport.viewportPoint(point)
    assert.ok(Math.hypot(seen.x - anchor.x, seen.y - anchor.y) < 1e-6)
  }
})
