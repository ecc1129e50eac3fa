import { Pyramid } from '../geometry/pyramid.js'
import { boundedPieces, boundedText } from './bounded.js'
import { described } from './open.js'

/**
 * A IIIF manifest (Presentation API 2.1 and 3.0): its canvases are an album.
 * @param {object} manifest
 * @param {URL} address
 * @param {AbortSignal} [signal]
 * @param {string} [canvas] the id of the one that is shown first
 * @returns {Promise<object>} the canvas's source, with an `album`: `items`, which open themselves and have a `label`; the `index`
 *   of the one that is open; `label`, the manifest's own; `ranges`, its parts, each with a `label` and the `index` it begins at
 */
export async function manifestSource(manifest, address, signal, canvas) {
  const canvases = manifest.items ?? manifest.sequences?.[0]?.canvases ?? []
  const items = canvases.map((each, number) => item(each, words(each.label) || String(number + 1), address))
  if (!items.length) throw new Error('the manifest has no pictures')
  const ids = canvases.map(idOf)
  const start = idOf(manifest.start?.source ?? manifest.start) ?? manifest.sequences?.[0]?.startCanvas
  const index = Math.max(ids.indexOf(canvas ?? start), 0)
  const source = await items[index].open(signal)
  return { ...source, album: { items, index, label: words(manifest.label), ranges: ranges(manifest.structures ?? [], ids) } }
}

function item(canvas, label, address) {
  const painted = bodies(canvas)
  const { width, height } = canvas
  return { label, open: async (signal) => ({ ...await layered(painted, 0, label, address, signal), canvas: { width, height } }) }
}

/** One of a canvas's pictures; `layers` opens the others, where there is a choice, of which this is number `layer`. */
async function layered(painted, index, label, address, signal) {
  if (!painted[index]) throw new Error(`there is no picture on ${label}`)
  const source = await picture(painted[index], address, signal)
  const layers = painted.length < 2 ? undefined : painted.map((each, number) => ({
    label: words(each.label) || String(number + 1), open: (abort) => layered(painted, number, label, address, abort),
  }))
  return { ...source, title: label, details: { ...source.details, title: label }, layers, layer: index }
}

/** What is painted on a canvas: one picture, or those that there is a choice of. */
function bodies(canvas) {
  const annotations = canvas.items?.flatMap((page) => page.items ?? []) ?? canvas.images ?? []
  const [body] = annotations.map((each) => each.body ?? each.resource).filter(Boolean)
  if (!body) return []
  if (body.type === 'Choice') return body.items ?? []
  if (body['@type'] === 'oa:Choice') return [body.default, ...[body.item].flat()].filter((each) => each && each !== 'rdf:nil')
  return [body]
}

async function picture(body, address, signal) {
  const service = [body.service].flat().find((each) => /ImageService|iiif.io\/api\/image/.test(`${each?.type ?? each?.['@type']} ${each?.['@context']} ${each?.profile}`))
  if (service) {
    const info = new URL(`${idOf(service).replace(/\/$/, '')}/info.json`, address)
    const answer = await fetch(info, { signal })
    if (!answer.ok) throw Object.assign(new Error(`${answer.status} for ${info}`), { status: answer.status })
    return described(JSON.parse(await boundedText(answer)), info, signal)
  }
  const url = new URL(idOf(body), address).href
  const { width, height } = body.width > 0 && body.height > 0 ? body : await sizeOf(url, signal)
  return {
    // A file of one piece is a single tile at every level.
    pyramid: new Pyramid({ width, height }, Math.max(width, height)),
    tileURL: () => url, title: url.split('/').pop(), details: { id: url, width, height },
  }
}

async function sizeOf(url, signal) {
  const bitmap = await createImageBitmap(new Blob(await boundedPieces(await fetch(url, { signal }))))
  const { width, height } = bitmap
  bitmap.close()
  return { width, height }
}

/** The parts of a book, nested ones behind the one they are in. */
function ranges(structures, ids) {
  const found = []
  const first = (range) => {
    for (const each of [...range.items ?? [], ...range.canvases ?? []]) {
      const index = each.type === 'Range' ? first(each) : ids.indexOf(idOf(each.source ?? each)?.split('#')[0])
      if (index >= 0) return index
    }
    return -1
  }
  const walk = (range) => {
    const index = first(range)
    if (index >= 0 && words(range.label)) found.push({ label: words(range.label), index })
    for (const each of range.items ?? []) if (each.type === 'Range') walk(each)
  }
  structures.forEach(walk)
  return found
}

function idOf(resource) { return typeof resource === 'string' ? resource : resource?.id ?? resource?.['@id'] }

/** A label in the reader's language, else in any. */
export function words(label, languages = globalThis.navigator?.languages ?? []) {
  if (!label) return ''
  if (typeof label === 'string') return label
  if (Array.isArray(label)) return words(label[0], languages)
  if ('@value' in label) return label['@value']
  const own = languages.map((each) => Object.keys(label).find((key) => key.split('-')[0] === each.split('-')[0])).find(Boolean)
  return String([label[own ?? Object.keys(label)[0]]].flat()[0] ?? '')
}
