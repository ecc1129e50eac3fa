import { SourceError } from './source-error.js'

/** Maximum bytes of one tile, description or image. Larger responses are not valid content. */
export const MAX_BYTES = 64 << 20

/** An error for a response, or data derived from it, that exceeds a size limit. */
export class SizeLimitError extends SourceError {}

/**
 * Returns a stream that passes bytes on up to a limit, and then fails with a `SizeLimitError`.
 * @param {number} most bytes
 * @param {string} what the name of the content in the error message
 * @returns {TransformStream<Uint8Array, Uint8Array>}
 */
export function limitBytes(most, what) {
  let count = 0
  return new TransformStream({
    transform(piece, controller) {
      count += piece.length
      if (count > most) throw tooLong(most, what)
      controller.enqueue(piece)
    },
  })
}

/**
 * Reads the body of an untrusted response up to a limit.
 * @param {Response} answer
 * @param {number} [most] bytes
 * @param {string} [what] the name of the content in the error message
 * @returns {Promise<Uint8Array[]>} consecutive pieces
 * @throws {SizeLimitError}
 */
export async function boundedPieces({ body, headers, url }, most = MAX_BYTES, what = url) {
  const pieces = []
  if (!body) return pieces
  const reader = body.getReader()
  let isTooLong = Number(headers.get('content-length')) > most
  for (let count = 0; !isTooLong; isTooLong = count > most) {
    const { value, done } = await reader.read()
    if (done) return pieces
    count += value.length
    pieces.push(value)
  }
  await reader.cancel()
  throw tooLong(most, what)
}

/**
 * Reads the body of an untrusted response up to a limit, in one piece.
 * @param {Response} answer
 * @param {number} [most] bytes
 * @param {string} [what] the name of the content in the error message
 * @throws {SizeLimitError}
 */
export async function boundedBytes(answer, most, what) {
  const pieces = await boundedPieces(answer, most, what)
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/**
 * Reads the body of an untrusted response up to a limit, as text.
 * @param {Response} answer
 * @param {number} [most] bytes
 * @throws {SizeLimitError}
 */
export async function boundedText(answer, most = MAX_BYTES) { return new TextDecoder().decode(await boundedBytes(answer, most)) }

/**
 * Returns the error for content that is too long.
 * @param {number} most bytes
 * @param {string} what
 */
function tooLong(most, what) { return new SizeLimitError(`${what} has more than ${most} bytes`, { reason: 'tooMuchData' }) }
