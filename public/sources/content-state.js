import { webURL } from '../web-url.js'
import { fetchJSON, object, parseJSON, positive } from './document.js'
import { SourceError } from './source-error.js'

/**
 * Opens an encoded IIIF content state: base64url of percent-encoded JSON (Content State API 1.0, section 6).
 * @param {string} text
 * @param {AbortSignal} [signal]
 * @throws {SourceError} if the encoding is invalid or the content cannot be opened
 */
export async function encodedState(text, signal) {
  let plain
  try {
    plain = decodeURIComponent(atob(text.replaceAll('-', '+').replaceAll('_', '/')))
  } catch {
    throw new SourceError('the content state is not encoded as the specification has it')
  }
  return stateSource(plain.trimStart().startsWith('{') ? parseJSON(plain) : plain, signal)
}

/**
 * Opens the target of a content state: a manifest, one of its canvases, or a region of a canvas.
 * @param {any} state
 * @param {AbortSignal} [signal]
 * @param {URL} [base] the base of relative addresses (default: the page)
 * @returns {Promise<object>} a source, with a `region` in image pixels if the state has one
 */
export async function stateSource(state, signal, base) {
  const target = typeof state === 'string' ? state : [state.target ?? state].flat()[0]
  const resource = typeof target === 'string' ? { id: target, type: 'Manifest' } : object(object(target).source ?? target)
  const [canvas, fragment] = (typeof resource.id === 'string' ? resource.id : '').split('#')
  const manifest = resource.type === 'Canvas' ? object([resource.partOf].flat()[0]).id : canvas
  if (!manifest) throw new SourceError('the content state names no manifest')
  const address = webURL(manifest, base)
  const document = await fetchJSON(address, signal)
  const { manifestSource } = await import('./manifest.js')
  const source = await manifestSource(document, address, signal, resource.type === 'Canvas' ? canvas : undefined)
  const region = regionOf(object([object(target).selector].flat()[0]).value ?? fragment)
  if (!region) return source
  // The size of a canvas may differ from that of its image.
  const { imageSize } = source.pyramid
  const scale = imageSize.width / (positive(source.canvas?.width) ?? imageSize.width)
  const [x, y, width, height] = region.map((value) => value * scale)
  if (![x, y, width, height].every(Number.isFinite)) return source
  return { ...source, region: { x, y, width, height } }
}

/**
 * Returns the numbers in a media fragment.
 * @param {unknown} selector
 * @returns {number[] | null}
 */
function regionOf(selector) {
  const found = /xywh=(?:pixel:)?([\d.]+),([\d.]+),([\d.]+),([\d.]+)/.exec(typeof selector === 'string' ? selector : '')
  const numbers = found?.slice(1).map(Number) ?? []
  return numbers.length && numbers.every(Number.isFinite) && numbers[2] > 0 && numbers[3] > 0 ? numbers : null
}
