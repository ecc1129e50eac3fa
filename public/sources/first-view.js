import { tileKey } from '../tiles/plan.js'
import { request } from '../web-url.js'
import { currentNames } from './deprecated-names.js'
import { decoded, list, object, parsed } from './document.js'
import { canDecode, tryFormats } from './formats.js'
import { readFrames } from './length-prefixed.js'
import { MOST_TILES } from './limits.js'
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
  const answer = await (takePreloaded(url) ?? request(url, { signal, cache: 'no-cache' }))
  if (answer.status !== 200 || !answer.body) return null
  const reader = answer.body.getReader()
  const parts = readFrames(reader)
  const next = async () => (await parts.next()).value
  const { description, tiles } = object(parsed(new TextDecoder().decode(await next())))
  // The view of a book shows only its cover.
  const { book } = currentNames(object(description))
  if (book && book === decoded(address.pathname.split('/').pop() ?? '')) {
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
  if (list(tiles).length > MOST_TILES || !list(tiles).every(isTile)) throw new SourceError('the server sent other tiles than there are')
  source.coming = new Map(list(tiles).map((tile) => {
    const bitmap = next().then((part) => createImageBitmap(new Blob([part])))
    bitmap.catch(() => {})
    return [tileKey(tile), bitmap]
  }))
  // The other tiles are decoded while the viewer opens the image.
  await source.coming.values().next().value?.catch(() => {})
  return source
}

/**
 * Whether a value is a tile address.
 * @param {any} tile
 */
function isTile(tile) { return [tile?.level, tile?.column, tile?.row].every(Number.isSafeInteger) }
