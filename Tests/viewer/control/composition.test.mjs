import { ViewControl } from '../../../public/control/view-control.js'
import { Camera } from '../../../public/viewer/camera.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'

// Calls of programs compose, as in OpenSeadragon: a call that changes a part of the view keeps what earlier calls lead to, even
// while the picture still moves there. The oracle is the same two calls with a pause between them.

const IMAGE = { width: 5120, height: 2880 }
const WINDOW = { width: 1280, height: 800 }

/** Each public method that changes the view, by the words of the documentation. */
const CALLS = {
  'zoomTo(scale)': (control) => control.zoomTo(0.6),
  'zoomTo(scale, point)': (control) => control.zoomTo(0.9, { x: 200, y: 100 }),
  'zoomBy(factor, point)': (control) => control.zoomBy(1.7, { x: 900, y: 500 }),
  'panTo(center)': (control) => control.panTo({ x: 1500, y: 900 }),
  "fit('contain')": (control) => control.fit('contain'),
  "fit('cover')": (control) => control.fit('cover'),
  "fit('width')": (control) => control.fit('width'),
  "fit('none')": (control) => control.fit('none'),
  'rotate(degrees)': (control) => control.rotate(30, false),
  'flip()': (control) => control.rotate(0, true),
  'viewport = { x, y }': (control) => control.showParts({ x: 400, y: 250 }),
  'viewport = { scale }': (control) => control.showParts({ scale: 0.7 }),
  'viewport = { scale, x, y }': (control) => control.showParts({ scale: 0.8, x: 700, y: 300 }),
}

/** A view of an image that is open, or on its way, with all that a renderer does for it. */
class Fixture {
  constructor(options) {
    this.renderer = { camera: new Camera(IMAGE, WINDOW, options), cameraChanged() {} }
    this.isOpening = false
    this.control = new ViewControl(this.renderer, () => {}, () => this.isOpening)
  }

  get camera() { return this.renderer.camera }

  rest() {
    const start = performance.now()
    for (let frame = 0; frame < 1000; frame += 1) if (!this.camera.advance(start + 16 * frame)) return this
    throw new Error('it never comes to rest')
  }

  get view() {
    const { scale, x, y, rotation } = this.camera.viewport
    return { scale, x, y, degrees: rotation.degrees, isFlipped: rotation.isFlipped }
  }
}

function assertSame(one, other, message) {
  for (const [name, value] of Object.entries(one)) {
    if (typeof value === 'boolean') assert.equal(value, other[name], `${message}: ${name}`)
    else assert.ok(Math.abs(value - other[name]) < 1e-6, `${message}: ${name} is ${value}, not ${other[name]}`)
  }
}

/** Where views begin: as opened, somewhere within the image, and rotated. */
const STARTS = {
  fitted: () => {},
  within: (control) => control.showParts({ scale: 0.5, x: 600, y: 300 }),
  rotated: (control) => {
    control.showParts({ scale: 0.5, x: 600, y: 300 })
    control.rotate(45, false)
  },
}

for (const [first, one] of Object.entries(CALLS)) {
  for (const [second, other] of Object.entries(CALLS)) {
    test(`${first}, then ${second} at once ends as with a pause between them`, () => {
      for (const [start, begin] of Object.entries(STARTS)) {
        const [apart, together] = [new Fixture(), new Fixture()]
        for (const { control } of [apart, together]) begin(control)
        one(apart.rest().control)
        other(apart.rest().control)
        one(together.rest().control)
        // In the middle of the motion, too.
        together.camera.advance(performance.now() + 40)
        other(together.control)
        assertSame(together.rest().view, apart.rest().view, start)
      }
    })
  }
}

test('what is asked of an image that is coming is done when it is there, at once and in order', () => {
  for (const [first, one] of Object.entries(CALLS)) {
    for (const [second, other] of Object.entries(CALLS)) {
      const [opened, opening] = [new Fixture(), new Fixture()]
      one(opened.control)
      other(opened.rest().control)
      const before = opening.view
      opening.isOpening = true
      one(opening.control)
      other(opening.control)
      assertSame(opening.view, before, 'the former image stays')
      opening.isOpening = false
      opening.control.applyPending()
      assert.equal(opening.camera.motion, null)
      assertSame(opening.view, opened.rest().view, `${first}, ${second}`)
    }
  }
})

test('the names are what they are: a zoom keeps its scale through a rotation', () => {
  const fixture = new Fixture()
  fixture.control.zoomTo(0.5)
  fixture.control.rotate(30, false)
  fixture.control.panTo({ x: 2400, y: 1440 })
  const { scale, degrees } = fixture.rest().view
  assert.deepEqual([scale, degrees], [0.5, 30])
  const { x, y } = fixture.camera.viewport.imageCenter
  assert.ok(Math.hypot(x - 2400, y - 1440) < 1e-6)
})

test('another size of the window, or other limits, let a motion end where it leads', () => {
  const fixture = new Fixture()
  fixture.control.zoomTo(0.5)
  fixture.camera.resize({ width: 900, height: 700 }, performance.now())
  assert.equal(fixture.rest().view.scale, 0.5)
  fixture.control.zoomTo(0.9)
  fixture.camera.limit({ maxScale: 0.8 }, performance.now())
  assert.equal(fixture.rest().view.scale, 0.8)
})

test('a rotation during a drag leaves the fingers where they are', () => {
  const fixture = new Fixture()
  fixture.control.showParts({ scale: 0.5, x: 600, y: 300 })
  fixture.camera.grab([{ x: 300, y: 300 }])
  fixture.control.rotate(90, false)
  fixture.camera.drag([{ x: 310, y: 300 }])
  assert.equal(fixture.view.degrees, 90)
})

test('a wrong value is named with its method, and changes nothing', () => {
  const fixture = new Fixture()
  const before = fixture.view
  for (const [call, message] of [
    [(control) => control.zoomTo('x'), 'zoomTo: scale must be a number, not x'],
    [(control) => control.zoomTo(NaN), 'zoomTo: scale must be a number, not NaN'],
    [(control) => control.zoomTo(1, { x: 1 }), 'zoomTo: point.y must be a finite number, not undefined'],
    [(control) => control.zoomBy(), 'zoomBy: factor must be a number, not undefined'],
    [(control) => control.panTo(), 'panTo: center.x must be a finite number, not undefined'],
    [(control) => control.rotate('90', false), 'rotate: degrees must be a finite number, not 90'],
    [(control) => control.fit('foo'), 'fit: must be one of contain, cover, width, none, not foo'],
    [(control) => control.showParts({ scale: 0 }), 'viewport: scale must be above 0, not 0'],
    [(control) => control.showParts({ y: Infinity }), 'viewport: y must be a finite number, not Infinity'],
  ]) assert.throws(() => call(fixture.control), { message })
  assert.deepEqual(fixture.view, before)
})
