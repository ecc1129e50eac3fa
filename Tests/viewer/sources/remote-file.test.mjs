import { RemoteFile } from '../../../public/sources/remote-file.js'
import { SizeLimitError, readBytes } from '../../../public/sources/size-limit.js'
import { DamagedArchive, entryContent, entryEnd, locateDirectory } from '../../../public/sources/zip-directory.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateRawSync } from 'node:zlib'

const FILE = Uint8Array.from({ length: 1 << 20 }, (_, index) => index * 7 % 251)
const ADDRESS = new URL('https://example.org/a.szi')
globalThis.location = new URL('https://example.org/page')

/** A server of one file; `answer` may change what it sends of a range. */
function serve(answer = (headers, body) => new Response(body, { status: 206, headers })) {
  const asked = []
  globalThis.fetch = async (address, { headers: { range } }) => {
    asked.push(range)
    const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range)
    const start = first === '' ? FILE.length - Number(last) : Number(first)
    const end = first === '' ? FILE.length : Number(last) + 1
    return answer({ 'content-range': `bytes ${start}-${end - 1}/${FILE.length}` }, FILE.subarray(start, end))
  }
  return asked
}

/** What sends without end, and tells how much of it was taken. */
function endless() {
  const told = { bytes: 0 }
  const stream = new ReadableStream({
    pull(controller) {
      told.bytes += 1 << 20
      controller.enqueue(new Uint8Array(1 << 20))
    },
  })
  return { told, stream }
}

test('parts are read by their ranges, what is known without asking', async () => {
  const asked = serve()
  const file = await RemoteFile.open(ADDRESS)
  assert.equal(file.size, FILE.length)
  assert.deepEqual(await file.read(10, 200), FILE.subarray(10, 200))
  const known = FILE.length - 256 * 1024
  assert.deepEqual(await file.read(known - 5, known + 5), FILE.slice(known - 5, known + 5))
  assert.deepEqual(await file.read(known, FILE.length), FILE.subarray(known))
  assert.deepEqual(asked, ['bytes=-262144', 'bytes=10-199', `bytes=${known - 5}-${known - 1}`])
})

test('a server without Range requests is read to a bound, and no byte beyond it is kept', async () => {
  const { told, stream } = endless()
  serve(() => new Response(stream, { status: 200 }))
  await assert.rejects(RemoteFile.open(ADDRESS), (error) => error instanceof SizeLimitError && /does not answer Range requests/.test(error.message))
  assert.ok(told.bytes < 70 << 20, `${told.bytes}`)
  serve(() => new Response(FILE.subarray(0, 1000), { status: 200 }))
  assert.equal((await RemoteFile.open(ADDRESS)).size, 1000)
})

test('a length that is told is believed before anything is read', async () => {
  const { told, stream } = endless()
  await assert.rejects(readBytes(new Response(stream, { headers: { 'content-length': '5000' } }), 4000, 'it'), SizeLimitError)
  assert.ok(told.bytes <= 1 << 20)
})

test('an answer of another part, of more or of less than was asked for is refused', async () => {
  const parts = {
    'another start': (headers, body) => new Response(body, { status: 206, headers: { 'content-range': headers['content-range'].replace(/\d+-/, '3-') } }),
    'another size': (headers, body) => new Response(body, { status: 206, headers: { 'content-range': headers['content-range'].replace(/\/\d+/, '/99999999') } }),
    'no range': (headers, body) => new Response(body, { status: 206 }),
    'nonsense': (headers, body) => new Response(body, { status: 206, headers: { 'content-range': 'bytes 5-1/9' } }),
    'too much': (headers) => new Response(endless().stream, { status: 206, headers }),
    'too little': (headers, body) => new Response(body.subarray(1), { status: 206, headers }),
    'all of it': () => new Response(endless().stream, { status: 200 }),
    'an error': () => new Response('', { status: 503 }),
  }
  for (const [name, answer] of Object.entries(parts)) {
    serve()
    const file = await RemoteFile.open(ADDRESS)
    serve(answer)
    await assert.rejects(file.read(10, 200), Error, name)
    if (name !== 'all of it') await assert.rejects(RemoteFile.open(ADDRESS), Error, name)
  }
})

test('directories and entries beyond any archive of tiles are refused before they are asked for', () => {
  const tail = new Uint8Array(22)
  const view = new DataView(tail.buffer)
  view.setUint32(0, 0x06054b50, true)
  view.setUint32(12, 300 << 20, true)
  assert.throws(() => locateDirectory(tail, 22), DamagedArchive)
  view.setUint32(12, 200 << 20, true)
  assert.equal(locateDirectory(tail, 22).size, 200 << 20)
  assert.throws(() => entryEnd({ offset: 0, end: 1 << 30, size: 65 << 20 }), DamagedArchive)
  assert.equal(entryEnd({ offset: 100, end: 1 << 30, size: 1000 }), 100 + 30 + 2 * 65535 + 1000, 'not all that lies up to the next one')
  assert.equal(entryEnd({ offset: 100, end: 900, size: 700 }), 900)
})

test('an entry that unpacks to more than any tile has is given up', async () => {
  const entry = (content) => {
    const packed = deflateRawSync(content)
    const bytes = new Uint8Array(30 + packed.length)
    new DataView(bytes.buffer).setUint32(0, 0x04034b50, true)
    bytes.set(packed, 30)
    return [bytes, { size: packed.length, method: 8 }]
  }
  assert.equal((await entryContent(...entry(FILE))).size, FILE.length)
  await assert.rejects(entryContent(...entry(Buffer.alloc(65 << 20))), SizeLimitError)
})
