import assert from 'node:assert/strict'
import { test } from 'node:test'

test('without a document the elements can be imported, and nothing happens', async () => {
  const before = Object.keys(globalThis)
  await import('../../../public/viewer/elements.js')
  const { ZigguratViewer } = await import('../../../public/viewer/ziggurat-viewer.js')
  assert.equal(typeof ZigguratViewer, 'function')
  assert.deepEqual(Object.keys(globalThis), before)
})
