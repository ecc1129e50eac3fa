import { webURL } from '../web-url.js'
import { fetchText, parseJSON } from './document.js'
import { firstView } from './first-view.js'
import { imageSource, kindOf } from './image.js'
import { SourceError } from './source-error.js'

/**
 * Opens any supported address: an image or book of the API, a Deep Zoom descriptor or an SZI archive. It also opens an
 * IIIF image, manifest or content state. The code for kinds that a first view rarely needs is loaded on demand.
 *
 * Documents can refer to others in one direction only: a content state to a manifest, a manifest or book to images. Other
 * references are rejected, so that opening always ends.
 * @param {any} what an address, an object that opens itself (`{ open: (signal: AbortSignal) => Promise<object> }`), or a
 *   source
 * @param {AbortSignal} [signal]
 * @param {() => Promise<string>} [getView] returns the view whose first tiles are requested, as encoded by `viewQuery`
 * @returns {Promise<any>} a source; with an `album` if the address contains several images
 * @throws {SourceError} with the address and the reason; or an AbortError
 */
export async function openSource(what, signal, getView) {
  try {
    const source = await openAny(what, signal, getView)
    if (!source?.pyramid) throw new SourceError('it is neither an address nor a source')
    return source
  } catch (error) {
    if (signal?.aborted) throw error
    const cause = error instanceof Error ? error : new Error(String(error))
    const name = nameOf(what)
    throw new SourceError(cause.message.includes(name) ? cause.message : `cannot open ${name}: ${cause.message}`, { ...cause, cause })
  }
}

/** Returns the name of a resource for error messages: its address without credentials. */
function nameOf(what) {
  if (typeof what !== 'string') return 'the image'
  try {
    return webURL(what).href.slice(0, 200)
  } catch {
    return 'the image'
  }
}

async function openAny(what, signal, getView) {
  if (typeof what !== 'string') return what?.open ? what.open(signal) : what
  if (/^eyJ[\w-]+=*$/.test(what)) return (await import('./content-state.js')).encodedState(what, signal)
  const address = webURL(what)
  const state = address.searchParams.get('iiif-content')
  if (state) return (await import('./content-state.js')).encodedState(state, signal)
  if (/\.szi$/i.test(address.pathname)) return (await import('./szi.js')).sziSource(address, signal)
  if (getView && /\/api\/images\/[^/]+$/.test(address.pathname)) {
    const source = await firstView(address, await getView(), signal)
    if (source) return source
  }
  // Revalidated, so that recent changes are visible.
  const text = await fetchText(address, signal, { cache: 'no-cache' })
  if (text.trimStart().startsWith('<')) return (await import('./deep-zoom.js')).deepZoomSource(text, address)
  return openDescription(parseJSON(text), address, signal)
}

/**
 * Returns the source that a JSON document describes.
 * @param {any} description
 * @param {URL} address the address of the document
 * @param {AbortSignal} [signal]
 */
async function openDescription(description, address, signal) {
  switch (kindOf(description)) {
    case 'manifest': return (await import('./manifest.js')).manifestSource(description, address, signal)
    case 'collection': throw new SourceError('an IIIF collection is a list of manifests; give the address of one of them')
    case 'state': return (await import('./content-state.js')).stateSource(description, signal, address)
    case 'book': return (await import('./book.js')).bookSource(description, address, signal)
    default: return imageSource(description, address)
  }
}
