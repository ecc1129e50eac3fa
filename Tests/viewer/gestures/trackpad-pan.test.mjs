import { TrackpadPan } from '../../../public/gestures/trackpad-pan.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'

// CSS pixels of successive events: what fingers do, and what coasts after they have lifted.
const PUSH = [1, 3, 8, 19, 34, 52]
const COAST = [60, 54, 49, 44, 39, 35, 31, 28, 25, 22, 20, 18, 16, 14, 13, 11, 10, 9, 8, 7, 6, 6, 5, 4, 4, 3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1]

const everywhere = () => true
const nowhere = () => false

/** What comes of moves along an axis, each [px, ms after the one before] or px with 16 ms. */
function play(scrolling, moves, turns = everywhere, axis = 'x', start = 0) {
  let time = start
  return moves.map((move) => {
    const [delta, gap] = Array.isArray(move) ? move : [move, 16]
    time += gap
    return scrolling.read({ x: 0, y: 0, [axis]: delta, time }, turns)
  })
}

const turned = (said) => said.filter((what) => what === 'turn').length

test('a throw turns one page, however long it coasts', () => {
  for (const way of [1, -1]) {
    const scrolling = new TrackpadPan()
    const said = play(scrolling, [...PUSH, ...COAST].map((delta) => delta * way))
    assert.equal(turned(said), 1)
    assert.ok(scrolling.pull * way < 0)
    assert.ok(said.slice(said.indexOf('turn') + 1).every((what) => what === null), 'what coasts does nothing')
  }
})

test('no stutter of a busy machine turns a second page', () => {
  // Events that come in one, uneven clocks, pixels that are rounded.
  const moves = [...PUSH, ...COAST].map((delta, index) => [delta, 16 + (index % 3 - 1) * 5])
  for (let at = PUSH.length; at < moves.length - 4; at += 1) {
    const held = [...moves]
    const late = held.splice(at, 4)
    held.splice(at, 0, [late.reduce((sum, [delta]) => sum + delta, 0), late.reduce((sum, [, gap]) => sum + gap, 0)])
    assert.equal(turned(play(new TrackpadPan(), held)), 1, `held up at ${at}`)
  }
})

test('throws one after the other turn a page each', () => {
  const first = [...PUSH, ...COAST.slice(0, 14)]
  // A finger that comes down stops what coasts; its own push begins slowly.
  const again = [[1, 60], 2, 6, 15, 31, 48, ...COAST.slice(0, 14)]
  assert.equal(turned(play(new TrackpadPan(), [...first, ...again, ...again])), 3)
  assert.equal(turned(play(new TrackpadPan(), [...first, [1, 300], ...PUSH])), 2, 'after a pause')
  assert.equal(turned(play(new TrackpadPan(), [...first, ...again.map((move) => Array.isArray(move) ? [-move[0], move[1]] : -move)])), 2, 'and back')
})

test('fingers draw the page along, and back, as long as they have not gone far', () => {
  const scrolling = new TrackpadPan()
  assert.deepEqual(play(scrolling, [5, 20, 20]), ['pull', 'pull', 'pull'])
  assert.equal(scrolling.pull, -45)
  // Slowly, then faster: the same page still.
  assert.deepEqual(play(scrolling, [1, 1, -12, -12, -12, -12], everywhere, 'x', 48).at(-1), 'pull')
  assert.ok(Math.abs(scrolling.pull) < 2)
})

test('where the picture goes on it is moved, also once it has come to its end', () => {
  const scrolling = new TrackpadPan()
  let left = 200
  const said = [...PUSH, ...COAST].map((delta, index) => {
    left -= delta
    return scrolling.read({ x: delta, y: 0, time: index * 16 }, () => left <= 0)
  })
  assert.deepEqual([...new Set(said)], ['move'])
  assert.equal(turned(play(scrolling, [[1, 200], ...PUSH, ...COAST], everywhere, 'x', said.length * 16)), 1, 'the next push turns')
})

test('up and down is what turns only where pages lie so', () => {
  const down = (x, y) => x === 0 && y !== 0
  const scrolling = new TrackpadPan()
  assert.equal(turned(play(scrolling, [...PUSH, ...COAST], down, 'y')), 1)
  assert.equal(scrolling.axis, 'y')
  assert.deepEqual([...new Set(play(new TrackpadPan(), PUSH, down))], ['move'])
  assert.deepEqual([...new Set(play(new TrackpadPan(), PUSH, nowhere))], ['move'])
})

test('a hair aside at first does not decide where fingers go', () => {
  const scrolling = new TrackpadPan()
  const aside = (x) => x !== 0
  scrolling.read({ x: 0, y: 1, time: 0 }, aside)
  assert.equal(scrolling.read({ x: 12, y: 0, time: 16 }, aside), 'pull')
})
