/** Limits of the aspect ratio, so that a very wide or tall image does not take a row of its own. */
const RATIO = { min: 0.5, max: 2.6 }

/**
 * Lays out images in justified rows of equal height, in order. Groups have headings.
 *
 * @typedef {{ start: number, end: number, y: number, height: number, heading?: string }} Row the items from `start` to
 *   before `end`; positions in CSS pixels from the top of the grid; the heading is above `y`
 */
export class Rows {
  /**
   * @param {number} width CSS pixels
   * @param {{ gap: number, height: number, caption: number, heading?: number }} style CSS pixels: the gap between images,
   *   the target height of a row, the space below an image for its caption, and the space above a row for a heading
   * @param {((image: object) => string) | null} group returns the heading of an image's group; null for no groups
   */
  constructor(width, style, group = null) {
    Object.assign(this, { width, style, group, ratios: [], groups: [], rows: [], isOpen: false })
  }

  /** The height of all rows in CSS pixels. */
  get height() {
    const last = this.rows.at(-1)
    return last ? last.y + last.height + this.style.caption : 0
  }

  /**
   * Adds images after the present ones.
   * @param {{ width: number, height: number }[]} images
   */
  append(images) {
    for (const image of images) {
      this.ratios.push(Math.min(Math.max(image.width / image.height, RATIO.min), RATIO.max))
      if (this.group) this.groups.push(this.group(image))
    }
    let start = this.rows.at(-1)?.end ?? 0
    if (this.isOpen) start = this.rows.pop().start
    while (start < this.ratios.length) {
      let end = start + 1
      while (end < this.ratios.length && this.groups[end] === this.groups[start]) end += 1
      this.layOutGroup(start, end)
      start = end
    }
  }

  /** Lays out the rows of one group. The last row may stay open for more items. */
  layOutGroup(first, last) {
    let start = first
    let sum = 0
    for (let index = start; index < last; index += 1) {
      sum += this.ratios[index]
      const height = this.heightFor(sum, index + 1 - start)
      if (height > this.style.height) continue
      const before = this.heightFor(sum - this.ratios[index], index - start)
      if (index > start && before / this.style.height < this.style.height / height) {
        this.add(start, index, before)
        start = index
        sum = this.ratios[index]
        const single = this.heightFor(sum, 1)
        if (single > this.style.height) continue
        this.add(start, index + 1, single)
      } else this.add(start, index + 1, height)
      start = index + 1
      sum = 0
    }
    this.isOpen = start < last
    if (this.isOpen) this.add(start, last, Math.min(this.heightFor(sum, last - start), this.style.height))
  }

  /** Returns the height in CSS pixels of a row with `count` images, whose aspect ratios have the sum `ratios`. */
  heightFor(ratios, count) { return ratios > 0 ? (this.width - this.style.gap * (count - 1)) / ratios : Infinity }

  add(start, end, height) {
    const isFirst = this.group !== null && (start === 0 || this.groups[start] !== this.groups[start - 1])
    const top = this.rows.length ? this.height + this.style.gap : 0
    const row = { start, end, y: isFirst ? top + this.style.heading : top, height }
    this.rows.push(isFirst ? { ...row, heading: this.groups[start] } : row)
  }

  /**
   * Returns the rows that are visible between two vertical positions, in CSS pixels.
   * @returns {Row[]}
   */
  between(top, bottom) {
    const first = Math.max(this.firstIndex((row) => row.y > top) - 1, 0)
    let end = first
    while (end < this.rows.length && this.rows[end].y < bottom) end += 1
    return this.rows.slice(first, end)
  }

  /**
   * Returns the index of the row that contains an item.
   * @param {number} item
   */
  rowOf(item) { return Math.max(Math.min(this.firstIndex((row) => row.end > item), this.rows.length - 1), 0) }

  /**
   * Returns the boxes of a row's images in CSS pixels.
   * @param {Row} row
   */
  boxes(row) {
    let x = 0
    const boxes = []
    for (let index = row.start; index < row.end; index += 1) {
      const width = this.ratios[index] * row.height
      boxes.push({ index, x, y: row.y, width, height: row.height })
      x += width + this.style.gap
    }
    return boxes
  }

  /** Returns the index of the first row that meets a condition. All rows after it must meet it, too (binary search). */
  firstIndex(condition) {
    let [low, high] = [0, this.rows.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (condition(this.rows[middle])) high = middle
      else low = middle + 1
    }
    return low
  }
}
