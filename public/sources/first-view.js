import { tileKey } from '../tiles/plan.js'
import { firstViewURL, takeAhead } from './ahead.js'
import { isShown, tryFormats } from './formats.js'
import { partsOf } from './parts.js'
import { zigguratSource } from './ziggurat.js'

/**
 * An image's description with the tiles of a view: parts behind their lengths, the coverage as JSON, then its tiles, each
 * decoded as it comes.
 * @returns {Promise<object | null>} a source; null where there is no such view, as of a book
 */
export async function firstView(address, query, signal) {
  const url = firstViewURL(address, query)
  const answer = await (takeAhead(url) ?? fetch(url, { signal, cache: 'no-cache' }))
  if (answer.status !== 200 || !answer.body) return null
  const reader = answer.body.getReader()
  const parts = partsOf(reader)
  const next = async () => (await parts.next()).value
  const { description, tiles } = JSON.parse(new TextDecoder().decode(await next()))
  // Of a book its cover is looked at, and the book is more than that.
  if (description.in && description.in === decodeURIComponent(address.pathname.split('/').pop())) {
    reader.cancel().catch(() => {})
    return null
  }
  await tryFormats([description.format])
  const source = zigguratSource(description, address)
  if (!isShown(description.format)) {
    // Its tiles have to be asked for anew.
    reader.cancel().catch(() => {})
    return source
  }
  source.coming = new Map(tiles.map((tile) => {
    const bitmap = next().then((part) => createImageBitmap(new Blob([part])))
    bitmap.catch(() => {})
    return [tileKey(tile), bitmap]
  }))
  // The rest is decoded while the viewer opens it.
  await source.coming.values().next().value?.catch(() => {})
  return source
}
