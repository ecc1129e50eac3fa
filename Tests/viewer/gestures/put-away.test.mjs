import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PutAway } from '../../../public/gestures/put-away.js'

const finger = (x, y, kind = 'touch') => ({ x, y, kind })

/** One finger's way. */
function swipe(to, { kind = 'touch', isWhole = true, velocity = { x: 0, y: 1 } } = {}) {
  const away = new PutAway()
  away.begin([finger(200, 300, kind)], isWhole)
  for (let step = 1; step <= 5; step += 1) away.move([finger(200 + to.x * step / 5, 300 + to.y * step / 5, kind)])
  return away.ends(velocity)
}

test('a finger that throws the whole picture down puts it away, nothing else does', () => {
  assert.ok(swipe({ x: 10, y: 200 }))
  assert.ok(!swipe({ x: 10, y: 200 }, { velocity: { x: 0, y: 0 } }), 'at rest')
  assert.ok(!swipe({ x: 10, y: 30 }), 'a short way')
  assert.ok(!swipe({ x: 150, y: 200 }), 'aslant')
  assert.ok(!swipe({ x: 0, y: -200 }, { velocity: { x: 0, y: -1 } }), 'upwards')
  assert.ok(!swipe({ x: 10, y: 200 }, { isWhole: false }), 'zoomed in')
  assert.ok(!swipe({ x: 10, y: 200 }, { kind: 'mouse' }), 'a mouse')
})

test('what is left of a pinch throws nothing away', () => {
  const away = new PutAway()
  away.begin([finger(200, 300)], true)
  away.begin([finger(100, 300), finger(300, 300)], true)
  away.begin([finger(200, 300)], true)
  away.move([finger(205, 600)])
  assert.ok(!away.ends({ x: 0, y: 2 }))
})
