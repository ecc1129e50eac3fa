import { readFrames } from '../../../public/sources/length-prefixed.js'
import { MAX_BYTES, SizeLimitError, readBytes, readChunks, readText } from '../../../public/sources/size-limit.js'
import { fetchBitmap } from '../../../public/tiles/fetch.js'
import { MissingTile } from '../../../public/tiles/loader.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'

const MEBIBYTE = 1 << 20

/** What sends without end, and tells how much of it was taken and whether somebody gave it up. */
function endless() {
  const told = { bytes: 0, isGivenUp: false }
  const stream = new ReadableStream({
    pull(controller) {
      told.bytes += MEBIBYTE
      controller.enqueue(new Uint8Array(MEBIBYTE))
    },
    cancel() { told.isGivenUp = true },
  }, { highWaterMark: 0 })
  return { told, stream }
}

/** An answer with many parts, as a server writes it: of each its stated length, and its bytes. */
function answerOf(...parts) {
  const pieces = parts.flatMap(([length, bytes]) => {
    const head = new DataView(new ArrayBuffer(4))
    head.setUint32(0, length)
    return [new Uint8Array(head.buffer), bytes]
  })
  return new Response(new Blob(pieces)).body.getReader()
}

test('bytes come as they were sent, in pieces, in one piece and as text', async () => {
  const text = 'a ziggurat, καὶ τοῦτο'
  const answer = () => new Response(new Blob([text.slice(0, 5), text.slice(5)]))
  assert.equal(await readText(answer()), text)
  assert.equal(await new Blob(await readChunks(answer())).text(), text)
  assert.equal(new TextDecoder().decode(await readBytes(answer())), text)
  assert.deepEqual(await readChunks(new Response(null)), [])
})

test('as many bytes as there may be are read, and one more is refused', async () => {
  for (const size of [0, 9, 10]) assert.equal((await readBytes(new Response(new Uint8Array(size)), 10, 'it')).length, size)
  await assert.rejects(readBytes(new Response(new Uint8Array(11)), 10, 'it'), { constructor: SizeLimitError, message: 'it has more than 10 bytes' })
})

test('what never ends is given up at the bound', async () => {
  const { told, stream } = endless()
  await assert.rejects(readText(new Response(stream)), SizeLimitError)
  assert.deepEqual(told, { bytes: MAX_BYTES + MEBIBYTE, isGivenUp: true })
})

test('what says that it is too long is not read, and a wrong length bounds nothing away', async () => {
  const { told, stream } = endless()
  await assert.rejects(readBytes(new Response(stream, { headers: { 'content-length': String(MAX_BYTES + 1) } })), SizeLimitError)
  assert.deepEqual(told, { bytes: 0, isGivenUp: true })
  for (const wrong of ['1', '5, 5', 'x', '-1']) {
    const { stream } = endless()
    await assert.rejects(readBytes(new Response(stream, { headers: { 'content-length': wrong } })), SizeLimitError, wrong)
  }
})

test('a part that says it is longer than any is refused before memory is taken for it', async () => {
  const parts = readFrames(answerOf([3, new Uint8Array(3)], [MAX_BYTES + 1, new Uint8Array(9)]))
  assert.equal((await parts.next()).value.length, 3)
  await assert.rejects(parts.next(), SizeLimitError)
  const most = readFrames(answerOf([2 ** 32 - 1, new Uint8Array(0)]))
  await assert.rejects(most.next(), SizeLimitError)
  const short = readFrames(answerOf([MAX_BYTES, new Uint8Array(9)]))
  await assert.rejects(short.next(), /cut short/, 'as long as one may be, and cut')
})

test('a tile without end is no tile, and is not asked for again', async () => {
  const { stream } = endless()
  globalThis.fetch = async () => new Response(stream)
  await assert.rejects(fetchBitmap('https://example.org/tile.jpg'), MissingTile)
  const broken = new ReadableStream({ pull(controller) { controller.error(new TypeError('the line broke')) } })
  globalThis.fetch = async () => new Response(broken)
  await assert.rejects(fetchBitmap('https://example.org/tile.jpg'), (error) => !(error instanceof MissingTile), 'a broken line is')
})
