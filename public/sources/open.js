import { webURL } from '../web-url.js'
import { fetchText, parsed } from './document.js'
import { firstView } from './first-view.js'
import { imageSource, kindOf } from './image.js'
import { SourceError } from './source-error.js'

/**
 * What an address leads to, whatever kind it is of: an image of the API or a book, a Deep Zoom descriptor, a IIIF image,
 * manifest or content state, an SZI archive. Kinds that a first view hardly needs are loaded when they are met.
 *
 * A document leads to others in one order alone: a content state to a manifest, a manifest or a book to images. What leads
 * elsewhere is refused, so that nothing is opened without end.
 * @param {any} what an address, what opens itself (`{ open: (signal: AbortSignal) => Promise<object> }`), or a source
 * @param {AbortSignal} [signal]
 * @param {() => Promise<string>} [look] the view for which the first tiles are asked, as `viewQuery` has it
 * @returns {Promise<any>} a source; with an `album` where the address is that of several pictures
 * @throws {SourceError} naming the address and what failed; or an AbortError
 */
export async function openSource(what, signal, look) {
  try {
    const source = await opened(what, signal, look)
    if (!source?.pyramid) throw new SourceError('it is neither an address nor a source')
    return source
  } catch (error) {
    if (signal?.aborted) throw error
    const cause = error instanceof Error ? error : new Error(String(error))
    const name = nameOf(what)
    throw new SourceError(cause.message.includes(name) ? cause.message : `cannot open ${name}: ${cause.message}`, { ...cause, cause })
  }
}

/** The name of what cannot be opened: an address without credentials. */
function nameOf(what) {
  if (typeof what !== 'string') return 'the image'
  try {
    return webURL(what).href.slice(0, 200)
  } catch {
    return 'the image'
  }
}

async function opened(what, signal, look) {
  if (typeof what !== 'string') return what?.open ? what.open(signal) : what
  if (/^eyJ[\w-]+=*$/.test(what)) return (await import('./content-state.js')).encodedState(what, signal)
  const address = webURL(what)
  const state = address.searchParams.get('iiif-content')
  if (state) return (await import('./content-state.js')).encodedState(state, signal)
  if (/\.szi$/i.test(address.pathname)) return (await import('./szi.js')).sziSource(address, signal)
  if (look && /\/api\/images\/[^/]+$/.test(address.pathname)) {
    const source = await firstView(address, await look(), signal)
    if (source) return source
  }
  // What was changed a moment ago is seen, whatever the browser has.
  const text = await fetchText(address, signal, { cache: 'no-cache' })
  if (text.trimStart().startsWith('<')) return (await import('./deep-zoom.js')).deepZoomSource(text, address)
  return described(parsed(text), address, signal)
}

/**
 * The source that a document in JSON describes.
 * @param {any} description
 * @param {URL} address the document's own
 * @param {AbortSignal} [signal]
 */
async function described(description, address, signal) {
  switch (kindOf(description)) {
    case 'manifest': return (await import('./manifest.js')).manifestSource(description, address, signal)
    case 'collection': throw new SourceError('an IIIF collection is a list of manifests; give the address of one of them')
    case 'state': return (await import('./content-state.js')).stateSource(description, signal, address)
    case 'book': return (await import('./book.js')).bookSource(description, address, signal)
    default: return imageSource(description, address)
  }
}
