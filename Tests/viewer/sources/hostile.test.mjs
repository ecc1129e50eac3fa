import { Rotation } from '../../../public/geometry/rotation.js'
import { menusTranslator } from '../../../public/i18n/menus.js'
import { viewerTranslator } from '../../../public/i18n/viewer.js'
import { citation, detailPairs } from '../../../public/menus/details.js'
import { servedSize } from '../../../public/menus/download.js'
import { openSource } from '../../../public/sources/open.js'
import { SourceError } from '../../../public/sources/source-error.js'
import { zigguratSource } from '../../../public/sources/ziggurat.js'
import { prioritizedTiles } from '../../../public/tiles/tile-priority.js'
import { Camera } from '../../../public/viewer/camera.js'
import { describeView } from '../../../public/viewer/descriptions.js'
import { random } from '../numbers.mjs'
import { DOCUMENTS, HOST, addressesOf, hostileDocument, makePage, serve } from './documents.mjs'
import assert from 'node:assert/strict'
import { test } from 'node:test'

makePage()

// What a hostile server sends: descriptions that are wrong in one or several places.

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const ROUNDS = Number(process.env.ROUNDS ?? 800)
const WINDOW = { width: 1280, height: 800 }
const RATIO = 2
/** Tiles of 64 pixels, at twice the pixels of the screen along each side, of a view and of where it moves to. */
const MOST_PLANNED = 2 * (2 * RATIO * WINDOW.width / 64 + 2) * (2 * RATIO * WINDOW.height / 64 + 2) + 1

/** Does with a source all that a viewer does before somebody draws it; returns the most tiles that one frame asked for. */
function use(source, next) {
  const { pyramid, title } = source
  assert.equal(typeof title, 'string')
  assert.doesNotMatch(title, /[\u0000-\u001f\u202a-\u202e\u2066-\u2069]/)
  let most = 0
  const camera = new Camera(pyramid.imageSize, WINDOW, {})
  const { minimum, maximum } = camera.limits
  const { width, height } = pyramid.imageSize
  for (const scale of [camera.viewport.scale, minimum, minimum * (maximum / minimum) ** next(), 0.3]) {
    for (const degrees of [0, 360 * next()]) {
      camera.show(camera.viewport.with({ scale, rotation: new Rotation(degrees, next() < 0.3) }).centered({ x: width * next(), y: height * next() }))
      const before = camera.viewport
      camera.show(before.centered({ x: width * next(), y: height * next() }))
      most = Math.max(most, prioritizedTiles(pyramid, before, camera.viewport, RATIO).length)
    }
  }
  if (source.region) {
    camera.showRegion(source.region)
    assert.ok(Number.isFinite(camera.viewport.scale + camera.viewport.x + camera.viewport.y))
    most = Math.max(most, prioritizedTiles(pyramid, camera.viewport, camera.viewport, RATIO).length)
  }
  for (const [name, value] of detailPairs(source, menusTranslator())) assert.ok(typeof name === 'string' && typeof value === 'string')
  assert.equal(typeof citation(source, camera.viewport, 'https://page.example/', menusTranslator()), 'string')
  assert.equal(typeof describeView(source, camera.viewport, RATIO, viewerTranslator()), 'string')
  for (const { label } of [...source.layers ?? [], ...source.album?.items ?? []]) if (label !== undefined) assert.equal(typeof label, 'string')
  for (const { label, index } of source.album?.ranges ?? []) assert.ok(typeof label === 'string' && source.album.items[index])
  return most
}

