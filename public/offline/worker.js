import { formerAddress } from '../sources/former-names.js'
import { MOST, excessEntries, isCacheable, placeOf } from './cache-policy.js'
import { SHELL } from './precache-manifest.js'

/*
 * A service worker: without a network the page starts, and shows the pictures that were seen last. With one, everything is asked
 * for anew, so that no words are older than the server's; what is named by its content alone is not asked for twice.
 */

const PICTURES = 'ziggurat-pictures'
/** Of this very worker: the next one has files of other names, and another worker's text. */
const FILES = `ziggurat-files-${SHELL.join()}`
const BYTES = 'x-ziggurat-bytes'
const root = new URL('./', self.location.href).href

self.addEventListener('install', (event) => event.waitUntil(
  caches.open(FILES).then((cache) => cache.addAll(SHELL.map((path) => new URL(path, root).href)))))

self.addEventListener('activate', (event) => event.waitUntil(caches.keys().then((names) => Promise.all(
  names.filter((name) => name.startsWith('ziggurat-files-') && name !== FILES).map((name) => caches.delete(name))))))

self.addEventListener('fetch', (event) => {
  const { request } = event
  const key = placeOf(request, root)
  if (key) event.respondWith(answer(event, key))
})

async function answer(event, key) {
  const { request } = event
  const own = await (await caches.open(FILES)).match(key)
  const isFile = SHELL.some((path) => new URL(path, root).href === key)
  // Named by its content.
  if (own && isFile) return own
  try {
    const found = await fetch(request)
    if (isCacheable(found)) event.waitUntil(keep(key, found.clone()).catch(() => {}))
    // What is not there any more, or not for everybody, is not kept either.
    else if (found.status !== 304 && found.status < 500) event.waitUntil(forget(key))
    return found
  } catch (error) {
    const pictures = await caches.open(PICTURES)
    const kept = await pictures.match(key) ?? await pictures.match(formerAddress(key))
    if (kept) return kept
    throw error
  }
}

async function forget(key) {
  const cache = await caches.open(PICTURES)
  for (const each of [key, formerAddress(key)]) {
    sizes?.delete(each)
    await cache.delete(each)
  }
}

/** One after the other, so that what is counted is there. */
let turn = Promise.resolve()
/** Bytes of what is kept, by key, the oldest first: read once, since there may be ten thousand tiles. @type {Map<string, number> | null} */
let sizes = null

function keep(key, found) {
  turn = turn.then(async () => {
    const body = await found.arrayBuffer()
    if (body.byteLength > MOST.one) return
    const cache = await caches.open(PICTURES)
    const headers = new Headers(found.headers)
    headers.set(BYTES, String(body.byteLength))
    // It was unpacked on its way here.
    headers.delete('content-encoding')
    headers.delete('content-length')
    sizes ??= await sizesIn(cache)
    await cache.delete(key)
    await cache.put(key, new Response(body, { headers }))
    // What was replaced is the newest now.
    sizes.delete(key)
    sizes.set(key, body.byteLength)
    const gone = excessEntries([...sizes].map(([key, bytes]) => ({ key, bytes })))
    for (const each of gone) sizes.delete(each)
    await Promise.all(gone.map((each) => cache.delete(each)))
  }).catch(() => {
    // What is there is not what was counted.
    sizes = null
  })
  return turn
}

/** @param {Cache} cache */
async function sizesIn(cache) {
  const requests = await cache.keys()
  return new Map(await Promise.all(requests.map(async (request) =>
    /** @type {[string, number]} */ ([request.url, Number((await cache.match(request))?.headers.get(BYTES))]))))
}
