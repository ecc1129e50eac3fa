// @ts-check
/**
 * Decoded tiles, the least recently used given up first, within a number of bytes.
 * @template {{width: number, height: number, close?: () => void}} Bitmap
 */
export class TileCache {
  /** @param {number} limit bytes */
  constructor(limit) {
    this.limit = limit
    this.bytes = 0
    /** @type {Map<string, Bitmap>} in order of use */
    this.bitmaps = new Map()
  }

  /** @param {string} key */
  has(key) { return this.bitmaps.has(key) }

  /** The bitmap, now the most recently used. @param {string} key */
  get(key) {
    const bitmap = this.bitmaps.get(key)
    if (bitmap) {
      this.bitmaps.delete(key)
      this.bitmaps.set(key, bitmap)
    }
    return bitmap
  }

  /** @param {string} key @param {Bitmap} bitmap */
  set(key, bitmap) {
    this.delete(key)
    this.bitmaps.set(key, bitmap)
    this.bytes += size(bitmap)
  }

  /** @param {string} key */
  delete(key) {
    const bitmap = this.bitmaps.get(key)
    if (!bitmap) return
    this.bitmaps.delete(key)
    this.bytes -= size(bitmap)
    bitmap.close?.()
  }

  /** Gives up tiles until the limit is kept, but none of those in use. @param {Set<string>} used @returns {string[]} the keys given up */
  trim(used) {
    const gone = []
    for (const key of [...this.bitmaps.keys()]) {
      if (this.bytes <= this.limit) break
      if (used.has(key)) continue
      this.delete(key)
      gone.push(key)
    }
    return gone
  }

  clear() { for (const key of [...this.bitmaps.keys()]) this.delete(key) }
}

/** Four bytes a pixel. @param {{width: number, height: number}} bitmap */
function size({ width, height }) { return width * height * 4 }
