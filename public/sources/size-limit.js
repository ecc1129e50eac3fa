import { SourceError } from './source-error.js'

/** Bytes of one tile, description or picture: whoever sends more of it sends something else. */
export const MAX_BYTES = 64 << 20

/** An answer, or what is made of it, has more bytes than it may. */
export class SizeLimitError extends SourceError {}

/**
 * Passes bytes on as long as they are not too many.
 * @param {number} most bytes
 * @param {string} what is read, for the error's message
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
 * An answer's bytes as they come, of which no more are read than there may be: whoever sends them is a stranger.
 * @param {Response} answer
 * @param {number} [most] bytes
 * @param {string} [what] it is, for the error's message
 * @returns {Promise<Uint8Array[]>} pieces, one after the other
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
 * The same in one piece.
 * @param {Response} answer
 * @param {number} [most] bytes
 * @param {string} [what] it is, for the error's message
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
 * The same as text.
 * @param {Response} answer
 */
export async function boundedText(answer, most = MAX_BYTES) { return new TextDecoder().decode(await boundedBytes(answer, most)) }

/** @param {number} most bytes @param {string} what */
function tooLong(most, what) { return new SizeLimitError(`${what} has more than ${most} bytes`, { reason: 'tooMuchData' }) }
