/** @typedef {import('./types.js').Size} Size */

/** The levels of an image and their tiles: the counterpart of `Pyramid` in Swift. */
export class Pyramid {
  /**
   * @param {Size} imageSize pixels
   * @param {number} tileSize level pixels
   * @param {number} [overlap] level pixels that tiles share with each neighbor
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

  /**
   * Returns the number of times that the image's sides are halved for a level.
   * @param {number} level
   */
  shift(level) { return this.topLevel - level }

  /**
   * Returns the level pixels per image pixel.
   * @param {number} level
   */
  scale(level) { return 2 ** -this.shift(level) }

  /**
   * Returns the size of a level in its own pixels.
   * @param {number} level
   * @returns {Size}
   */
  size(level) {
    const shift = this.shift(level)
    return { width: halved(this.imageSize.width, shift), height: halved(this.imageSize.height, shift) }
  }

  /**
   * Returns the number of tile columns.
   * @param {number} level
   */
  columns(level) { return tiles(this.size(level).width, this.tileSize) }

  /**
   * Returns the number of tile rows.
   * @param {number} level
   */
  rows(level) { return tiles(this.size(level).height, this.tileSize) }

  /**
   * Returns the coarsest level that is at least as fine as a scale.
   * @param {number} scale device pixels per image pixel
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

  /** The finest level that consists of one tile. */
  get singleTileLevel() {
    let level = this.topLevel
    while (level > 0 && this.columns(level) * this.rows(level) > 1) level -= 1
    return level
  }

  /**
   * Returns the start and length of a tile along one axis, in level pixels, including its overlap.
   * @param {number} index its column or row
   * @param {number} length the length of the level along that axis
   */
  span(index, length) {
    const start = index * this.tileSize - (index > 0 ? this.overlap : 0)
    const end = Math.min((index + 1) * this.tileSize + this.overlap, length)
    return { start, length: end - start }
  }
}

/**
 * Returns the number of levels of an image by the length of its longer side.
 * @param {number} side pixels
 */
export function levelCount(side) {
  return side > 1 ? (side - 1).toString(2).length + 1 : 1
}

/**
 * Halves a length a number of times, each time rounded up. The operator `>>` would be limited to 2^31.
 * @param {number} length
 * @param {number} times
 */
export function halved(length, times) { return Math.ceil(length / 2 ** times) }

/**
 * Returns the number of tiles along one axis.
 * @param {number} length
 * @param {number} tileSize
 */
function tiles(length, tileSize) { return Math.floor((length - 1) / tileSize) + 1 }
