import { MAX_BYTES, SizeLimitError } from './size-limit.js'
import { SourceError } from './source-error.js'

/** Maximum bytes of all parts together. */
const MAX_TOTAL = 256 << 20

/**
 * Reads the parts of a response such as `viewport.tiles`. Each part is preceded by its length in 4 bytes, big-endian. Parts
 * are built from the stream's bytes, because reading a `Blob` needs another process.
 * @param {ReadableStreamDefaultReader<Uint8Array>} reader reads the body of the response
 * @yields {Uint8Array} a part, as soon as it is complete
 * @throws {SourceError} if the response ends early
 * @throws {SizeLimitError} if a part, or all together, are too long
 */
export async function* readFrames(reader) {
  let rest = new Uint8Array(0)
  const readBytes = async (count) => {
    const bytes = new Uint8Array(count)
    for (let at = 0; at < count;) {
      if (!rest.length) {
        const { value, done } = await reader.read()
        if (done) throw new SourceError('the answer was cut short')
        rest = value
      }
      const part = rest.subarray(0, count - at)
      bytes.set(part, at)
      at += part.length
      rest = rest.subarray(part.length)
    }
    return bytes
  }
  let total = 0
  for (;;) {
    const length = new DataView((await readBytes(4)).buffer).getUint32(0)
    total += length
    if (length > MAX_BYTES || total > MAX_TOTAL) throw new SizeLimitError(`a part has more than ${MAX_BYTES} bytes, or all together more than ${MAX_TOTAL}`, { reason: 'tooMuchData' })
    yield readBytes(length)
  }
}
