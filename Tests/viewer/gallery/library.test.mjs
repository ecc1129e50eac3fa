import { Library } from '../../../public/gallery/library.js'
import { serverURL } from '../../../public/urls.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'

test('the list is read page by page to its end, each page once', async () => {
  const asked = []
  const library = new Library('night watch', async (url) => {
    asked.push(url)
    const page = asked.length
    return { images: [{ id: `${page}a` }, { id: `${page}b` }], nextCursor: page < 3 ? `c${page}` : null }
  })
  const [images, same] = await Promise.all([library.more(), library.more()])
  assert.equal(images, same)
  const read = [...images]
  while (!library.isComplete) read.push(...await library.more())
  assert.deepEqual(await library.more(), [])
  assert.deepEqual(read.map(({ id }) => id), ['1a', '1b', '2a', '2b', '3a', '3b'])
  assert.deepEqual(asked, ['api/images?limit=200&q=night+watch', 'api/images?limit=200&cursor=c1&q=night+watch', 'api/images?limit=200&cursor=c2&q=night+watch'].map(serverURL))
})

test('a page that failed is asked for again', async () => {
  let tries = 0
  const library = new Library('', async () => {
    tries += 1
    if (tries === 1) throw new Error('503')
    return { images: [{ id: 'a' }], nextCursor: null }
  })
  await assert.rejects(library.more())
  assert.deepEqual((await library.more()).map(({ id }) => id), ['a'])
})
