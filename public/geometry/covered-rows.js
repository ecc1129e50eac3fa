const NONE = { start: 0, end: 0 }

/** Tiles of one level as one run of columns per row: a convex area meets one unbroken run in each. */
export class CoveredRows {
  constructor(pyramid, level, firstRow, runs, hole = []) {
    this.pyramid = pyramid
    this.level = level
    this.firstRow = firstRow
    this.runs = runs
    this.hole = hole
  }

  static meeting(pyramid, level, area, visible) {
    if (!visible) return new CoveredRows(pyramid, level, 0, [])
    const cell = pyramid.tileSize / pyramid.scale(level)
    const { width, height } = pyramid.imageSize
    const rows = cells(visible.y, visible.y + visible.height, cell, pyramid.rows(level))
    const columnCount = pyramid.columns(level)
    const runs = []
    for (let row = rows.start; row < rows.end; row += 1) {
      const top = row * cell
      const extent = area.horizontalExtent(Math.max(top, 0), Math.min(top + cell, height))
      runs.push(
        extent && extent.low < width && extent.high > 0
          ? cells(Math.max(extent.low, 0), Math.min(extent.high, width), cell, columnCount) : NONE)
    }
    return new CoveredRows(pyramid, level, rows.start, runs)
  }

  visit(body) {
    this.runs.forEach((run, index) => {
      const skip = this.hole.length ? this.hole[index] : NONE
      for (let column = run.start; column < run.end; column += 1) {
        if (column < skip.start || column >= skip.end) body(column, this.firstRow + index)
      }
    })
  }

  ring(margin) {
    if (!this.runs.some(isFull)) return this
    const columnCount = this.pyramid.columns(this.level)
    const rowCount = this.pyramid.rows(this.level)
    const reach = Math.min(margin, Math.max(columnCount, rowCount))
    const lastRow = this.firstRow + this.runs.length - 1
    const first = Math.max(this.firstRow - reach, 0)
    const end = Math.min(lastRow + 1 + reach, rowCount)
    const wide = []
    const own = []
    for (let row = first; row < end; row += 1) {
      let [low, high] = [columnCount, 0]
      for (let near = Math.max(row - reach, this.firstRow); near <= Math.min(row + reach, lastRow); near += 1) {
        const other = this.runs[near - this.firstRow]
        if (!isFull(other)) continue
        low = Math.min(low, other.start)
        high = Math.max(high, other.end)
      }
      wide.push(low < high ? { start: Math.max(low - reach, 0), end: Math.min(high + reach, columnCount) } : NONE)
      own.push(row >= this.firstRow && row <= lastRow ? this.runs[row - this.firstRow] : NONE)
    }
    return new CoveredRows(this.pyramid, this.level, first, wide, own)
  }

  imageRect(column, row) {
    const cell = this.pyramid.tileSize / this.pyramid.scale(this.level)
    const [left, top] = [column * cell, row * cell]
    const right = Math.min(left + cell, this.pyramid.imageSize.width)
    const bottom = Math.min(top + cell, this.pyramid.imageSize.height)
    return { x: left, y: top, width: right - left, height: bottom - top }
  }
}

function isFull(run) { return run.start < run.end }

/** The cells that [low, high) meets in more than a point, low ≥ 0. */
function cells(low, high, cell, count) {
  if (!(low < high)) return NONE
  // A quotient may round across a cell's edge; the products are exact, so they decide.
  let start = Math.max(Math.min(Math.trunc(low / cell), count - 1), 0)
  while (start > 0 && start * cell > low) start -= 1
  while (start < count && (start + 1) * cell <= low) start += 1
  let end = Math.max(Math.min(Math.trunc(high / cell) + 1, count), 1)
  while (end > 1 && (end - 1) * cell >= high) end -= 1
  while (end < count && end * cell < high) end += 1
  return start < end ? { start, end } : NONE
}
