import { deprecatedAddress } from '../sources/deprecated-names.js'
import { MOST, excessEntries, isCacheable, placeOf } from './cache-policy.js'
import { SHELL } from './precache-manifest.js'

/*
 * The service worker. Offline, the page starts and shows the images that were viewed last. Online, every request goes to the
 * server, so that no metadata is outdated. Only files with a content hash in their names are served from the cache.
 */

const PICTURES = 'ziggurat-pictures'
/** The cache of this version of the worker. Another version has files with other names. */
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
  // The name contains a content hash.
  if (own && isFile) return own
  try {
    const found = await fetch(request)
    if (isCacheable(found)) event.waitUntil(keep(key, found.clone()).catch(() => {}))
    // A response that is gone or not public any more is removed.
    else if (found.status !== 304 && found.status < 500) event.waitUntil(forget(key))
    return found
  } catch (error) {
    const pictures = await caches.open(PICTURES)
    const kept = await pictures.match(key) ?? await pictures.match(deprecatedAddress(key))
    if (kept) return kept
    throw error
  }
}

async function forget(key) {
  const cache = await caches.open(PICTURES)
  for (const each of [key, deprecatedAddress(key)]) {
    sizes?.delete(each)
    await cache.delete(each)
  }
}

/** Writes are sequential, so that the counted sizes match the cache. */
let turn = Promise.resolve()
/**
 * The bytes of cache entries by key, oldest first. Read once, because there may be ten thousand tiles.
 * @type {Map<string, number> | null}
 */
let sizes = null

function keep(key, found) {
  turn = turn.then(async () => {
    const body = await found.arrayBuffer()
    if (body.byteLength > MOST.one) return
    const cache = await caches.open(PICTURES)
    const headers = new Headers(found.headers)
    headers.set(BYTES, String(body.byteLength))
    // The body was decompressed on receipt.
    headers.delete('content-encoding')
    headers.delete('content-length')
    sizes ??= await sizesIn(cache)
    await cache.delete(key)
    await cache.put(key, new Response(body, { headers }))
    // A replaced entry is now the newest one.
    sizes.delete(key)
    sizes.set(key, body.byteLength)
    const gone = excessEntries([...sizes].map(([key, bytes]) => ({ key, bytes })))
    for (const each of gone) sizes.delete(each)
    await Promise.all(gone.map((each) => cache.delete(each)))
  }).catch(() => {
    // The cache may differ from the counted sizes.
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
