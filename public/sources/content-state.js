import { boundedText } from './bounded.js'

/**
 * A IIIF content state as links have it: base64url of percent-encoded JSON (Content State API 1.0, section 6).
 * @param {string} text
 * @param {AbortSignal} [signal]
 */
export async function encodedState(text, signal) {
  const plain = decodeURIComponent(atob(text.replaceAll('-', '+').replaceAll('_', '/')))
  return stateSource(plain.trimStart().startsWith('{') ? JSON.parse(plain) : plain, signal)
}

/**
 * What a content state leads to: a manifest, one of its canvases, or a region of that.
 * @param {object | string} state
 * @param {AbortSignal} [signal]
 * @returns {Promise<object>} a source, with a `region` in image pixels where the state has one
 */
export async function stateSource(state, signal) {
  const target = typeof state === 'string' ? { id: state, type: 'Manifest' } : [state.target ?? state].flat()[0]
  const resource = typeof target === 'string' ? { id: target, type: 'Manifest' } : target.source ?? target
  const [canvas, fragment] = String(resource.id ?? resource).split('#')
  const manifest = resource.type === 'Canvas' ? [resource.partOf].flat()[0]?.id : canvas
  if (!manifest) throw new Error('the content state names no manifest')
  const address = new URL(manifest, document.baseURI)
  const answer = await fetch(address, { signal })
  if (!answer.ok) throw Object.assign(new Error(`${answer.status} for ${address}`), { status: answer.status })
  const { manifestSource } = await import('./manifest.js')
  const source = await manifestSource(JSON.parse(await boundedText(answer)), address, signal, resource.type === 'Canvas' ? canvas : undefined)
  const selected = [target.selector].flat()[0]?.value ?? fragment
  const numbers = /xywh=(?:pixel:)?([\d.]+),([\d.]+),([\d.]+),([\d.]+)/.exec(selected ?? '')?.slice(1).map(Number)
  if (!numbers || !(numbers[2] > 0 && numbers[3] > 0)) return source
  // Canvases have sizes of their own.
  const across = source.pyramid.imageSize.width / (source.canvas?.width || source.pyramid.imageSize.width)
  const [x, y, width, height] = numbers.map((value) => value * across)
  return { ...source, region: { x, y, width, height } }
}
