import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneAtATime } from '../../../public/gallery/one-at-a-time.js'

/** Attempts that the test ends: `end` settles the one that runs. */
function attempts() {
  const made = { count: 0, shown: [], end: null }
  made.request = oneAtATime(() => {
    made.count += 1
    return new Promise((resolve, reject) => {
      made.end = resolve
      made.fail = reject
    })
  }, (isRunning) => made.shown.push(isRunning))
  return made
}
/** Lets all pending promises run. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('an attempt is shown from its beginning to its end', async () => {
  const made = attempts()
  const running = made.request()
  assert.deepEqual([made.count, made.shown], [1, [true]])
  made.end(true)
  await running
  assert.deepEqual([made.count, made.shown], [1, [true, false]])
})

test('only one attempt is in progress', async () => {
  const made = attempts()
  const running = made.request()
  made.request()
  made.request()
  await settled()
  assert.equal(made.count, 1)
  made.end(true)
  await running
  assert.equal(made.count, 1, 'the server decided, and the same password would be refused again')
})

test('a request during an attempt without a decision leads to one more attempt', async () => {
  const made = attempts()
  const running = made.request()
  made.request()
  made.request()
  made.end(false)
  await settled()
  assert.deepEqual([made.count, made.shown], [2, [true]], 'it is shown as one')
  made.end(false)
  await running
  assert.deepEqual([made.count, made.shown], [2, [true, false]], 'without another request none follows')
})

test('after an attempt, even one that threw, the next request begins another', async () => {
  const made = attempts()
  const running = made.request()
  made.request()
  made.fail(new Error('unexpected'))
  await assert.rejects(running, /unexpected/)
  assert.deepEqual(made.shown, [true, false])
  made.request()
  assert.equal(made.count, 2)
  made.end(true)
  await settled()
  assert.deepEqual(made.shown, [true, false, true, false])
})
