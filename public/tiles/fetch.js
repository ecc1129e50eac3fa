// @ts-check
import { MissingTile } from './loader.js'

/**
 * One tile, decoded off the main thread.
 * @param {string} url @param {AbortSignal} signal
 * @returns {Promise<ImageBitmap>}
 */
export async function fetchBitmap(url, signal) {
  const answer = await fetch(url, { signal })
  if (!answer.ok) {
    const text = `${answer.status} for ${url}`
    // 4xx will stay so, but for "too early", "too many" and "timeout".
    if (answer.status < 500 && ![408, 425, 429].includes(answer.status)) throw new MissingTile(text)
    throw new Error(text)
  }
  const blob = await answer.blob()
  try {
    return await createImageBitmap(blob)
  } catch {
    throw new MissingTile(`not an image: ${url}`)
  }
}
