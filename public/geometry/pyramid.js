// @ts-check
/**
 * @typedef {{x: number, y: number}} Point
 * @typedef {{x: number, y: number, width: number, height: number}} Rect
 * @typedef {{width: number, height: number}} Size
 */

/**
 * The levels and tiles of one image: every level is half of the one above, rounded up, down to
 * 1×1. Swift's `Pyramid`, the same arithmetic; one fixture file holds both together.
 */
export class Pyramid {
  /**
   * @param {Size} imageSize full resolution, image space
   * @param {number} tileSize distance between neighbouring tiles' origins, level pixels
   * @param {number} [overlap] how far a tile reaches over each inner edge, level pixels
   */
  constructor(imageSize, tileSize, overlap = 0) {
    for (const side of [imageSize.width, imageSize.height, tileSize]) {
      if (!Number.isSafeInteger(side) || side < 1) throw new RangeError(`not a pixel size: ${side}`)
    }
    if (!(overlap >= 0 && overlap < tileSize)) throw new RangeError(`not an overlap: ${overlap}`)
    this.imageSize = imageSize
    this.tileSize = tileSize
    this.overlap = overlap
    this.levelCount = levelCount(Math.max(imageSize.width, imageSize.height))
  }

  get topLevel() { return this.levelCount - 1 }

  /** One level pixel covers 2^shift image pixels. @param {number} level */
  shift(level) { return this.topLevel - level }

  /** Level pixels per image pixel, exactly 2^(level − topLevel). @param {number} level */
  scale(level) { return 2 ** -this.shift(level) }

  /** Level pixels. @param {number} level @returns {Size} */
  size(level) {
    const shift = this.shift(level)
    return { width: halved(this.imageSize.width, shift), height: halved(this.imageSize.height, shift) }
  }

  /** @param {number} level */
  columns(level) { return tiles(this.size(level).width, this.tileSize) }

  /** @param {number} level */
  rows(level) { return tiles(this.size(level).height, this.tileSize) }

  /**
   * The coarsest level whose pixels are at least as fine as `scale` asks for.
   * @param {number} scale device pixels per image pixel, above 0
   */
  levelForScale(scale) {
    let level = this.topLevel
    let levelScale = 1
    while (level > 0 && levelScale / 2 >= scale) {
      levelScale /= 2
      level -= 1
    }
    return level
  }

  /** The finest level that is one tile: the first thing to show, and a thumbnail. */
  get singleTileLevel() {
    let level = this.topLevel
    while (level > 0 && this.columns(level) * this.rows(level) > 1) level -= 1
    return level
  }

  /**
   * Start and length of the `index`th tile along a side of `length` level pixels, overlap included.
   * @param {number} index @param {number} length
   * @returns {{start: number, length: number}}
   */
  span(index, length) {
    const start = index * this.tileSize - (index > 0 ? this.overlap : 0)
    const end = Math.min((index + 1) * this.tileSize + this.overlap, length)
    return { start, length: end - start }
  }
}

/** @param {number} side the longer one, pixels */
export function levelCount(side) {
  let bits = 0
  for (let rest = side - 1; rest >= 1; rest = Math.floor(rest / 2)) bits += 1
  return bits + 1
}

/**
 * `length` halved `times` times, rounded up each time. Not `>>`, which ends at 2^31.
 * @param {number} length @param {number} times
 */
export function halved(length, times) { return Math.ceil(length / 2 ** times) }

/** @param {number} length @param {number} tileSize */
function tiles(length, tileSize) { return Math.floor((length - 1) / tileSize) + 1 }
