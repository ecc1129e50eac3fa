import { MissingTile } from '../tiles/loader.js'
import { directoryEntries, directoryPlace, entryContent } from './zip-directory.js'

/** Bytes that are read first: the directory of some 2,500 tiles, which are 500 megapixels. */
const TAIL = 256 * 1024

/**
 * An SZI archive as a file on any server that answers Range requests: its directory is read once, from the end, and each tile
 * by where that says it lies.
 * @param {URL} address
 * @param {AbortSignal} [signal]
 */
export async function sziSource(address, signal) {
  const file = await RemoteFile.open(address, signal)
  let place = directoryPlace(file.tail, file.size)
  if ('needed' in place) {
    await file.extend(place.needed, signal)
    place = directoryPlace(file.tail, file.size)
  }
  const { offset, size, count } = place
  const entries = directoryEntries(await file.read(offset, offset + size, signal), count, offset)
  const name = [...entries.keys()].find((each) => /^[^/]+\/[^/]+\.dzi$/.test(each))
  if (!name) throw new Error('not an SZI archive: there is no descriptor in it')
  const content = async (entry, abort) => entryContent(await file.read(entry.offset, entry.end, abort), entry)
  const source = await (await import('./deep-zoom.js')).deepZoomSource(await (await content(entries.get(name), signal)).text(), new URL(encodeURIComponent(name), address))
  const folder = name.replace(/\.dzi$/, '_files')
  const title = name.split('/')[0]
  const format = source.format === 'jpeg' ? 'jpg' : source.format
  return {
    ...source, title, details: { ...source.details, id: title, title, format }, address,
    /** Instead of a URL: where the tile lies in the archive. */
    tileBlob: (level, column, row, abort) => {
      const entry = entries.get(`${folder}/${level}/${column}_${row}.${source.format}`)
      if (!entry) throw new MissingTile(`no tile ${level}/${column}_${row} in the archive`)
      return content(entry, abort)
    },
  }
}

/** A file on a server, of which parts are read, and of which the end is at hand. */
class RemoteFile {
  constructor(address, size, tail) { Object.assign(this, { address, size, tail }) }

  static async open(address, signal) {
    const isOwn = address.origin === location.origin
    // Another site's server need not let a request for the end pass: it is no plain one (Fetch Standard, CORS-safelisted).
    const size = isOwn ? 0 : await sizeOf(address, signal)
    const range = isOwn ? `bytes=-${TAIL}` : `bytes=${Math.max(size - TAIL, 0)}-${size - 1}`
    const answer = await fetch(address, { headers: { range }, signal })
    if (!answer.ok) throw Object.assign(new Error(`${answer.status} for ${address}`), { status: answer.status })
    const bytes = new Uint8Array(await answer.arrayBuffer())
    // A server without Range requests sends it all.
    const told = answer.status === 206 ? Number(answer.headers.get('content-range')?.split('/')[1]) : bytes.length
    return new RemoteFile(address, told || size, bytes)
  }

  /** Has more of the end at hand. */
  async extend(length, signal) {
    const from = this.size - Math.min(length, this.size)
    this.tail = await this.read(from, this.size, signal)
  }

  /** Bytes from `start` to before `end`. */
  async read(start, end, signal) {
    if (!(start >= 0 && start < end && end <= this.size)) throw new Error('the archive\'s directory is damaged')
    const known = this.size - this.tail.length
    if (start >= known) return this.tail.subarray(start - known, end - known)
    const answer = await fetch(this.address, { headers: { range: `bytes=${start}-${Math.min(end, Math.max(known, start + 1)) - 1}` }, signal })
    if (answer.status !== 206) throw new Error(`${answer.status} for a part of ${this.address}`)
    const bytes = new Uint8Array(await answer.arrayBuffer())
    if (end <= known) return bytes
    const whole = new Uint8Array(end - start)
    whole.set(bytes)
    whole.set(this.tail.subarray(0, end - known), known - start)
    return whole
  }
}

async function sizeOf(address, signal) {
  const answer = await fetch(address, { method: 'HEAD', signal })
  if (!answer.ok) throw Object.assign(new Error(`${answer.status} for ${address}`), { status: answer.status })
  const size = Number(answer.headers.get('content-length'))
  if (!(size > 0)) throw new Error(`the server does not tell the size of ${address}`)
  return size
}
