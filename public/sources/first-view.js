import { tileKey } from '../tiles/tile-priority.js'
import { request } from '../web-url.js'
import { currentNames } from './deprecated-names.js'
import { decodeSegment, list, object, parseJSON } from './document.js'
import { canDecode, tryFormats } from './formats.js'
import { readFrames } from './length-prefixed.js'
import { MAX_TILES } from './source-limits.js'
import { firstViewURL, takePreloaded } from './preload.js'
import { SourceError } from './source-error.js'
import { zigguratSource } from './ziggurat.js'

/**
 * Loads an image's description together with the tiles of a view. The response contains length-prefixed parts: the coverage
 * as JSON, then the tiles, which are decoded on arrival.
 * @returns {Promise<object | null>} a source; null if there is no such view, as for a book
 */
export async function firstView(address, query, signal) {
  const url = firstViewURL(address, query)
  const response = await (takePreloaded(url) ?? request(url, { signal, cache: 'no-cache' }))
  if (response.status !== 200 || !response.body) return null
  const reader = response.body.getReader()
  const parts = readFrames(reader)
  const next = async () => (await parts.next()).value
  const { description, tiles } = object(parseJSON(new TextDecoder().decode(await next())))
  // The view of a book shows only its cover.
  const { book } = currentNames(object(description))
  if (book && book === decodeSegment(address.pathname.split('/').pop() ?? '')) {
    reader.cancel().catch(() => {})
    return null
  }
  await tryFormats([description?.format])
  const source = zigguratSource(description, address)
  if (!canDecode(source.details.format)) {
    // Its tiles must be requested in another format.
    reader.cancel().catch(() => {})
    return source
  }
  if (list(tiles).length > MAX_TILES || !list(tiles).every(isTile)) throw new SourceError('the server sent other tiles than there are')
  source.pendingTiles = new Map(list(tiles).map((tile) => {
    const bitmap = next().then((part) => createImageBitmap(new Blob([part])))
    bitmap.catch(() => {})
    return [tileKey(tile), bitmap]
  }))
  // The other tiles are decoded while the viewer opens the image.
  await source.pendingTiles.values().next().value?.catch(() => {})
  return source
}

/**
 * Whether a value is a tile address.
 * @param {any} tile
 */
function isTile(tile) { return [tile?.level, tile?.column, tile?.row].every(Number.isSafeInteger) }
