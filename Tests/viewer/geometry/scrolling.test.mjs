import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultLimits } from '../../../public/geometry/fit.js'
import { Rotation } from '../../../public/geometry/rotation.js'
import { inverseRubberBand, rubberBand } from '../../../public/geometry/rubber-band.js'
import { Viewport } from '../../../public/geometry/viewport.js'
import { close, random } from '../numbers.mjs'

function* wishes(count, seed) {
  const next = random(seed)
  for (let index = 0; index < count; index += 1) {
    const image = { width: 1 + Math.floor(next() * 9000), height: 1 + Math.floor(next() * 9000) }
    const window = { width: 200 + next() * 2000, height: 200 + next() * 2000 }
    const rotation = new Rotation([0, 90, next() * 360][index % 3], index % 2 === 0)
    const limits = defaultLimits(image, window, rotation)
    const scale = limits.minimum * (limits.maximum / limits.minimum) ** (next() * 1.6 - 0.3)
    const viewport = new Viewport({
      ...window, scale, rotation,
      x: (next() * 1.6 - 0.3) * image.width * scale, y: (next() * 1.6 - 0.3) * image.height * scale,
    })
    yield { next, image, limits, viewport, anchor: { x: next() * window.width, y: next() * window.height } }
  }
}

test('rubber gives way less and less, never further than its room, and the same both ways', () => {
  let last = 0
  for (let pull = 1; pull < 1e6; pull *= 1.3) {
    const stretch = rubberBand(pull, 800)
    assert.ok(stretch > last && stretch < 800 && stretch < pull)
    assert.equal(rubberBand(-pull, 800), -stretch)
    if (stretch < 790) assert.ok(close(inverseRubberBand(stretch, 800), pull, 1e-6))
    last = stretch
  }
})

test('what settles is within the limits, and settling again changes nothing', () => {
  for (const { viewport, image, limits, anchor } of wishes(3000, 1)) {
    const rest = viewport.settled(image, limits, { anchor })
    assert.ok(rest.scale >= limits.minimum && rest.scale <= limits.maximum)
    const { x, y } = rest.permittedOffsets(image)
    assert.ok(rest.x >= x.low && rest.x <= x.high && rest.y >= y.low && rest.y <= y.high)
    const again = rest.settled(image, limits, { anchor })
    assert.ok(again.scale === rest.scale && again.x === rest.x && again.y === rest.y)
  }
})

test('within the limits nothing stretches: the picture follows the fingers exactly', () => {
  for (const { viewport, image, limits, anchor } of wishes(3000, 2)) {
    const rest = viewport.settled(image, limits, { anchor })
    const shown = rest.rubberBanded(image, limits, { anchor, isZooming: true })
    assert.ok(shown.x === rest.x && shown.y === rest.y && shown.scale === rest.scale)
  }
})

test('past a limit the picture gives way by less than was asked, and never by more than its room', () => {
  for (const { viewport, image, limits, anchor } of wishes(3000, 3)) {
    const shown = viewport.rubberBanded(image, limits, { anchor })
    assert.ok(shown.scale > limits.minimum / 2 && shown.scale < limits.maximum * 2)
    const { x, y } = shown.permittedOffsets(image)
    assert.ok(shown.x > x.low - viewport.width && shown.x < x.high + viewport.width)
    assert.ok(shown.y > y.low - viewport.height && shown.y < y.high + viewport.height)
  }
})

test('a picture smaller than the window is centred while it is zoomed', () => {
  for (const { viewport, image, limits, anchor } of wishes(1500, 4)) {
    const shown = viewport.with({ scale: limits.minimum * 0.7 }).rubberBanded(image, limits, { anchor, isZooming: true })
    const { x, y } = shown.permittedOffsets(image)
    if (x.low === x.high) assert.equal(shown.x, x.low)
    if (y.low === y.high) assert.equal(shown.y, y.low)
  }
})

test('a picture caught while it is stretched does not jump', () => {
  for (const { viewport, image, limits, anchor } of wishes(2000, 5)) {
    const shown = viewport.rubberBanded(image, limits, { anchor })
    const again = shown.withoutRubberBand(image, limits, { anchor }).rubberBanded(image, limits, { anchor })
    assert.ok(close(again.scale, shown.scale, 1e-6))
    assert.ok(Math.hypot(again.x - shown.x, again.y - shown.y) < 0.5 || shown.scale !== viewport.scale)
  }
})