test(`descriptions that are wrong anywhere are refused or shown, and nothing else happens (SEED=${SEED})`, async () => {
  const next = random(SEED)
  let [refused, shown] = [0, 0]
  for (let round = 0; round < ROUNDS; round += 1) {
    const { name, at, opens = at, hostile, changes } = hostileDocument(next)
    const about = `SEED=${SEED}, round ${round}, ${name}: ${changes.join('; ')}`
    const asked = serve(name, hostile)
    const getView = name === 'API description of a view' ? async () => 'width=900&height=600' : undefined
    try {
      const source = await openSource(HOST + opens, undefined, getView)
      const most = use(source, next)
      assert.ok(most <= MOST_PLANNED, `${most} tiles`)
      for (const address of await addressesOf(source)) {
        if (address instanceof Error) throw address
        assert.match(address, /^https?:\/\/[^/@\\]+\//)
      }
      shown += 1
    } catch (error) {
      if (!(error instanceof SourceError)) throw new Error(about, { cause: error })
      refused += 1
    }
    assert.ok(asked.length <= 1500, `${about}: ${asked.length} requests`)
    // Relative addresses are relative to the description, not to the page that shows it.
    assert.ok(!asked.some((address) => address.startsWith(document.baseURI)), `${about}: ${asked.join(' ')}`)
    assert.equal({}.polluted, undefined, about)
  }
  assert.ok(refused > ROUNDS / 20 && shown > ROUNDS / 20, `${refused} refused, ${shown} shown`)
})

test('tiles that are too small for their image are refused; an image that has few of them is shown', async () => {
  const image = DOCUMENTS['API description'].document
  const open = (width, height, tileSize) => zigguratSource({ ...image, width, height, tileSize }, new URL(`${HOST}/api/images/a`))
  for (const [width, height, tileSize] of [[8000, 6000, 1], [4097, 1, 1], [63 * 65, 63 * 64, 63], [2 ** 53 - 1, 1, 63]]) {
    assert.throws(() => open(width, height, tileSize), (error) => error instanceof SourceError && error.reason === 'tooManyTiles', `${width} × ${height}, ${tileSize}`)
  }
  for (const [width, height, tileSize] of [[64, 64, 1], [4096, 1, 1], [63 * 64, 63 * 64, 63], [2 ** 53 - 1, 2 ** 53 - 1, 64], [1, 1, 1]]) {
    assert.ok(use(open(width, height, tileSize), random(1)) <= MOST_PLANNED)
  }
  for (const wrong of [[0, 1, 64], [1.5, 1, 64], ['9', 9, 64], [9, 9, 0], [9, 9, '64'], [2 ** 53, 1, 64], [9, 9, NaN]]) {
    assert.throws(() => open(...wrong), SourceError, wrong.join())
  }
})

test('an album has so many images and no more, however they are listed', async () => {
  const canvases = (count) => ({ type: 'Manifest', items: Array.from({ length: count }, () => DOCUMENTS['manifest 3'].document.items[1]) })
  serve('manifest 3', canvases(100_000))
  assert.equal((await openSource(`${HOST}/manifest3`)).album.items.length, 100_000)
  serve('manifest 3', canvases(100_001))
  await assert.rejects(openSource(`${HOST}/manifest3`), ({ reason, values }) => reason === 'tooManyImages' && values.count === 100_000)
  const pages = (count, nextCursor) => ({ images: Array.from({ length: count }, (_, index) => ({ id: `book/${index}` })), nextCursor })
  serve('API list of pages', pages(100_001, null))
  await assert.rejects(openSource(`${HOST}/api/images/book`), ({ reason }) => reason === 'tooManyImages')
  for (const [count, next] of [[0, 'a'], [1, 'a'], [1000, 'a']]) {
    const asked = serve('API list of pages', pages(count, next))
    await assert.rejects(openSource(`${HOST}/api/images/book`), ({ reason }) => reason === 'endless')
    assert.ok(asked.length <= 4, asked.length)
  }
  // Another cursor each time.
  const asked = serve('API list of pages', pages(1000, null))
  const { fetch } = globalThis
  globalThis.fetch = async (address, options) => new URL(address).searchParams.has('book')
    ? new Response(JSON.stringify(pages(1000, String(asked.push(address))))) : fetch(address, options)
  await assert.rejects(openSource(`${HOST}/api/images/book`), ({ reason }) => reason === 'tooManyImages')
  assert.ok(asked.length <= 103, asked.length)
})

test('documents that lead to each other are refused after a few requests', async () => {
  const body = (id) => ({ id: `${HOST}/a.jpg`, service: [{ id, type: 'ImageService3' }] })
  const manifest = (service) => ({ type: 'Manifest', items: [{ items: [{ items: [{ body: body(service) }] }] }] })
  for (const [name, document, opens] of [
    ['info.json 3', manifest(`${HOST}/iiif/3/harbour`), '/iiif/3/harbour/info.json'],
    ['manifest 3', manifest(`${HOST}/manifest3?`), '/manifest3'],
    ['info.json 3', { type: 'Annotation', target: `${HOST}/iiif/3/harbour/info.json` }, '/manifest3'],
    ['content state', { type: 'Annotation', target: `${HOST}/state` }, '/state'],
    ['API description of a book', { id: 'book', isBook: true, cover: 'book/1' }, '/api/images/book'],
  ]) {
    const asked = serve(name, document)
    const { fetch } = globalThis
    // Every page of a book is a book.
    if (document.isBook) globalThis.fetch = (address, options) => fetch(String(address).replace(/book%2F\d/, 'book'), options)
    await assert.rejects(openSource(HOST + opens), SourceError, JSON.stringify(document))
    assert.ok(asked.length <= 4, asked)
  }
})

test('parts of a book within each other without an end, and labels within lists, are refused or cut', async () => {
  const { document } = DOCUMENTS['manifest 3']
  const nested = (depth) => `${'{"type":"Range","label":"a","items":['.repeat(depth)}"${HOST}/canvas/2"${']}'.repeat(depth)}`
  // As text: JSON.stringify cannot write what lies so deep.
  const withMember = (name, value) => JSON.stringify({ ...document, [name]: 0 }).replace(`"${name}":0`, `"${name}":${value}`)
  serve('manifest 3', withMember('structures', `[${nested(32)}]`))
  assert.equal((await openSource(`${HOST}/manifest3`)).album.ranges.length, 32)
  for (const depth of [33, 100_000]) {
    serve('manifest 3', withMember('structures', `[${nested(depth)}]`))
    await assert.rejects(openSource(`${HOST}/manifest3`), SourceError)
  }
  serve('manifest 3', withMember('label', '['.repeat(100_000) + ']'.repeat(100_000)))
  assert.equal((await openSource(`${HOST}/manifest3`)).album.label, '')
})

test('sizes that a service states wrongly limit nothing', () => {
  for (const wrong of [{}, { maxArea: 'x', maxWidth: {}, maxHeight: -1 }, { maxArea: 0, maxWidth: null }, { maxWidth: NaN }]) {
    assert.deepEqual(servedSize(wrong, { width: 300, height: 200 }), { width: 300, height: 200 })
  }
  assert.deepEqual(servedSize({ maxWidth: 150 }, { width: 300, height: 200 }), { width: 150, height: 100 })
})
