import { SizeLimitError, readChunks } from '../sources/size-limit.js'
import { request } from '../web-url.js'
import { MissingTile, RefusedTile } from './loader.js'
import { tileKey } from './tile-priority.js'

/**
 * Loads and decodes an image. Rejected with a `MissingTile` if automatic retries would not help, and with an `Error`
 * otherwise.
 * @param {string | URL} url
 * @param {AbortSignal} [signal]
 * @returns {Promise<ImageBitmap>}
 */
export async function fetchBitmap(url, signal) {
  const response = await request(url, { signal })
  if (!response.ok) {
    const text = `${response.status} for ${url}`
    if (response.status === 404 || response.status === 410) throw new MissingTile(text)
    // Except "timeout", "too early" and "too many requests".
    if (response.status < 500 && ![408, 425, 429].includes(response.status)) throw new RefusedTile(text)
    throw new Error(text)
  }
  const chunks = await readChunks(response).catch((error) => {
    throw error instanceof SizeLimitError ? new RefusedTile(error.message) : error
  })
  return bitmapOf(new Blob(chunks), url)
}

function bitmapOf(blob, name) {
  return createImageBitmap(blob).catch(() => { throw new RefusedTile(`not an image: ${name}`) })
}

/**
 * Loads a tile of a source: one that is already loading, or else by its URL or by the source's `tileBlob`. A bitmap that is
 * far larger than the tile is rejected, because hundreds of them would exhaust memory.
 * @param {any} source
 * @param {{ level: number, column: number, row: number }} tile
 * @param {AbortSignal} [signal]
 * @returns {Promise<ImageBitmap>}
 */
export async function fetchTile({ pendingTiles, tileURL, tileBlob, pyramid }, tile, signal) {
  const key = tileKey(tile)
  const known = pendingTiles?.get(key)
  pendingTiles?.delete(key)
  const { level, column, row } = tile
  const load = async () => tileBlob
    ? bitmapOf(await tileBlob(level, column, row, signal), key) : fetchBitmap(tileURL(level, column, row), signal)
  const bitmap = await (known?.catch(load) ?? load())
  if (pyramid && bitmap.width * bitmap.height > maxPixels(pyramid)) {
    bitmap.close()
    throw new RefusedTile(`a tile of ${bitmap.width} × ${bitmap.height} pixels`)
  }
  return bitmap
}

/**
 * Returns the maximum number of pixels of a tile's bitmap. Servers may round, and an image of a single tile may be larger
 * than described.
 * @param {import('../geometry/pyramid.js').Pyramid} pyramid
 */
function maxPixels({ topLevel, singleTileLevel, tileSize, overlap }) {
  return singleTileLevel === topLevel ? Infinity : 4 * (tileSize + 2 * overlap) ** 2
}
