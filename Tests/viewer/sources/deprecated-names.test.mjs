import { currentNames, deprecatedAddress } from '../../../public/sources/deprecated-names.js'
import { firstViewURL } from '../../../public/sources/preload.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'

test('answers of version 0.1 get the present names', () => {
  // As version 0.1 answered /api/images, shortened.
  const list = {
    images: [{ id: 'codex', book: true, cover: 'codex/1', pages: 2 }, { id: 'dance', moves: true }, { id: 'codex/1', in: 'codex', page: 1, place: 'Leiden' }],
    next: 'abc', total: 3,
  }
  const { images, ...rest } = currentNames(list)
  assert.deepEqual(rest, { nextCursor: 'abc', total: 3 })
  assert.deepEqual(images.map(currentNames), [
    { id: 'codex', isBook: true, cover: 'codex/1', pages: 2 }, { id: 'dance', animated: true },
    { id: 'codex/1', book: 'codex', page: 1, location: 'Leiden' }])
})

test('present names stay, and win over former ones', () => {
  const present = { id: 'codex/1', book: 'codex', animated: true, location: 'Leiden', nextCursor: 'abc' }
  assert.deepEqual(currentNames(present), present)
  assert.deepEqual(currentNames({ ...present, in: 'x', moves: false, place: 'y', next: 'z' }), present)
  assert.deepEqual(currentNames({ isBook: true, book: true }), { isBook: true })
})

test('what was kept without a network before is found by its former address', () => {
  const root = 'https://example.org/'
  for (const [present, former] of [
    ['dzi/a_files/12/0_0.jpg?v=1f', 'dzi/a_files/12/0_0.jpg?g=1f'],
    ['dzi/a_files/12/0_0.jpg', 'dzi/a_files/12/0_0.jpg'],
    ['api/images?limit=1000&book=codex&fields=cover', 'api/images?limit=1000&in=codex&fields=cover'],
    ['view/', 'view/'],
  ]) assert.equal(deprecatedAddress(root + present), root + former)
  const view = firstViewURL(new URL(`${root}api/images/a`), 'width=390&height=844&dpr=3')
  // As version 0.1 asked.
  assert.equal(deprecatedAddress(view), `${root}api/images/a/viewport.tiles?width=390&height=844&dpr=3&overview=true&describe=true`)
})
