import { request } from '../web-url.js'
import { readBytes } from './size-limit.js'
import { SourceError } from './source-error.js'

/** Bytes that are read first: enough for the directory of about 2,500 tiles, or 500 megapixels. */
const TAIL_SIZE = 256 * 1024
/** Maximum bytes of an archive that is read as a whole, from a server without Range requests. */
const MAX_WHOLE_FILE = 64 << 20
/** Maximum bytes of one range: a directory of two million tiles. */
const MAX_RANGE = 256 << 20

/** A file on a server that is read by Range requests (RFC 9110, section 14). Its last bytes are kept in memory. */
export class RemoteFile {
  /**
   * @param {URL} address
   * @param {number} size bytes
   * @param {Uint8Array} tail the last bytes of the file
   */
  constructor(address, size, tail) { Object.assign(this, { address, size, tail }) }

  /**
   * Opens a file.
   * @param {URL} address
   * @param {AbortSignal} [signal] @throws {SourceError} if the server refuses it or sends a wrong range
   */
  static async open(address, signal) {
    const isSameOrigin = address.origin === location.origin
    // A suffix range is not CORS-safelisted (Fetch Standard), so another site's server may refuse it.
    const size = isSameOrigin ? 0 : await sizeOf(address, signal)
    const range = isSameOrigin ? `bytes=-${TAIL_SIZE}` : `bytes=${Math.max(size - TAIL_SIZE, 0)}-${size - 1}`
    const response = await request(address, { headers: { range }, signal })
    if (!response.ok) throw statusError(response, address)
    if (response.status !== 206) {
      // A server without Range requests sends the whole file.
      const all = await readBytes(response, MAX_WHOLE_FILE, `${address}, whose server does not answer Range requests,`)
      return new RemoteFile(address, all.length, all)
    }
    const sent = rangeOf(response, address, { start: Math.max(size - TAIL_SIZE, 0), end: size, size })
    if (sent.end !== sent.size || sent.size - sent.start > TAIL_SIZE || size && size !== sent.size) throw rangeError(address)
    return new RemoteFile(address, sent.size, await bodyOf(response, sent.end - sent.start, address))
  }

  /**
   * Extends the bytes in memory to this length from the end.
   * @param {number} length
   * @param {AbortSignal} [signal]
   */
  async extend(length, signal) {
    const from = this.size - Math.min(length, this.size)
    this.tail = await this.read(from, this.size, signal)
  }

  /**
   * Reads the bytes from `start` to before `end`.
   * @param {number} start
   * @param {number} end
   * @param {AbortSignal} [signal] @throws {SourceError} if the range is invalid or the server sends another one
   */
  async read(start, end, signal) {
    if (!(start >= 0 && start < end && end <= this.size)) throw new SourceError('the archive\'s directory is damaged')
    if (end - start > MAX_RANGE) throw new SourceError(`a part of ${this.address} has more than ${MAX_RANGE} bytes`)
    const known = this.size - this.tail.length
    if (start >= known) return this.tail.subarray(start - known, end - known)
    const requestedEnd = Math.min(end, Math.max(known, start + 1))
    const response = await request(this.address, { headers: { range: `bytes=${start}-${requestedEnd - 1}` }, signal })
    if (response.status !== 206) {
      await response.body?.cancel()
      throw statusError(response, this.address)
    }
    const sent = rangeOf(response, this.address, { start, end: requestedEnd, size: this.size })
    if (sent.start !== start || sent.end !== requestedEnd || sent.size !== this.size) throw rangeError(this.address)
    const bytes = await bodyOf(response, requestedEnd - start, this.address)
    if (end <= known) return bytes
    const whole = new Uint8Array(end - start)
    whole.set(bytes)
    whole.set(this.tail.subarray(0, end - known), known - start)
    return whole
  }
}

/**
 * Returns the range that a response contains (RFC 9110, section 14.4).
 * @param {Response} response
 * @param {URL} address
 * @param {{ start: number, end: number, size: number }} requested the requested range, from `start` to before `end`,
 *   and the file's size, in bytes
 * @returns {{ start: number, end: number, size: number }}
 */
function rangeOf(response, address, requested) {
  const header = response.headers.get('content-range')
  // Other sites may hide the header from the page. The requested range is then assumed.
  if (header === null && response.type === 'cors') return requested
  const [, start, last, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header ?? '') ?? []
  const range = { start: Number(start), end: Number(last) + 1, size: Number(size) }
  if (!(range.start < range.end && range.end <= range.size)) throw rangeError(address)
  return range
}

async function bodyOf(response, length, address) {
  const bytes = await readBytes(response, length, `a part of ${address}`)
  if (bytes.length !== length) throw new SourceError(`a part of ${address} was cut short`)
  return bytes
}

function statusError({ status }, address) {
  return status === 200 ? new SourceError(`the server does not answer Range requests for ${address}`)
    : new SourceError(`the server answered ${status} for ${address}`, { status })
}

function rangeError(address) { return new SourceError(`the server sent another part of ${address} than it was asked for`) }

async function sizeOf(address, signal) {
  const response = await request(address, { method: 'HEAD', signal })
  if (!response.ok) throw statusError(response, address)
  const size = Number(response.headers.get('content-length'))
  if (!(size > 0)) throw new SourceError(`the server does not tell the size of ${address}`)
  return size
}
