import { SizeLimitError, boundedPieces } from '../sources/size-limit.js'
import { request } from '../web-url.js'
import { MissingTile, RefusedTile } from './loader.js'
import { tileKey } from './plan.js'

/**
 * A picture by its address, decoded. What trying again by itself does not change is rejected as a `MissingTile`.
 * @param {string | URL} url
 * @param {AbortSignal} [signal]
 * @returns {Promise<ImageBitmap>}
 */
export async function fetchBitmap(url, signal) {
  const answer = await request(url, { signal })
  if (!answer.ok) {
    const text = `${answer.status} for ${url}`
    if (answer.status === 404 || answer.status === 410) throw new MissingTile(text)
    // But for "timeout", "too early" and "too many".
    if (answer.status < 500 && ![408, 425, 429].includes(answer.status)) throw new RefusedTile(text)
    throw new Error(text)
  }
  const pieces = await boundedPieces(answer).catch((error) => {
    throw error instanceof SizeLimitError ? new RefusedTile(error.message) : error
  })
  return bitmapOf(new Blob(pieces), url)
}

function bitmapOf(blob, name) {
  return createImageBitmap(blob).catch(() => { throw new RefusedTile(`not an image: ${name}`) })
}

/**
 * A tile of a source: what is on its way already, else by its URL, or as the source itself gets at it. One whose picture is far
 * larger than the tile is refused: hundreds of such would fill the memory.
 * @param {any} source
 * @param {{ level: number, column: number, row: number }} tile
 * @param {AbortSignal} [signal]
 * @returns {Promise<ImageBitmap>}
 */
export async function fetchTile({ coming, tileURL, tileBlob, pyramid }, tile, signal) {
  const key = tileKey(tile)
  const known = coming?.get(key)
  coming?.delete(key)
  const { level, column, row } = tile
  const ask = async () => tileBlob
    ? bitmapOf(await tileBlob(level, column, row, signal), key) : fetchBitmap(tileURL(level, column, row), signal)
  const bitmap = await (known?.catch(ask) ?? ask())
  if (pyramid && bitmap.width * bitmap.height > mostPixels(pyramid)) {
    bitmap.close()
    throw new RefusedTile(`a tile of ${bitmap.width} × ${bitmap.height} pixels`)
  }
  return bitmap
}

/**
 * Pixels of a tile's picture at most: servers may round, and an image that is one tile may be larger than its description says.
 * @param {import('../geometry/pyramid.js').Pyramid} pyramid
 */
function mostPixels({ topLevel, singleTileLevel, tileSize, overlap }) {
  return singleTileLevel === topLevel ? Infinity : 4 * (tileSize + 2 * overlap) ** 2
}
