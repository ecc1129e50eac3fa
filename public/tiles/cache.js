/**
 * An LRU cache of decoded tiles by key. If it exceeds its limit in bytes, `evict` closes the least recently used tiles that
 * are not in use.
 */
export class TileCache {
  constructor(limit) {
    this.limit = limit
    this.bytes = 0
    this.bitmaps = new Map()
  }

  has(key) { return this.bitmaps.has(key) }

  get(key) {
    const bitmap = this.bitmaps.get(key)
    if (bitmap) {
      this.bitmaps.delete(key)
      this.bitmaps.set(key, bitmap)
    }
    return bitmap
  }

  set(key, bitmap) {
    this.delete(key)
    this.bitmaps.set(key, bitmap)
    this.bytes += size(bitmap)
  }

  delete(key) {
    const bitmap = this.bitmaps.get(key)
    if (!bitmap) return
    this.bitmaps.delete(key)
    this.bytes -= size(bitmap)
    bitmap.close?.()
  }

  evict(used) {
    for (const key of [...this.bitmaps.keys()]) {
      if (this.bytes <= this.limit) break
      if (used.has(key)) continue
      this.delete(key)
    }
  }

  clear() { for (const key of [...this.bitmaps.keys()]) this.delete(key) }
}

function size({ width, height }) { return width * height * 4 }
