import { Pyramid } from '../geometry/pyramid.js'
import { SourceError } from './source-error.js'

/** Smallest tile size, level pixels, as `build --tile-size` has it. A screen of 3840 × 2160 shows at most 8,500 such tiles. */
const SMALLEST_TILE = 64
/** Tiles of full resolution that an image may have nevertheless if they are smaller. */
const MOST_SMALL_TILES = 4096

/** Images of an album, and parts of a book. */
export const MOST_IMAGES = 100_000
/** Tiles of a first view: more than a screen of 3840 × 2160 shows of the smallest. */
export const MOST_TILES = 10_000

/**
 * Returns the pyramid that a description of any server states.
 * @param {{ width: any, height: any }} size pixels
 * @param {any} tileSize level pixels
 * @param {any} [overlap] level pixels
 * @throws {SourceError} if there is no such pyramid, or if a view of it would have more tiles than can be drawn
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
  if (tileSize < SMALLEST_TILE && pyramid.columns(topLevel) * pyramid.rows(topLevel) > MOST_SMALL_TILES) {
    throw new SourceError(`tiles of ${tileSize} pixels are too small for an image of ${width} × ${height}`, { reason: 'tooManyTiles' })
  }
  return pyramid
}

/**
 * Checks how many images an album has.
 * @param {number} count
 * @throws {SourceError}
 */
export function checkAlbum(count) {
  if (count > MOST_IMAGES) throw new SourceError(`more than ${MOST_IMAGES} images`, { reason: 'tooManyImages', values: { count: MOST_IMAGES } })
}
