import { canDecode, requestedFormat, tryFormats } from '../../../public/sources/formats.js'
import { iiifSource } from '../../../public/sources/iiif.js'
import { zigguratSource } from '../../../public/sources/ziggurat.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'

const image = { id: 'a', width: 1300, height: 700, tileSize: 512, format: 'jxl', urls: { dzi: '/dzi/a.dzi' } }
const info = {
  id: 'https://example.org/iiif/3/a', type: 'ImageService3', width: 1300, height: 700, preferredFormats: ['jxl', 'jpg'],
}
const tiles = () => [
  zigguratSource(image, new URL('https://example.org/')).tileURL(11, 0, 0), iiifSource(info).tileURL(11, 0, 0),
].map((url) => url.split('.').at(-1))

test('what was not tried is asked for as JPEG, what every browser shows as it is', () => {
  assert.deepEqual(['jxl', 'jpg', 'webp', 'png', 'avif'].map(requestedFormat), ['jpg', 'jpg', 'webp', 'png', 'avif'])
  assert.deepEqual(tiles(), ['jpg', 'jpg'])
})

test('a format is tried once, and what fails is asked for as JPEG', async () => {
  let count = 0
  globalThis.createImageBitmap = async () => { count += 1; throw new Error('no picture') }
  await tryFormats(['jpg', 'jpeg', undefined, 'avif'])
  assert.equal(count, 0)
  await tryFormats(['jxl', 'jxl'])
  await tryFormats(['jxl'])
  assert.equal(count, 1)
  assert.equal(canDecode('jxl'), false)
  assert.deepEqual(tiles(), ['jpg', 'jpg'])
})

test('a format that the browser shows is asked for', async () => {
  globalThis.createImageBitmap = async (blob) => {
    assert.deepEqual([...new Uint8Array(await blob.arrayBuffer())].slice(0, 2), [0xff, 0x0a])
    return { close() {} }
  }
  const fresh = await import('../../../public/sources/formats.js?fresh')
  await fresh.tryFormats(['jxl'])
  assert.equal(fresh.requestedFormat('jxl'), 'jxl')
})
