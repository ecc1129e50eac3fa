import { boundedText } from './bounded.js'
import { firstView } from './first-view.js'
import { tryFormats } from './formats.js'
import { zigguratSource } from './ziggurat.js'

/**
 * What an address leads to, whatever kind it is of: an image of the API or a book, a Deep Zoom descriptor, a IIIF image,
 * manifest or content state, an SZI archive. Kinds that a first view hardly needs are loaded when they are met.
 * @param {string | { open: (signal: AbortSignal) => Promise<object> } | object} what an address, what opens itself, or a source
 * @param {AbortSignal} [signal]
 * @param {() => Promise<string>} [look] the view for which the first tiles are asked, as `viewQuery` has it
 * @returns {Promise<object>} a source; with an `album` where the address is that of several pictures
 */
export async function openSource(what, signal, look) {
  if (typeof what !== 'string') return what.open ? what.open(signal) : what
  if (/^eyJ[\w-]+=*$/.test(what)) return (await import('./content-state.js')).encodedState(what, signal)
  const address = new URL(what, document.baseURI)
  const state = address.searchParams.get('iiif-content')
  if (state) return (await import('./content-state.js')).encodedState(state, signal)
  if (/\.szi$/i.test(address.pathname)) return (await import('./szi.js')).sziSource(address, signal)
  if (look && /\/api\/images\/[^/]+$/.test(address.pathname)) {
    const source = await firstView(address, await look(), signal)
    if (source) return source
  }
  // What was changed a moment ago is seen, whatever the browser has.
  const answer = await fetch(address, { signal, cache: 'no-cache' })
  if (!answer.ok) throw Object.assign(new Error(answer.status), { status: answer.status })
  const text = await boundedText(answer)
  if (text.trimStart().startsWith('<')) return (await import('./deep-zoom.js')).deepZoomSource(text, address)
  return described(JSON.parse(text), address, signal)
}

/**
 * The source that a document in JSON describes.
 * @param {object} description
 * @param {URL} address the document's own
 * @param {AbortSignal} [signal]
 */
export async function described(description, address, signal) {
  const kind = description?.type ?? description?.['@type']
  if (kind === 'Manifest' || kind === 'sc:Manifest') return (await import('./manifest.js')).manifestSource(description, address, signal)
  if (kind === 'Annotation') return (await import('./content-state.js')).stateSource(description, signal)
  if (description?.book === true) return (await import('./book.js')).bookSource(description, address, signal)
  // Anybody's server may call anything so.
  if (!Array.isArray(description.preferredFormats)) delete description.preferredFormats
  await tryFormats(description.preferredFormats ?? [description.format])
  const isIIIF = description.protocol === 'http://iiif.io/api/image'
  return isIIIF ? (await import('./iiif.js')).iiifSource(description) : zigguratSource(description, address)
}
