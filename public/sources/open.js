// @ts-check
import { deepZoomSource } from './deep-zoom.js'
import { SourceError } from './source.js'
import { zigguratSource } from './ziggurat.js'

/**
 * Reads an image's description: Ziggurat's own JSON or a Deep Zoom descriptor.
 * @param {string} url @param {AbortSignal} [signal]
 * @returns {Promise<import('./source.js').Source>}
 */
export async function openSource(url, signal) {
  const address = new URL(url, document.baseURI)
  const answer = await fetch(address, { signal })
  if (!answer.ok) throw new SourceError(`${answer.status} ${answer.statusText}`.trim(), answer.status)
  const text = await answer.text()
  if (text.trimStart().startsWith('<')) return deepZoomSource(text, address)
  return zigguratSource(JSON.parse(text), address)
}
