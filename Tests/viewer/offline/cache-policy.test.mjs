import { MAX_BYTES, cacheKey, excessEntries, isCacheable } from '../../../public/offline/cache-policy.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'

const ROOT = 'https://example.org/pictures/'
const request = (path, { mode = 'cors', method = 'GET', headers = {} } = {}) =>
  ({ url: new URL(path, ROOT).href, mode, method, headers: new Headers(headers) })

test('pictures, listings and words are kept by their addresses, all pages of pictures as one', () => {
  for (const path of ['api/images?limit=200', 'api/images/a%2Fb/viewport.tiles?width=390', 'dzi/a_files/12/0_0.jpg?v=1', 'i18n/de-ABCDEFGH.json', 'icon.svg']) {
    assert.equal(cacheKey(request(path), ROOT), ROOT + path)
  }
  assert.equal(cacheKey(request('?folder=a', { mode: 'navigate' }), ROOT), ROOT)
  assert.equal(cacheKey(request('view/a%2Fb#scale=1', { mode: 'navigate' }), ROOT), `${ROOT}view/`)
})

test('nothing of a session, of a private space or of who may write is kept, however it is spelled', () => {
  for (const path of ['api/session', 'api/events', 'api/uploads/x', 'api/trash', 'api/pairing.svg', 'api/images/a/original', 'api/images/a/animation', 'metrics',
    'view/~%2Fa', 'view/~/a', 'view/%7E%2fa', 'api/images/~%2Fa', 'dzi/~%2Fa_files/1/0_0.jpg', 'iiif/3/~%2Fa/info.json', 'api/images?folder=~', 'api/images?folder=~%2Fa&x']) {
    for (const mode of ['cors', 'navigate']) assert.equal(cacheKey(request(path, { mode }), ROOT), null, path)
  }
  assert.equal(cacheKey(request('api/images/a', { method: 'PATCH' }), ROOT), null)
  assert.equal(cacheKey(request('a.szi', { headers: { range: 'bytes=0-9' } }), ROOT), null)
  assert.equal(cacheKey(request('api/images', { headers: { authorization: 'Bearer x' } }), ROOT), null)
  assert.equal(cacheKey(request('https://example.org/elsewhere'), ROOT), null)
  assert.equal(cacheKey(request('embed/a', { mode: 'navigate' }), ROOT), null)
})

test('what the server says is private is not kept, nor what is no whole answer', () => {
  const answer = (status, control, type = 'basic') => {
    const made = new Response(null, { status, headers: { 'cache-control': control } })
    return new Proxy(made, { get: (target, name) => name === 'type' ? type : target[name] })
  }
  assert.ok(isCacheable(answer(200, 'public, max-age=10')))
  for (const [status, control, type] of [[200, 'private, no-store'], [200, 'no-store'], [204, 'public'], [404, 'public'], [206, 'public'], [200, 'public', 'opaque']]) {
    assert.ok(!isCacheable(answer(status, control, type)), `${status} ${control} ${type}`)
  }
})

test('the oldest go until there is room', () => {
  const entries = [['a', 0.5], ['b', 0.4], ['c', 0.3], ['d', 0.2]].map(([key, part]) => ({ key, bytes: part * MAX_BYTES.all }))
  assert.deepEqual(excessEntries(entries), ['a'])
  assert.deepEqual(excessEntries(entries.slice(1)), [])
})
