import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Rows } from '../../../public/gallery/rows.js'
import { random } from '../numbers.mjs'

const STYLE = { gap: 10, height: 200, caption: 30 }
const sizes = (count, seed) => {
  const next = random(seed)
  return Array.from({ length: count }, () => ({ width: 100 + next() * 900, height: 100 + next() * 900 }))
}

test('rows fill the width exactly, in order, without overlap, near the height they aim at', () => {
  for (const width of [320, 800, 1900]) {
    const rows = new Rows(width, STYLE)
    rows.append(sizes(500, width))
    let [item, bottom] = [0, -STYLE.gap]
    rows.rows.forEach((row, index) => {
      assert.equal(row.start, item)
      assert.ok(row.end > row.start)
      assert.ok(Math.abs(row.y - bottom - STYLE.gap) < 1e-6)
      const boxes = rows.boxes(row)
      const right = boxes.at(-1).x + boxes.at(-1).width
      if (index < rows.rows.length - 1) {
        assert.ok(Math.abs(right - width) < 1e-6)
        assert.ok(row.height > 60 && row.height < 700, `${row.height}`)
      } else assert.ok(right <= width + 1e-6)
      item = row.end
      bottom = row.y + row.height + STYLE.caption
    })
    assert.equal(item, 500)
  }
})

test('appending piece by piece gives the same rows as all at once', () => {
  const all = sizes(1000, 5)
  const whole = new Rows(1200, STYLE)
  whole.append(all)
  const pieces = new Rows(1200, STYLE)
  for (let start = 0; start < 1000; start += 37) pieces.append(all.slice(start, start + 37))
  assert.deepEqual(pieces.rows, whole.rows)
})

test('the rows of a band and the row of an item are found among a hundred thousand', () => {
  const rows = new Rows(1200, STYLE)
  rows.append(sizes(100_000, 6))
  for (const top of [0, 12_345, rows.height / 2, rows.height - 800]) {
    const found = new Set(rows.between(top, top + 800))
    for (const row of rows.rows) {
      if (row.y < top + 800 && row.y + row.height + STYLE.caption > top) assert.ok(found.has(row))
    }
    assert.ok(found.size < 12)
  }
  for (const item of [0, 1, 777, 99_999]) {
    const row = rows.rows[rows.rowOf(item)]
    assert.ok(row.start <= item && item < row.end)
  }
})
