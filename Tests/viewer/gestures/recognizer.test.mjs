import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Recognizer } from '../../../public/gestures/recognizer.js'

/** Plays contacts, written [verb, id, x, y, time], and says what was recognized. */
function play(kind, script) {
  const said = []
  const names = ['grab', 'drag', 'release', 'tap', 'doubleTap', 'longPress', 'quickZoom']
  const recognizer = new Recognizer(Object.fromEntries(names.map((name) =>
    [name, (first, ...rest) => said.push([name, place(first), ...rest])])))
  for (const [verb, ...rest] of script) {
    const time = verb === 'wait' ? rest[0] : rest[3]
    while (recognizer.deadline <= time) recognizer.expire(recognizer.deadline)
    if (verb !== 'wait') recognizer[verb]({ id: rest[0], x: rest[1], y: rest[2], time, kind })
  }
  return said
}

const place = (value) => 'x' in value ? { x: value.x, y: value.y } : value

const names = (said) => said.map(([name]) => name).filter((name) => !['grab', 'release'].includes(name))

test('a tap is told only once a second one can no longer come', () => {
  const tap = [['down', 1, 100, 100, 0], ['up', 1, 101, 101, 80]]
  assert.deepEqual(names(play('touch', [...tap, ['wait', 379]])), [])
  assert.deepEqual(names(play('touch', [...tap, ['wait', 380]])), ['tap'])
})

for (const kind of ['mouse', 'touch', 'pen']) {
  test(`two quick taps are one double tap at the second, with ${kind}`, () => {
    const said = play(kind, [
      ['down', 1, 100, 100, 0], ['up', 1, 100, 100, 60],
      ['down', 2, 110, 104, 200], ['up', 2, 110, 104, 260], ['wait', 2000]])
    assert.deepEqual(names(said), ['doubleTap'])
    assert.deepEqual(said.find(([name]) => name === 'doubleTap')[1], { x: 110, y: 104 })
  })

  test(`two slow or distant taps are two taps, with ${kind}`, () => {
    for (const [x, time] of [[100, 500], [190, 200]]) {
      assert.deepEqual(names(play(kind, [
        ['down', 1, 100, 100, 0], ['up', 1, 100, 100, 60],
        ['down', 2, x, 100, time], ['up', 2, x, 100, time + 60], ['wait', 3000]])), ['tap', 'tap'])
    }
  })

  test(`moving is a drag and no tap, with ${kind}`, () => {
    const said = play(kind, [
      ['down', 1, 100, 100, 0], ['move', 1, 120, 100, 20], ['move', 1, 140, 100, 40], ['up', 1, 140, 100, 50], ['wait', 3000]])
    assert.deepEqual(names(said), ['drag', 'drag'])
    const [, velocity] = said.find(([name]) => name === 'release')
    assert.ok(Math.abs(velocity.x - 1) < 1e-9 && velocity.y === 0)
  })
}

test('a trembling finger still taps', () => {
  assert.deepEqual(names(play('touch', [
    ['down', 1, 100, 100, 0], ['move', 1, 104, 103, 30], ['up', 1, 103, 104, 60], ['wait', 400]])), ['tap'])
})

test('a finger at rest throws nothing', () => {
  const said = play('touch', [
    ['down', 1, 0, 0, 0], ['move', 1, 50, 0, 20], ['move', 1, 90, 0, 40], ['up', 1, 90, 0, 200]])
  assert.deepEqual(said.at(-1), ['release', { x: 0, y: 0 }])
})

test('a finger held still is a long press, and no tap follows', () => {
  assert.deepEqual(names(play('touch', [['down', 1, 9, 9, 0], ['wait', 549]])), [])
  assert.deepEqual(names(play('touch', [['down', 1, 9, 9, 0], ['wait', 550], ['up', 1, 9, 9, 900], ['wait', 2000]])), ['longPress'])
})

test('two fingers pinch at once, and the one that stays drags on', () => {
  const said = play('touch', [
    ['down', 1, 100, 100, 0], ['down', 2, 200, 100, 30], ['move', 2, 260, 100, 50],
    ['up', 1, 100, 100, 70], ['move', 2, 270, 110, 90], ['up', 2, 270, 110, 100], ['wait', 2000]])
  assert.deepEqual(said.filter(([name]) => name === 'grab').map(([, points]) => points.length), [1, 2, 1])
  assert.deepEqual(said.filter(([name]) => name === 'drag').map(([, points]) => points.length), [2, 1])
  assert.deepEqual(names(said), ['drag', 'drag'])
})

test('a second tap that is drawn up or down zooms, and is no double tap', () => {
  const said = play('touch', [
    ['down', 1, 100, 100, 0], ['up', 1, 100, 100, 60], ['down', 2, 104, 100, 200],
    ['move', 2, 104, 120, 230], ['move', 2, 104, 150, 250], ['up', 2, 104, 150, 260], ['wait', 2000]])
  assert.deepEqual(said.filter(([name]) => name === 'quickZoom'), [
    ['quickZoom', { x: 104, y: 100 }, 20], ['quickZoom', { x: 104, y: 100 }, 50]])
  assert.deepEqual(names(said), ['quickZoom', 'quickZoom'])
})

test('a pointer that the browser takes away leaves nothing behind', () => {
  const said = play('touch', [
    ['down', 1, 1, 1, 0], ['move', 1, 50, 1, 20], ['cancel', 1, 50, 1, 30], ['wait', 2000],
    ['down', 2, 1, 1, 3000], ['up', 2, 1, 1, 3050], ['wait', 5000]])
  assert.deepEqual(names(said), ['drag', 'tap'])
})
