import { boundedPieces, TooLong } from '../sources/bounded.js'
import { request } from '../web-url.js'
import { MissingTile } from './loader.js'
import { tileKey } from './plan.js'

/**
 * A picture by its address, decoded. What trying again cannot mend is rejected as a `MissingTile`.
 * @param {string | URL} url
 * @param {AbortSignal} [signal]
 * @returns {Promise<ImageBitmap>}
 */
export async function fetchBitmap(url, signal) {
  const answer = await request(url, { signal })
  if (!answer.ok) {
    const text = `${answer.status} for ${url}`
    // But for "timeout", "too early" and "too many".
    if (answer.status < 500 && ![408, 425, 429].includes(answer.status)) throw new MissingTile(text)
    throw new Error(text)
  }
  const pieces = await boundedPieces(answer).catch((error) => {
    throw error instanceof TooLong ? new MissingTile(error.message) : error
  })
  return bitmapOf(new Blob(pieces), url)
}

function bitmapOf(blob, name) {
  return createImageBitmap(blob).catch(() => { throw new MissingTile(`not an image: ${name}`) })
}

/**
 * A tile of a source: what is on its way already, else by its URL, or as the source itself gets at it.
 * @param {object} source
 * @param {{ level: number, column: number, row: number }} tile
 * @param {AbortSignal} signal
 * @returns {Promise<ImageBitmap>}
 */
export function fetchTile({ coming, tileURL, tileBlob }, tile, signal) {
  const key = tileKey(tile)
  const bitmap = coming?.get(key)
  coming?.delete(key)
  const { level, column, row } = tile
  const ask = async () => tileBlob
    ? bitmapOf(await tileBlob(level, column, row, signal), key) : fetchBitmap(tileURL(level, column, row), signal)
  return bitmap?.catch(ask) ?? ask()
}
