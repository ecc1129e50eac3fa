/** One strip must not take a row of its own. */
const SHAPE = { least: 0.5, most: 2.6 }

export class Rows {
  constructor(width, style) {
    Object.assign(this, { width, style, shapes: [], rows: [], isOpen: false })
  }

  get height() {
    const last = this.rows.at(-1)
    return last ? last.y + last.height + this.style.caption : 0
  }

  append(sizes) {
    for (const { width, height } of sizes) {
      this.shapes.push(Math.min(Math.max(width / height, SHAPE.least), SHAPE.most))
    }
    let start = this.rows.at(-1)?.end ?? 0
    if (this.isOpen) start = this.rows.pop().start
    this.isOpen = false
    let sum = 0
    for (let index = start; index < this.shapes.length; index += 1) {
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
    if (start < this.shapes.length) {
      this.add(start, this.shapes.length, Math.min(this.heightFor(sum, this.shapes.length - start), this.style.height))
      this.isOpen = true
    }
  }

  heightFor(shapes, count) { return shapes > 0 ? (this.width - this.style.gap * (count - 1)) / shapes : Infinity }

  add(start, end, height) {
    const y = this.rows.length ? this.height + this.style.gap : 0
    this.rows.push({ start, end, y, height })
  }

  between(top, bottom) {
    const first = Math.max(this.first((row) => row.y > top) - 1, 0)
    let end = first
    while (end < this.rows.length && this.rows[end].y < bottom) end += 1
    return this.rows.slice(first, end)
  }

  rowOf(item) { return Math.max(Math.min(this.first((row) => row.end > item), this.rows.length - 1), 0) }

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
