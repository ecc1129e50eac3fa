import { CloseGesture } from '../../../public/gestures/close-gesture.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'

const finger = (x, y, kind = 'touch') => ({ x, y, kind })

/** One finger's way. */
function swipe(to, { kind = 'touch', isWhole = true, velocity = { x: 0, y: 1 } } = {}) {
  const away = new CloseGesture()
  away.begin([finger(200, 300, kind)], isWhole)
  for (let step = 1; step <= 5; step += 1) away.move([finger(200 + to.x * step / 5, 300 + to.y * step / 5, kind)])
  return away.end(velocity)
}

test('a finger that throws the whole picture down puts it away, nothing else does', () => {
  assert.equal(swipe({ x: 10, y: 200 }), 'swipe')
  assert.ok(!swipe({ x: 10, y: 200 }, { velocity: { x: 0, y: 0 } }), 'at rest')
  assert.ok(!swipe({ x: 10, y: 30 }), 'a short way')
  assert.ok(!swipe({ x: 150, y: 200 }), 'aslant')
  assert.ok(!swipe({ x: 0, y: -200 }, { velocity: { x: 0, y: -1 } }), 'upwards')
  assert.ok(!swipe({ x: 10, y: 200 }, { isWhole: false }), 'zoomed in')
  assert.ok(!swipe({ x: 10, y: 200 }, { kind: 'mouse' }), 'a mouse')
})

/** Two fingers that come one after the other, move and lift one after the other. */
function pinch(from, to, { kind = 'touch', isWhole = true } = {}) {
  const away = new CloseGesture()
  const fingers = (apart) => [finger(200 - apart / 2, 300, kind), finger(200 + apart / 2, 300, kind)]
  away.begin(fingers(from).slice(0, 1), isWhole)
  away.begin(fingers(from), isWhole)
  for (const apart of [(from + to) / 2, to]) away.move(fingers(apart))
  away.begin(fingers(to).slice(1), false)
  return away.end({ x: 0, y: 0 })
}

test('two fingers that lift when they have the whole picture well below its fitted size put it away', () => {
  assert.equal(pinch(300, 120), 'pinch')
  assert.equal(pinch(300, 230), null, 'a little smaller')
  assert.equal(pinch(300, 400), null, 'larger')
  assert.equal(pinch(300, 120, { isWhole: false }), null, 'zoomed in at first')
  assert.equal(pinch(300, 120, { kind: 'pen' }), null, 'pens')
})

test('who spreads the fingers again before they lift has changed their mind', () => {
  const away = new CloseGesture()
  away.begin([finger(100, 300), finger(300, 300)], true)
  away.move([finger(150, 300), finger(250, 300)])
  away.move([finger(105, 300), finger(295, 300)])
  assert.equal(away.end({ x: 0, y: 0 }), null)
})

test('a finger lifted and put down again goes on with the pinch', () => {
  const away = new CloseGesture()
  away.begin([finger(100, 300), finger(300, 300)], true)
  away.move([finger(150, 300), finger(250, 300)])
  away.begin([finger(150, 300)], false)
  away.begin([finger(150, 300), finger(340, 300)], false)
  away.move([finger(150, 300), finger(341, 300)])
  assert.equal(away.end({ x: 0, y: 0 }), null)
})

test('one gesture says nothing of the next', () => {
  const away = new CloseGesture()
  away.begin([finger(100, 300), finger(300, 300)], true)
  away.move([finger(180, 300), finger(220, 300)])
  assert.equal(away.end({ x: 0, y: 0 }), 'pinch')
  away.begin([finger(100, 300), finger(300, 300)], true)
  assert.equal(away.end({ x: 0, y: 0 }), null)
})

test('what is left of a pinch throws nothing away', () => {
  const away = new CloseGesture()
  away.begin([finger(200, 300)], true)
  away.begin([finger(100, 300), finger(300, 300)], true)
  away.begin([finger(200, 300)], true)
  away.move([finger(205, 600)])
  assert.ok(!away.end({ x: 0, y: 2 }))
})
