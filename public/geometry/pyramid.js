/** @typedef {import('./types.js').Size} Size */

/** The levels of an image and their tiles, as Swift's `Pyramid` has them. */
export class Pyramid {
  /**
   * @param {Size} imageSize pixels
   * @param {number} tileSize level pixels
   * @param {number} [overlap] level pixels that tiles share with each neighbour
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
   * How often the image's sides are halved to get the level's.
   * @param {number} level
   */
  shift(level) { return this.topLevel - level }

  /**
   * Level pixels per image pixel.
   * @param {number} level
   */
  scale(level) { return 2 ** -this.shift(level) }

  /**
   * The level's size in its own pixels.
   * @param {number} level
   * @returns {Size}
   */
  size(level) {
    const shift = this.shift(level)
    return { width: halved(this.imageSize.width, shift), height: halved(this.imageSize.height, shift) }
  }

  /**
   * How many tiles lie side by side.
   * @param {number} level
   */
  columns(level) { return tiles(this.size(level).width, this.tileSize) }

  /**
   * How many tiles lie one below the other.
   * @param {number} level
   */
  rows(level) { return tiles(this.size(level).height, this.tileSize) }

  /**
   * The coarsest level that is at least as fine as a scale.
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

  /** The finest level that is one tile. */
  get singleTileLevel() {
    let level = this.topLevel
    while (level > 0 && this.columns(level) * this.rows(level) > 1) level -= 1
    return level
  }

  /**
   * Where a tile begins and how long it is, along one axis, in level pixels.
   * @param {number} index its column or row
   * @param {number} length the level's, along that axis
   */
  span(index, length) {
    const start = index * this.tileSize - (index > 0 ? this.overlap : 0)
    const end = Math.min((index + 1) * this.tileSize + this.overlap, length)
    return { start, length: end - start }
  }
}

/**
 * How many levels an image has whose longer side this is.
 * @param {number} side pixels
 */
export function levelCount(side) {
  return side > 1 ? (side - 1).toString(2).length + 1 : 1
}

/**
 * A length halved so many times, each rounded up. Not `>>`, which ends at 2^31.
 * @param {number} length
 * @param {number} times
 */
export function halved(length, times) { return Math.ceil(length / 2 ** times) }

/**
 * @param {number} length
 * @param {number} tileSize
 */
function tiles(length, tileSize) { return Math.floor((length - 1) / tileSize) + 1 }
