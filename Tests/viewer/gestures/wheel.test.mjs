import { WheelClassifier, isPinch, wheelFactor } from '../../../public/gestures/wheel.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'

/** Events of one device in CSS pixels (or lines), `steps` of wheelDelta a pixel, `gap` ms apart. */
function sequence(deltas, { steps, mode = 0, gap = 16, start = 0, along = 'Y' } = {}) {
  return deltas.map((delta, index) => {
    const [x, y] = Array.isArray(delta) ? delta : along === 'Y' ? [0, delta] : [delta, 0]
    const wheel = (value) => steps === undefined ? undefined : -Math.trunc(value * steps + Math.sign(value) * 1e-3)
    return {
      deltaX: x, deltaY: y, deltaMode: mode, ctrlKey: false, time: start + index * gap,
      ...steps !== undefined && { wheelDeltaX: wheel(x), wheelDeltaY: wheel(y) },
    }
  })
}

function ratio(devicePixelRatio, events) { return events.map((event) => ({ ...event, devicePixelRatio })) }

/** What fingers throw: ever faster, then coasting for a second. */
const THROWN = [1, 2, 5, 12, 27, 44, 61, 80, 92, 97, 88, 76, 66, 57, 50, 43, 40, 32, 28, 24, 20, 17, 15, 13, 11, 9, 8, 7, 6, 5, 4, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1]
const part = (factor) => THROWN.map((delta) => delta * factor)

// As browsers make them of what systems tell: Chromium's web_mouse_wheel_event builders and WheelEvent::wheelDelta, WebKit's
// WebEventFactory, Gecko's EventStateManager. 4.000244140625 is a tenth of a line of 40 px, as a Mac's slow notch is told.
const MICE = {
  'Chrome, Windows': sequence([100, 100, -100], { steps: 1.2, gap: 90 }),
  'Chrome, Windows, in quick turns': sequence([100, 200, 300, 200, 100], { steps: 1.2 }),
  'Chrome, Windows, zoomed to 110 %': sequence([100 / 1.1, 100 / 1.1], { steps: 1.32, gap: 70 }),
  'Chrome, Windows, zoomed to 250 %': sequence([40, 40, -40], { steps: 3, gap: 150 }),
  'Chromium, where a screen of 150 % divides steps': ratio(1.5, sequence([100 / 1.5, -100 / 1.5], { steps: 1.2, gap: 80 })),
  'Chromium, as on a phone of 3×': ratio(3, sequence([11, 11, 11], { steps: 40.1 / 11, gap: 20 })),
  'Chromium, as on a phone of 2.75×': ratio(2.75, sequence([80 / 2.75, -80 / 2.75, 80 / 2.75], { steps: 43 / (80 / 2.75), gap: 20 })),
  'Chrome, Linux': sequence([120, -120, 120], { steps: 1, gap: 110 }),
  'Chrome, Linux, before 2022': sequence([53, 53, 106], { steps: 120 / 53, gap: 40 }),
  'Chrome, macOS': sequence([4.000244140625, 4.000244140625], { steps: 120 / 4.000244140625, gap: 120 }),
  'Chrome, macOS, in quick turns': [
    ...sequence([12.0001], { steps: 10 }), ...sequence([68.5], { steps: 240 / 68.5, start: 20 }), ...sequence([152.25], { steps: 480 / 152.25, start: 40 })],
  'Safari, macOS': sequence([4.000244140625, 8.00048828125, 28.0017, 97.3], { steps: 3, gap: 60 }),
  'Firefox, Windows': sequence([3, 3, -3], { mode: 1, gap: 100 }),
  'Firefox, Linux': sequence([3, 6, 3], { mode: 1 }),
  'Firefox, macOS': sequence([1, 0.1, 4.3], { mode: 1, gap: 50 }),
  'Firefox, by pages': sequence([1, -1], { mode: 2, gap: 400 }),
  'with Shift, which turns it aside': sequence([100, 100], { steps: 1.2, gap: 90, along: 'X' }),
  'of a program, without steps': sequence([-100, -240, -33], { gap: 300 }),
}

