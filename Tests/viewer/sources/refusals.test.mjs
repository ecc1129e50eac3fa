import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fetchText } from '../../../public/sources/document.js'

/** What is thrown about an answer with this status and body. */
async function refusal(status, body) {
  globalThis.fetch = async () => new Response(body, { status, headers: { 'Content-Type': 'application/problem+json' } })
  return fetchText('https://images.example/a').catch((error) => error)
}

test('a refusal keeps its status, whatever its body', async () => {
  for (const body of ['', '{', '[]', 'null', 'x'.repeat(1 << 17)]) {
    for (const status of [404, 429, 503]) {
      const error = await refusal(status, body)
      assert.equal(error.status, status, `${body.slice(0, 5)}: ${error.message}`)
    }
  }
  assert.match((await refusal(503, '{"detail": "the disk is away"}')).message, /: the disk is away$/)
})
