import assert from 'node:assert/strict'
import { test } from 'node:test'
import { iiifSource } from '../../../public/sources/iiif.js'

const three = {
  '@context': 'http://iiif.io/api/image/3/context.json', id: 'https://example.org/iiif/3/night%2Fwatch', type: 'ImageService3',
  protocol: 'http://iiif.io/api/image', profile: 'level2', width: 1300, height: 700,
  tiles: [{ width: 512, scaleFactors: [1, 2, 4] }],
}
const { type, id, ...rest } = three
const two = { ...rest, '@id': 'https://example.org/iiif/2/watch/' }

test('tiles of version 3 are asked for by their canonical addresses', () => {
  const source = iiifSource(three)
  const base = 'https://example.org/iiif/3/night%2Fwatch'
  assert.equal(source.title, 'night/watch')
  for (const [tile, path] of [
    [[11, 0, 0], '0,0,512,512/512,512'], [[11, 2, 1], '1024,512,276,188/276,188'],
    [[10, 1, 0], '1024,0,276,700/138,350'], [[9, 0, 0], 'full/325,175'],
  ]) assert.equal(source.tileURL(...tile), `${base}/${path}/0/default.jpg`)
})

test('tiles of version 2 are asked for by width alone', () => {
  const source = iiifSource(two)
  assert.equal(source.tileURL(10, 1, 0), 'https://example.org/iiif/2/watch/1024,0,276,700/138,/0/default.jpg')
})

test('every tile of every level is a region within the image, and together they cover it', () => {
  const source = iiifSource(three)
  for (let level = 0; level <= source.pyramid.topLevel; level += 1) {
    let area = 0
    for (let column = 0; column < source.pyramid.columns(level); column += 1) {
      for (let row = 0; row < source.pyramid.rows(level); row += 1) {
        const region = source.tileURL(level, column, row).split('/').at(-4)
        const [x, y, w, h] = region === 'full' ? [0, 0, 1300, 700] : region.split(',').map(Number)
        assert.ok(x + w <= 1300 && y + h <= 700 && w > 0 && h > 0)
        area += w * h
      }
    }
    assert.equal(area, 1300 * 700)
  }
})

test('the whole image at full resolution has a name of its own', () => {
  assert.match(iiifSource({ ...three, width: 300, height: 200 }).tileURL(9, 0, 0), /\/full\/max\/0\/default\.jpg$/)
  assert.match(iiifSource({ ...two, width: 300, height: 200 }).tileURL(9, 0, 0), /\/full\/full\/0\/default\.jpg$/)
})

test('what describes no image is refused', () => {
  for (const info of [{}, { ...three, id: '' }, { ...three, width: 0 }, { ...three, height: undefined }]) {
    assert.throws(() => iiifSource(info), /no image/)
  }
})
