/** Swift's `Pyramid`. */
export class Pyramid {
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

  shift(level) { return this.topLevel - level }

  scale(level) { return 2 ** -this.shift(level) }

  size(level) {
    const shift = this.shift(level)
    return { width: halved(this.imageSize.width, shift), height: halved(this.imageSize.height, shift) }
  }

  columns(level) { return tiles(this.size(level).width, this.tileSize) }

  rows(level) { return tiles(this.size(level).height, this.tileSize) }

  levelForScale(scale) {
    let level = this.topLevel
    let levelScale = 1
    while (level > 0 && levelScale / 2 >= scale) {
      levelScale /= 2
      level -= 1
    }
    return level
  }

  get singleTileLevel() {
    let level = this.topLevel
    while (level > 0 && this.columns(level) * this.rows(level) > 1) level -= 1
    return level
  }

  span(index, length) {
    const start = index * this.tileSize - (index > 0 ? this.overlap : 0)
    const end = Math.min((index + 1) * this.tileSize + this.overlap, length)
    return { start, length: end - start }
  }
}

export function levelCount(side) {
  return side > 1 ? (side - 1).toString(2).length + 1 : 1
}

/** Not `>>`, which ends at 2^31. */
export function halved(length, times) { return Math.ceil(length / 2 ** times) }

function tiles(length, tileSize) { return Math.floor((length - 1) / tileSize) + 1 }
