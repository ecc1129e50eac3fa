import { tileKey } from '../tiles/plan.js'
import { zigguratSource } from './ziggurat.js'

/** Parts behind their lengths: the coverage as JSON, then its tiles. */
export async function firstView(address, { width, height, ratio, query }, signal) {
  const url = new URL(`${address.pathname}/viewport.tiles?${query}`, address)
  const set = { width, height, dpr: ratio, overview: true, describe: true }
  for (const [name, value] of Object.entries(set)) url.searchParams.set(name, String(value))
  const answer = await fetch(url, { signal })
  if (answer.status !== 200 || !answer.body) return null
  const parts = new Parts(answer.body.getReader())
  const { description, tiles } = JSON.parse(new TextDecoder().decode(await parts.next()))
  const source = zigguratSource(description, address)
  let last = Promise.resolve()
  source.coming = new Map(tiles.map((tile) => {
    const bytes = last.then(() => parts.next())
    bytes.catch(() => {})
    last = bytes
    return [tileKey(tile), bytes.then((part) => new Blob([part]))]
  }))
  for (const blob of source.coming.values()) blob.catch(() => {})
  return source
}

class Parts {
  constructor(reader) {
    this.reader = reader
    this.rest = new Uint8Array(0)
  }

  async next() {
    const length = await this.take(4)
    return this.take(new DataView(length.buffer, length.byteOffset).getUint32(0))
  }

  async take(count) {
    const bytes = new Uint8Array(count)
    let at = 0
    while (at < count) {
      if (this.rest.length === 0) {
        const { value, done } = await this.reader.read()
        if (done) throw new Error('the answer was cut short')
        this.rest = value
      }
      const part = this.rest.subarray(0, count - at)
      bytes.set(part, at)
      at += part.length
      this.rest = this.rest.subarray(part.length)
    }
    return bytes
  }
}
