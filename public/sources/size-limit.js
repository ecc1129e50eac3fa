import { SourceError } from './source-error.js'

/** Maximum bytes of one tile, description or image. Larger responses are not valid content. */
export const MAX_BYTES = 64 << 20

/** An error for a response, or data derived from it, that exceeds a size limit. */
export class SizeLimitError extends SourceError {}

/**
 * Returns a stream that passes bytes on up to a limit, and then fails with a `SizeLimitError`.
 * @param {number} limit bytes
 * @param {string} name the name of the content in the error message
 * @returns {TransformStream<Uint8Array, Uint8Array>}
 */
export function limitBytes(limit, name) {
  let count = 0
  return new TransformStream({
    transform(chunk, controller) {
      count += chunk.length
      if (count > limit) throw sizeLimitError(limit, name)
      controller.enqueue(chunk)
    },
  })
}

/**
 * Reads the body of an untrusted response up to a limit.
 * @param {Response} response
 * @param {number} [limit] bytes
 * @param {string} [name] the name of the content in the error message
 * @returns {Promise<Uint8Array[]>} consecutive pieces
 * @throws {SizeLimitError}
 */
export async function readChunks({ body, headers, url }, limit = MAX_BYTES, name = url) {
  const chunks = []
  if (!body) return chunks
  const reader = body.getReader()
  let isTooLong = Number(headers.get('content-length')) > limit
  for (let count = 0; !isTooLong; isTooLong = count > limit) {
    const { value, done } = await reader.read()
    if (done) return chunks
    count += value.length
    chunks.push(value)
  }
  await reader.cancel()
  throw sizeLimitError(limit, name)
}

/**
 * Reads the body of an untrusted response up to a limit, in one piece.
 * @param {Response} response
 * @param {number} [limit] bytes
 * @param {string} [name] the name of the content in the error message
 * @throws {SizeLimitError}
 */
export async function readBytes(response, limit, name) {
  const chunks = await readChunks(response, limit, name)
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/**
 * Reads the body of an untrusted response up to a limit, as text.
 * @param {Response} response
 * @param {number} [limit] bytes
 * @throws {SizeLimitError}
 */
export async function readText(response, limit = MAX_BYTES) { return new TextDecoder().decode(await readBytes(response, limit)) }

/**
 * Returns the error for content that is too long.
 * @param {number} limit bytes
 * @param {string} name
 */
function sizeLimitError(limit, name) { return new SizeLimitError(`${name} has more than ${limit} bytes`, { reason: 'tooMuchData' }) }