const TRACKPADS = {
  'Chrome, macOS, thrown': sequence(THROWN, { steps: 3 }),
  'Chrome, macOS, aside': sequence(THROWN, { steps: 3, along: 'X' }),
  'Chrome, macOS, aslant': sequence(THROWN.map((delta) => [delta, Math.round(delta / 3)]), { steps: 3 }),
  'Safari, macOS, upwards': sequence(part(-1), { steps: 3 }),
  'Chrome, Windows, thrown': sequence(part(1.25), { steps: 1.2, gap: 10 }),
  'Chrome, Windows, slowly': sequence([0.83, 1.67, 0.83, 2.5], { steps: 1.2, gap: 30 }),
  'Chrome, Linux, thrown': sequence(part(1.5), { steps: 120 / 53 }),
  'Firefox, macOS, thrown': sequence(THROWN),
  'Firefox, Linux, thrown': sequence(part(1.3)),
  'Firefox, Windows, aside': sequence(part(0.9), { along: 'X' }),
  // A whole notch's steps, in the middle of it.
  'Chrome, macOS, through 40 px': sequence([4, 22, 40, 40, 80, 40, 12], { steps: 3 }),
  'Chrome, Windows, through 100 px': sequence([5, 40, 100, 100, 60, 12], { steps: 1.2 }),
}

for (const [devices, wanted] of [[MICE, 'zoom'], [TRACKPADS, 'move']]) {
  for (const [name, events] of Object.entries(devices)) {
    test(`each event of a ${wanted === 'zoom' ? 'mouse' : 'trackpad'} is one: ${name}`, () => {
      // Whatever was used before.
      for (const before of [[], MICE['Chrome, Windows'], TRACKPADS['Chrome, macOS, thrown']]) {
        const reader = new WheelClassifier()
        for (const event of before) reader.read(event, event.time - 10_000)
        assert.deepEqual(events.map((event) => reader.read(event, event.time, event.devicePixelRatio)), events.map(() => wanted))
      }
    })
  }
}

test('a trackpad that is told late from a mouse is one from then on', () => {
  const reader = new WheelClassifier()
  const events = sequence([120, 31, 44, 120], { steps: 3 })
  assert.deepEqual(events.map((event) => reader.read(event, event.time)), ['zoom', 'move', 'move', 'move'])
})

test('with Control or Command any wheel zooms, and the next one without is what it was', () => {
  const reader = new WheelClassifier()
  const [event] = TRACKPADS['Chrome, macOS, thrown']
  assert.equal(reader.read(event, 0), 'move')
  assert.equal(reader.read({ ...event, ctrlKey: true }, 20), 'zoom')
  assert.equal(reader.read({ ...event, metaKey: true }, 40), 'zoom')
  assert.equal(reader.read(event, 60), 'move')
})

test('a notch zooms by a tenth to a fifth, both ways alike, and no event leaps', () => {
  for (const name of ['Chrome, Windows', 'Chrome, Linux', 'Chrome, macOS', 'Firefox, Windows', 'Firefox, Linux']) {
    const { deltaY, ...event } = MICE[name][0]
    const factor = wheelFactor({ ...event, deltaY: -deltaY })
    assert.ok(factor > 1.09 && factor < 1.3, `${name}: ${factor}`)
    assert.ok(Math.abs(factor * wheelFactor({ ...event, deltaY }) - 1) < 1e-12)
  }
  for (const deltaMode of [0, 1, 2]) {
    assert.ok(wheelFactor({ deltaY: -1e6, deltaMode, ctrlKey: false }) < 2)
    assert.ok(wheelFactor({ deltaY: -1e6, deltaMode, ctrlKey: true }) < 2)
  }
  assert.ok(1 / wheelFactor(MICE['Safari, macOS'][0]) > 1.05)
})

test('a pinch zooms with the fingers, a wheel with Control by notches', () => {
  const [pinch, notch] = [{ deltaX: 0, deltaY: -3.5, deltaMode: 0, ctrlKey: true }, { deltaX: 0, deltaY: -100, deltaMode: 0, ctrlKey: true }]
  assert.ok(isPinch(pinch) && !isPinch(notch) && !isPinch({ ...pinch, ctrlKey: false }))
  assert.ok(Math.abs(wheelFactor(pinch) - Math.exp(0.035)) < 1e-12)
  assert.equal(wheelFactor(notch), wheelFactor({ ...notch, ctrlKey: false }))
})
