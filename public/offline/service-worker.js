import { deprecatedAddress } from '../sources/deprecated-names.js'
import { MAX_BYTES, cacheKey, excessEntries, isCacheable } from './cache-policy.js'
import { PRECACHE } from './precache-manifest.js'

/*
 * The service worker. Offline, the page starts and shows the images that were viewed last. Online, every request goes to the
 * server, so that no metadata is outdated. Only files with a content hash in their names are served from the cache.
 */

const RUNTIME_CACHE = 'ziggurat-pictures'
/** The cache of this version of the worker. Another version has files with other names. */
const PRECACHE_NAME = `ziggurat-files-${PRECACHE.join()}`
const SIZE_HEADER = 'x-ziggurat-bytes'
const root = new URL('./', self.location.href).href

self.addEventListener('install', (event) => event.waitUntil(
  caches.open(PRECACHE_NAME).then((cache) => cache.addAll(PRECACHE.map((path) => new URL(path, root).href)))))

self.addEventListener('activate', (event) => event.waitUntil(caches.keys().then((names) => Promise.all(
  names.filter((name) => name.startsWith('ziggurat-files-') && name !== PRECACHE_NAME).map((name) => caches.delete(name))))))

self.addEventListener('fetch', (event) => {
  const { request } = event
  const key = cacheKey(request, root)
  if (key) event.respondWith(respond(event, key))
})

async function respond(event, key) {
  const { request } = event
  const precached = await (await caches.open(PRECACHE_NAME)).match(key)
  const isPrecached = PRECACHE.some((path) => new URL(path, root).href === key)
  // The name contains a content hash.
  if (precached && isPrecached) return precached
  try {
    const response = await fetch(request)
    if (isCacheable(response)) event.waitUntil(store(key, response.clone()).catch(() => {}))
    // A response that is gone or not public any more is removed.
    else if (response.status !== 304 && response.status < 500) event.waitUntil(removeFromCache(key))
    return response
  } catch (error) {
    const cache = await caches.open(RUNTIME_CACHE)
    const cached = await cache.match(key) ?? await cache.match(deprecatedAddress(key))
    if (cached) return cached
    throw error
  }
}

async function removeFromCache(key) {
  const cache = await caches.open(RUNTIME_CACHE)
  for (const each of [key, deprecatedAddress(key)]) {
    sizes?.delete(each)
    await cache.delete(each)
  }
}

/** Writes are sequential, so that the counted sizes match the cache. */
let lastWrite = Promise.resolve()
/**
 * The bytes of cache entries by key, oldest first. Read once, because there may be ten thousand tiles.
 * @type {Map<string, number> | null}
 */
let sizes = null

function store(key, response) {
  lastWrite = lastWrite.then(async () => {
    const body = await response.arrayBuffer()
    if (body.byteLength > MAX_BYTES.one) return
    const cache = await caches.open(RUNTIME_CACHE)
    const headers = new Headers(response.headers)
    headers.set(SIZE_HEADER, String(body.byteLength))
    // The body was decompressed on receipt.
    headers.delete('content-encoding')
    headers.delete('content-length')
    sizes ??= await sizesIn(cache)
    await cache.delete(key)
    await cache.put(key, new Response(body, { headers }))
    // A replaced entry is now the newest one.
    sizes.delete(key)
    sizes.set(key, body.byteLength)
    const excess = excessEntries([...sizes].map(([key, bytes]) => ({ key, bytes })))
    for (const each of excess) sizes.delete(each)
    await Promise.all(excess.map((each) => cache.delete(each)))
  }).catch(() => {
    // The cache may differ from the counted sizes.
    sizes = null
  })
  return lastWrite
}

/** @param {Cache} cache */
async function sizesIn(cache) {
  const requests = await cache.keys()
  return new Map(await Promise.all(requests.map(async (request) =>
    /** @type {[string, number]} */ ([request.url, Number((await cache.match(request))?.headers.get(SIZE_HEADER))]))))
}
