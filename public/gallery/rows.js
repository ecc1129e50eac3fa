/** One strip must not take a row of its own. */
const SHAPE = { least: 0.5, most: 2.6 }

/**
 * Where pictures lie: in rows that fill the width, in order, each of one height; under headings where they are in groups.
 *
 * @typedef {{ start: number, end: number, y: number, height: number, heading?: string }} Row from the item `start` up to `end`, which
 *   is the next row's; CSS pixels from the top of all; the heading stands above `y`
 */
export class Rows {
  /**
   * @param {number} width CSS pixels
   * @param {{ gap: number, height: number, caption: number, heading?: number }} style CSS pixels: between pictures, aimed at for
   *   a row, below each for its words, above a row for its heading
   * @param {((image: object) => string) | null} group the heading under which an image stands; null for none
   */
  constructor(width, style, group = null) {
    Object.assign(this, { width, style, group, shapes: [], groups: [], rows: [], isOpen: false })
  }

  /** Of all, CSS pixels. */
  get height() {
    const last = this.rows.at(-1)
    return last ? last.y + last.height + this.style.caption : 0
  }

  /** @param {{ width: number, height: number }[]} images what follows those that are there */
  append(images) {
    for (const image of images) {
      this.shapes.push(Math.min(Math.max(image.width / image.height, SHAPE.least), SHAPE.most))
      if (this.group) this.groups.push(this.group(image))
    }
    let start = this.rows.at(-1)?.end ?? 0
    if (this.isOpen) start = this.rows.pop().start
    while (start < this.shapes.length) {
      let end = start + 1
      while (end < this.shapes.length && this.groups[end] === this.groups[start]) end += 1
      this.lay(start, end)
      start = end
    }
  }

  /** Rows of the items of one group, of which the last may stay open for more. */
  lay(first, last) {
    let start = first
    let sum = 0
    for (let index = start; index < last; index += 1) {
      sum += this.shapes[index]
      const height = this.heightFor(sum, index + 1 - start)
      if (height > this.style.height) continue
      const before = this.heightFor(sum - this.shapes[index], index - start)
      if (index > start && before / this.style.height < this.style.height / height) {
        this.add(start, index, before)
        start = index
        sum = this.shapes[index]
        const alone = this.heightFor(sum, 1)
        if (alone > this.style.height) continue
        this.add(start, index + 1, alone)
      } else this.add(start, index + 1, height)
      start = index + 1
      sum = 0
    }
    this.isOpen = start < last
    if (this.isOpen) this.add(start, last, Math.min(this.heightFor(sum, last - start), this.style.height))
  }

  /** CSS pixels, of a row of so many pictures whose widths are together so many times their height. */
  heightFor(shapes, count) { return shapes > 0 ? (this.width - this.style.gap * (count - 1)) / shapes : Infinity }

  add(start, end, height) {
    const isFirst = this.group !== null && (start === 0 || this.groups[start] !== this.groups[start - 1])
    const top = this.rows.length ? this.height + this.style.gap : 0
    const row = { start, end, y: isFirst ? top + this.style.heading : top, height }
    this.rows.push(isFirst ? { ...row, heading: this.groups[start] } : row)
  }

  /** The rows that are seen between two heights, CSS pixels. @returns {Row[]} */
  between(top, bottom) {
    const first = Math.max(this.first((row) => row.y > top) - 1, 0)
    let end = first
    while (end < this.rows.length && this.rows[end].y < bottom) end += 1
    return this.rows.slice(first, end)
  }

  /** Which row an item is in. @param {number} item */
  rowOf(item) { return Math.max(Math.min(this.first((row) => row.end > item), this.rows.length - 1), 0) }

  /** Where the pictures of a row lie, CSS pixels. @param {Row} row */
  boxes(row) {
    let x = 0
    const boxes = []
    for (let index = row.start; index < row.end; index += 1) {
      const width = this.shapes[index] * row.height
      boxes.push({ index, x, y: row.y, width, height: row.height })
      x += width + this.style.gap
    }
    return boxes
  }

  /** The first row of which something holds that holds of all that follow. */
  first(holds) {
    let [low, high] = [0, this.rows.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (holds(this.rows[middle])) high = middle
      else low = middle + 1
    }
    return low
  }
}
