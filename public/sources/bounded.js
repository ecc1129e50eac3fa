/** An answer, or what is made of it, has more bytes than it may. */
export class TooLong extends Error {}

/**
 * Passes bytes on as long as they are not too many.
 * @param {number} most bytes
 * @param {string} what is read, for the error's message
 * @returns {TransformStream<Uint8Array, Uint8Array>}
 */
export function counted(most, what) {
  let count = 0
  return new TransformStream({
    transform(piece, controller) {
      count += piece.length
      if (count > most) throw new TooLong(`${what} has more than ${most} bytes`)
      controller.enqueue(piece)
    },
  })
}

/**
 * An answer's bytes, of which no more are read than there may be: whoever sends them is a stranger.
 * @param {Response} answer
 * @param {number} most bytes
 * @param {string} what it is, for the error's message
 */
export async function boundedBytes(answer, most, what) {
  if (Number(answer.headers.get('content-length')) > most) {
    await answer.body?.cancel()
    throw new TooLong(`${what} has more than ${most} bytes`)
  }
  if (!answer.body) return new Uint8Array(0)
  return new Uint8Array(await new Response(answer.body.pipeThrough(counted(most, what))).arrayBuffer())
}
