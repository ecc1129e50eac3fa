import { Pyramid } from '../geometry/pyramid.js'
import { SourceError } from './source-error.js'

/** Images of an album, and parts of a book. */
export const MOST_IMAGES = 100_000
/** Tiles of a first view: more than a screen of 3840 × 2160 shows of the smallest. */
export const MOST_TILES = 10_000

/**
 * Returns the pyramid that a description of any server states.
 * @param {{ width: any, height: any }} size pixels
 * @param {any} tileSize level pixels
 * @param {any} [overlap] level pixels
 * @throws {SourceError} if there is no such pyramid
 */
export function describedPyramid({ width, height }, tileSize, overlap = 0) {
  let pyramid
  try {
    if (!Number.isSafeInteger(overlap)) throw new RangeError('not an overlap')
    pyramid = new Pyramid({ width, height }, tileSize, overlap)
  } catch (error) {
    throw new SourceError(`the description states no image: ${error.message}`)
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
