import { Pyramid } from '../geometry/pyramid.js'
import { SourceError } from './source-error.js'

/**
 * Minimum tile size in level pixels, equal to that of `build --tile-size`. A screen of 3840 × 2160 shows at most 8,500 such
 * tiles.
 */
const MIN_TILE_SIZE = 64
/** Maximum number of full-resolution tiles of an image with smaller tiles. */
const MAX_SMALL_TILES = 4096

/** Maximum number of images of an album, and of parts of a book. */
export const MAX_IMAGES = 100_000
/** Maximum number of tiles of a first view: more than a screen of 3840 × 2160 shows at the minimum tile size. */
export const MAX_TILES = 10_000

/**
 * Returns the pyramid of an image with untrusted parameters.
 * @param {{ width: any, height: any }} size pixels
 * @param {any} tileSize level pixels
 * @param {any} [overlap] level pixels
 * @throws {SourceError} if the parameters are invalid, or if a view would have more tiles than can be drawn
 */
export function describedPyramid({ width, height }, tileSize, overlap = 0) {
  let pyramid
  try {
    if (!Number.isSafeInteger(overlap)) throw new RangeError('not an overlap')
    pyramid = new Pyramid({ width, height }, tileSize, overlap)
  } catch (error) {
    throw new SourceError(`the description states no image: ${error.message}`)
  }
  const { topLevel } = pyramid
  if (tileSize < MIN_TILE_SIZE && pyramid.columns(topLevel) * pyramid.rows(topLevel) > MAX_SMALL_TILES) {
    throw new SourceError(`tiles of ${tileSize} pixels are too small for an image of ${width} × ${height}`, { reason: 'tooManyTiles' })
  }
  return pyramid
}

/**
 * Checks the number of images of an album.
 * @param {number} count
 * @throws {SourceError} if there are too many
 */
export function checkAlbum(count) {
  if (count > MAX_IMAGES) throw new SourceError(`more than ${MAX_IMAGES} images`, { reason: 'tooManyImages', values: { count: MAX_IMAGES } })
}
