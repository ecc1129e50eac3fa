import { request, webURL } from '../web-url.js'
import { decodeSegment, line, list, object, positive } from './document.js'
import { openImage } from './image.js'
import { MAX_IMAGES, checkAlbum, describedPyramid } from './source-limits.js'
import { readChunks } from './size-limit.js'
import { SourceError } from './source-error.js'

/** Maximum nesting depth of the parts of a book. */
const MAX_DEPTH = 32
/** Maximum number of alternative images of a canvas. */
const MAX_LAYERS = 1000

/**
 * Opens an IIIF manifest (Presentation API 2.1 and 3.0) as an album of its canvases.
 * @param {any} manifest
 * @param {URL} address
 * @param {AbortSignal} [signal]
 * @param {string} [canvas] the id of the first canvas to show
 * @returns {Promise<any>} the canvas's source, with an `album`. Its `items` have a `label` and a method `open`; `index` is
 *   that of the current item; `label` is that of the manifest; `ranges` are its parts, each with a `label` and the `index`
 *   of its first item.
 * @throws {SourceError}
 */
export async function manifestSource(manifest, address, signal, canvas) {
  const { items: canvasList, sequences, start, label, structures } = object(manifest)
  const sequence = object(list(sequences)[0])
  const canvases = list(canvasList ?? sequence.canvases)
  checkAlbum(canvases.length)
  const items = canvases.map((each, number) => item(object(each), labelText(each?.label) || String(number + 1), address))
  if (!items.length) throw new SourceError('the manifest has no pictures')
  /**
   * The first index of each canvas.
   * @type {Map<unknown, number>}
   */
  const indices = new Map()
  canvases.forEach((each, index) => { if (!indices.has(idOf(each))) indices.set(idOf(each), index) })
  const first = canvas ?? idOf(start?.source ?? start) ?? sequence.startCanvas
  const index = (first !== undefined && indices.get(first)) || 0
  const source = await items[index].open(signal)
  return { ...source, album: { items, index, label: labelText(label), ranges: ranges(list(structures), indices) } }
}

/** @param {any} canvas @param {string} label @param {URL} address */
function item(canvas, label, address) {
  const { width, height } = canvas
  return {
    label,
    open: async (/** @type {AbortSignal} */ signal) => {
      const painted = bodiesOf(canvas)
      if (painted.length > MAX_LAYERS) throw new SourceError(`${painted.length} pictures on one canvas`)
      return { ...await openLayer(painted, 0, label, address, signal), canvas: { width, height } }
    },
  }
}

/**
 * Opens one of the alternative images of a canvas. `layers` of the result opens the others, if there are any; `layer` is the
 * index of this one.
 * @param {any[]} painted
 * @param {number} index
 * @param {string} label
 * @param {URL} address
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
async function openLayer(painted, index, label, address, signal) {
  if (!painted[index]) throw new SourceError(`there is no picture on ${label}`)
  const source = await openBody(object(painted[index]), address, signal)
  const layers = painted.length < 2 ? undefined : painted.map((each, number) => ({
    label: labelText(each?.label) || String(number + 1), open: (/** @type {AbortSignal} */ abort) => openLayer(painted, number, label, address, abort),
  }))
  return { ...source, title: label, details: { ...source.details, title: label }, layers, layer: index }
}

/**
 * Returns the images of a canvas: one, or several alternatives.
 * @param {any} canvas
 * @returns {any[]}
 */
function bodiesOf(canvas) {
  const annotations = canvas.items === undefined ? list(canvas.images) : list(canvas.items).flatMap((page) => list(page?.items))
  const [body] = annotations.map((each) => each?.body ?? each?.resource).filter(Boolean)
  if (!body) return []
  if (body.type === 'Choice') return list(body.items)
  if (body['@type'] === 'oa:Choice') return [body.default, ...[body.item].flat()].filter((each) => each && each !== 'rdf:nil')
  return [body]
}

/** @param {any} body @param {URL} address @param {AbortSignal} [signal] */
async function openBody(body, address, signal) {
  const service = [body.service].flat().find((each) => /ImageService|iiif.io\/api\/image/.test(
    [each?.type ?? each?.['@type'], each?.['@context'], each?.profile].filter((about) => typeof about === 'string').join(' ')))
  if (service) return openImage(webURL(`${requireId(service).replace(/\/$/, '')}/info.json`, address), signal)
  const url = webURL(requireId(body), address).href
  const { width, height } = positive(body.width) && positive(body.height) ? body : await sizeOf(url, signal)
  return {
    // An image in one file is a single tile at every level.
    pyramid: describedPyramid({ width, height }, Math.max(width, height)),
    tileURL: () => url, title: line(decodeSegment(url.split('/').pop() ?? '')), details: { id: url, width, height },
  }
}

/**
 * Returns the id of a resource that must have one.
 * @param {any} resource
 */
function requireId(resource) {
  const id = idOf(resource)
  if (!id) throw new SourceError('a picture of the manifest has no address')
  return id
}

/** @param {string} url @param {AbortSignal} [signal] */
async function sizeOf(url, signal) {
  const chunks = await readChunks(await request(url, { signal }))
  const bitmap = await createImageBitmap(new Blob(chunks)).catch(() => { throw new SourceError(`not an image: ${url}`) })
  const { width, height } = bitmap
  bitmap.close()
  return { width, height }
}

/**
 * Returns the parts of a book. Nested ones follow the part that contains them.
 * @param {any[]} structures
 * @param {Map<unknown, number>} indices the indices of canvases by id
 * @returns {{ label: string, index: number }[]}
 * @throws {SourceError} if there are too many, or if they are nested too deeply
 */
function ranges(structures, indices) {
  /** @type {{ label: string, index: number }[]} */
  const found = []
  let count = 0
  /**
   * Adds a part and the nested ones, and returns the index of its first item, or -1.
   * @returns {number}
   */
  const walk = (/** @type {any} */ range, /** @type {number} */ depth) => {
    count += 1
    if (depth > MAX_DEPTH || count > MAX_IMAGES) throw new SourceError('too many parts of a book', { reason: 'endless' })
    const part = { label: labelText(range.label), index: -1 }
    if (part.label) found.push(part)
    for (const each of [...list(range.items), ...list(range.canvases)]) {
      const index = each?.type === 'Range' ? walk(each, depth + 1) : indices.get(canvasOf(each)) ?? -1
      if (part.index < 0) part.index = index
    }
    return part.index
  }
  for (const each of structures) walk(object(each), 1)
  return found.filter(({ index }) => index >= 0)
}

/**
 * Returns the id of the canvas that a member of a range is or points to.
 * @param {any} member
 */
function canvasOf(member) { return idOf(member?.source ?? member)?.split('#')[0] }

/** @param {any} resource @returns {string | undefined} */
function idOf(resource) {
  const id = typeof resource === 'string' ? resource : resource?.id ?? resource?.['@id']
  return typeof id === 'string' ? id : undefined
}

/**
 * Returns a label in the reader's language, or otherwise in any language.
 * @param {any} label
 * @param {readonly string[]} [languages]
 * @returns {string}
 */
export function labelText(label, languages = globalThis.navigator?.languages ?? []) {
  const value = Array.isArray(label) ? label[0] : label
  if (typeof value !== 'object' || value === null) return line(value)
  if ('@value' in value) return line(value['@value'])
  const keys = Object.keys(value)
  const preferred = languages.map((each) => keys.find((key) => key.split('-')[0] === each.split('-')[0])).find(Boolean)
  return line([value[preferred ?? keys[0]]].flat()[0])
}
