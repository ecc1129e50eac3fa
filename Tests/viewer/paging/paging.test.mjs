import { Library } from '../../../public/gallery/library.js'
import { IDS, albumOf, libraryAlbum, restoreAlbum, storeAlbum } from '../../../public/paging/album.js'
import { pageTurn } from '../../../public/paging/pager.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'

const both = { left: true, right: true }

test('a far pull or a flick turns the page, a short slow one does not', () => {
  for (const [pull, speed, way] of [
    [-200, 0, 1], [200, 0, -1], [-60, -1, 1], [60, 1, -1], [-60, 0, 0], [60, 0, 0], [0, -3, 0], [0, 3, 0],
  ]) assert.equal(pageTurn(pull, speed, 400, both), way, `${pull} at ${speed}`)
})

test('a flick back undoes a far pull', () => {
  assert.equal(pageTurn(-200, 1, 400, both), 0)
  assert.equal(pageTurn(200, -1, 400, both), 0)
})

test('where there is no neighbour no page is turned', () => {
  for (const [pull, speed] of [[-390, -5], [390, 5]]) assert.equal(pageTurn(pull, speed, 400, { left: false, right: false }), 0)
})

/** As much of a browser's storage as is used. */
function storage(limit = Infinity) {
  const items = new Map()
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => {
      if (value.length > limit) throw new Error('QuotaExceededError')
      items.set(key, value)
    },
  }
}
const images = (count) => Array.from({ length: count }, (_, index) => ({ id: `image ${index}` }))

test('the gallery leaves the images around the one that is opened', () => {
  const kept = storage()
  storeAlbum(kept, 'image 2000', albumOf(images(5000), 2000, 100_000))
  const album = restoreAlbum(kept, 'image 2000')
  assert.equal(album.ids[album.index], 'image 2000')
  assert.deepEqual([album.offset + album.index, album.total, album.ids.length], [2000, 100_000, 1000])
  assert.equal(restoreAlbum(kept, 'image 9'), null)
})

test('a storage that is full, empty or garbled is no album', () => {
  storeAlbum(storage(10), 'image 0', albumOf(images(10), 0, 10))
  assert.equal(restoreAlbum(storage(), 'image 1'), null)
  for (const text of ['', 'x', 'null', '{}', '{"ids":5}', '[]']) {
    assert.equal(restoreAlbum({ getItem: () => text }, 'image 1'), null)
  }
})

test('without a gallery the library is searched for the image, and its next one', async () => {
  const library = new Library('', async (url) => {
    const start = Number(new URL(url, 'http://x').searchParams.get('cursor') ?? 0)
    return { images: images(300).slice(start, start + 100), nextCursor: start + 100 < 300 ? String(start + 100) : null, total: 300 }
  })
  const album = await libraryAlbum('image 99', library)
  assert.deepEqual([album.index, album.ids[album.index + 1], album.total], [99, 'image 100', 300])
  assert.equal(await libraryAlbum('not there', new Library('', async () => ({ images: [], nextCursor: null }))), null)
})

test('a link to the thirty-thousandth picture of fifty thousand has the pictures around it', async () => {
  const asked = []
  const read = async (url) => {
    const query = new URL(url, 'http://x').searchParams
    const [start, limit] = [Number(query.get('cursor') ?? 0), Number(query.get('limit'))]
    asked.push(query.get('fields'))
    return { images: images(50_000).slice(start, start + limit), nextCursor: start + limit < 50_000 ? String(start + limit) : null, total: 50_000 }
  }
  const album = await libraryAlbum('image 29999', new Library('', read, null, IDS))
  assert.deepEqual([album.ids[album.index], album.ids[album.index + 1]], ['image 29999', 'image 30000'])
  assert.deepEqual([album.offset + album.index, album.total], [29_999, 50_000])
  assert.ok(album.ids.length <= 1000)
  assert.deepEqual(asked, Array(31).fill('cover'), 'nothing but what is needed, as few times as can be')
})
