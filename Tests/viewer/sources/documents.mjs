// One document of each format that the viewer reads, a server that sends them, and what the viewer makes addresses of.

import { cropAddress, cropService } from '../../../public/crop/crop-rect.js'
import { Rotation } from '../../../public/geometry/rotation.js'
import { fileAddress } from '../../../public/menus/download.js'
import { openSource } from '../../../public/sources/open.js'
import { webURL } from '../../../public/web-url.js'

export const HOST = 'https://images.example'
const IIIF = `${HOST}/iiif/3/harbour`

const image = {
  id: 'harbour', title: 'Harbour', caption: 'By night', creator: 'Somebody', date: '2024-05-01', location: 'Here', rights: 'All',
  keywords: ['sea', 'night'], width: 3000, height: 2000, tileSize: 512, overlap: 0, format: 'jpg', generation: 'a1b2', bytes: 9999,
  micronsPerPixel: 0.5, page: 2, pages: 3, label: '2r', book: 'book', bookTitle: 'A book', viewingDirection: 'left-to-right',
  levels: [{ width: 1, height: 1, columns: 1, rows: 1 }],
  urls: { dzi: '/dzi/harbour.dzi', iiif3: '/iiif/3/harbour/info.json', iiif2: '/iiif/2/harbour/info.json' },
  original: { url: '/api/images/harbour/original', type: 'image/tiff', bytes: 12345 },
  animation: { url: '/api/images/harbour/animation', type: 'image/gif' },
}
const info3 = {
  '@context': 'http://iiif.io/api/image/3/context.json', id: IIIF, type: 'ImageService3', protocol: 'http://iiif.io/api/image',
  profile: 'level2', width: 3000, height: 2000, maxArea: 1e6, maxWidth: 4000, maxHeight: 4000, rights: 'http://creativecommons.org/licenses/by/4.0/',
  preferredFormats: ['jpg'], sizes: [{ width: 300, height: 200 }], tiles: [{ width: 512, height: 512, scaleFactors: [1, 2, 4] }],
}
const info2 = {
  '@context': 'http://iiif.io/api/image/2/context.json', '@id': `${HOST}/iiif/2/harbour`, protocol: 'http://iiif.io/api/image',
  profile: ['http://iiif.io/api/image/2/level2.json'], width: 3000, height: 2000, tiles: [{ width: 512, scaleFactors: [1, 2] }],
}
const service = { id: IIIF, type: 'ImageService3', profile: 'level2' }
const painting = (number, body) => ({
  id: `${HOST}/canvas/${number}`, type: 'Canvas', width: 3000, height: 2000, label: { en: [`Canvas ${number}`] },
  items: [{ type: 'AnnotationPage', items: [{ type: 'Annotation', motivation: 'painting', body }] }],
})
const manifest3 = {
  id: `${HOST}/manifest3`, type: 'Manifest', label: { en: ['A manifest'], fr: ['Un manifeste'] },
  homepage: [{ id: `${HOST}/home`, type: 'Text', label: { en: ['Home'] } }], rights: 'http://creativecommons.org/licenses/by/4.0/',
  provider: [{ id: HOST, type: 'Agent', label: { en: ['Museum'] }, homepage: [{ id: HOST, type: 'Text' }], logo: [{ id: `${HOST}/logo.png`, type: 'Image' }] }],
  requiredStatement: { label: { en: ['Credit'] }, value: { en: ['Museum'] } }, seeAlso: [{ id: `${HOST}/more`, type: 'Dataset' }],
  start: { id: `${HOST}/canvas/1`, type: 'Canvas' },
  items: [
    painting(1, { id: `${IIIF}/full/max/0/default.jpg`, type: 'Image', width: 3000, height: 2000, service: [service] }),
    painting(2, { id: `${HOST}/photo.jpg`, type: 'Image', width: 700, height: 400 }),
    painting(3, { type: 'Choice', items: [
      { id: `${HOST}/visible.jpg`, type: 'Image', label: { en: ['Visible'] }, width: 700, height: 400 },
      { id: `${HOST}/infrared.jpg`, type: 'Image', label: { en: ['Infrared'] }, service: [service] },
    ] }),
  ],
  structures: [{ id: `${HOST}/range/1`, type: 'Range', label: { en: ['Part'] }, items: [
    { id: `${HOST}/canvas/1`, type: 'Canvas' }, { type: 'Range', label: { en: ['Within'] }, items: [{ type: 'SpecificResource', source: `${HOST}/canvas/2#xywh=0,0,9,9` }] },
  ] }],
}
const manifest2 = {
  '@id': `${HOST}/manifest2`, '@type': 'sc:Manifest', label: [{ '@value': 'A manifest', '@language': 'en' }], license: 'http://creativecommons.org/licenses/by/4.0/', logo: `${HOST}/logo.png`,
  attribution: '<b>Museum</b>', related: { '@id': `${HOST}/home` },
  sequences: [{ startCanvas: `${HOST}/canvas/1`, canvases: [
    { '@id': `${HOST}/canvas/1`, label: '1r', width: 3000, height: 2000, images: [{ resource: {
      '@id': `${HOST}/iiif/2/harbour/full/full/0/default.jpg`, width: 3000, height: 2000, service: { '@context': 'http://iiif.io/api/image/2/context.json', '@id': `${HOST}/iiif/2/harbour` },
    } }] },
    { '@id': `${HOST}/canvas/2`, label: '1v', images: [{ resource: { '@type': 'oa:Choice', default: { '@id': `${HOST}/a.jpg`, width: 9, height: 9 }, item: [{ '@id': `${HOST}/b.jpg`, width: 9, height: 9 }] } }] },
  ] }],
  structures: [{ '@id': `${HOST}/range/1`, label: 'Part', canvases: [`${HOST}/canvas/2`] }],
}
const state = {
  '@context': 'http://iiif.io/api/presentation/3/context.json', id: `${HOST}/state`, type: 'Annotation', motivation: ['contentState'],
  target: { type: 'SpecificResource', source: { id: `${HOST}/canvas/2`, type: 'Canvas', partOf: [{ id: `${HOST}/manifest3`, type: 'Manifest' }] },
    selector: { type: 'FragmentSelector', value: 'xywh=10,20,300,200' } },
}
const book = { id: 'book', isBook: true, title: 'A book', pages: 2, cover: 'book/1' }
const pages = { images: [{ id: 'book/1' }, { id: 'book/2' }], nextCursor: null, total: 2 }
const dzi = { Image: { Format: 'jpg', TileSize: '254', Overlap: '1' }, Size: { Width: '3000', Height: '2000' } }
const view = { description: image, tiles: [{ level: 9, column: 0, row: 0 }, { level: 10, column: 1, row: 0 }] }

/** By its name: the document, where it stands, and what is opened to read it. @type {Record<string, { at: string, opens?: string, document: any }>} */
export const DOCUMENTS = {
  'API description': { at: '/api/images/harbour', document: image },
  'API description of a view': { at: '/api/images/harbour/viewport.tiles', opens: '/api/images/harbour', document: view },
  'API description of a book': { at: '/api/images/book', document: book },
  'API list of pages': { at: '/api/images', opens: '/api/images/book', document: pages },
  'info.json 3': { at: '/iiif/3/harbour/info.json', document: info3 },
  'info.json 2': { at: '/iiif/2/harbour/info.json', document: info2 },
  'manifest 3': { at: '/manifest3', document: manifest3 },
  'manifest 2': { at: '/manifest2', document: manifest2 },
  'content state': { at: '/state', document: state },
  'Deep Zoom': { at: '/dzi/harbour.dzi', document: dzi },
  'Deep Zoom in SZI': { at: '/harbour.szi', document: dzi },
}

/** Each place in a document, as a list of keys: of every value that is no object, and of every object. */
export function places(value, path = []) {
  if (typeof value !== 'object' || value === null) return [path]
  return [...path.length ? [path] : [], ...Object.entries(value).flatMap(([key, each]) => places(each, [...path, key]))]
}

/** A copy of a document with another value at one place. */
export function changed(document, path, value) {
  const copy = structuredClone(document)
  let at = copy
  for (const key of path.slice(0, -1)) at = at[key]
  at[path.at(-1)] = value
  return copy
}

const deep = (depth) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
const VALUES = [
  null, true, false, 0, -0, 1, -1, 0.5, 2, 63, 64, 255, 512, 8000, 65535, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e308, -1e308, 5e-324,
  '', '0', '1', '512', '-1', '1e3', 'NaN', 'Infinity', '__proto__', 'constructor', 'toString', 'prototype', 'javascript:alert(1)', 'data:text/html,a', '//other.example/',
  '%', '%ff', '\u202etxt.exe', '\u2066isolated', '\u0000', '\ud800', '💥'.repeat(50), 'a'.repeat(100_000), '<img src=x onerror=alert(1)>', '../../..', 'a/b', 'a?b#c', 'xywh=1,1,1,1', 'xywh=0,0,1e9,.',
  [], {}, [[]], [null], [{}], ['a', 1], { length: 1e9 }, deep(1000), { toString: 1 }, { valueOf: 'a', toString: null }, { '@value': {} }, { en: [{}] }, { id: 1 }, { type: 'Range' },
  JSON.parse('{"__proto__":{"polluted":1}}'), JSON.parse('{"constructor":{"prototype":{"polluted":1}}}'), { then: 'a' }, { open: 1 }, Array.from({ length: 2000 }, (_, index) => index),
]

/**
 * One of the documents with other values at one to three places.
 * @param {() => number} next random numbers in 0…1
 */
export function hostileDocument(next) {
  const pick = (list) => list[Math.floor(next() * list.length)]
  const [name, { at, opens, document }] = pick(Object.entries(DOCUMENTS))
  let hostile = document
  const changes = []
  for (let count = 1 + Math.floor(next() * 3); count > 0; count -= 1) {
    const [place, value] = [pick(places(hostile)), pick(VALUES)]
    if (!place.length) continue
    hostile = changed(hostile, place, value)
    changes.push(`${place.join('.')} = ${JSON.stringify(value).slice(0, 60)}`)
  }
  return { name, at, opens, hostile, changes }
}

/** The bytes of a document as a server sends them. */
export function bytesOf(name, document) {
  if (typeof document === 'string') return Buffer.from(document)
  if (name === 'API description of a view') {
    const parts = [new TextEncoder().encode(JSON.stringify(document)), ...Array.from({ length: 2 }, () => new Uint8Array(9))]
    return Buffer.concat(parts.flatMap((part) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(part.length)
      return [length, part]
    }))
  }
  if (name === 'Deep Zoom') return Buffer.from(xml(document))
  if (name === 'Deep Zoom in SZI') return zip({ 'harbour/harbour.dzi': xml(document), 'harbour/harbour_files/0/0_0.jpg': 'a tile' })
  return Buffer.from(JSON.stringify(document))
}

function xml({ Image, Size }) {
  const attributes = (each) => Object.entries(Object(each)).map(([name, value]) =>
    ` ${name}="${encodeURIComponent(typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value) ?? '')}"`).join('')
  return `<Image${attributes(Image)}><Size${attributes(Size)}/></Image>`
}

/** A ZIP of stored entries, without checksums (APPNOTE.TXT 4.3). */
function zip(entries) {
  const [bodies, directory] = [[], []]
  let offset = 0
  for (const [name, text] of Object.entries(entries)) {
    const body = Buffer.from(text)
    const local = Buffer.alloc(30 + name.length)
    local.writeUInt32LE(0x04034b50)
    local.writeUInt16LE(name.length, 26)
    local.write(name, 30)
    const entry = Buffer.alloc(46 + name.length)
    entry.writeUInt32LE(0x02014b50)
    entry.writeUInt32LE(body.length, 20)
    entry.writeUInt32LE(body.length, 24)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(offset, 42)
    entry.write(name, 46)
    bodies.push(local, body)
    directory.push(entry)
    offset += local.length + body.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50)
  end.writeUInt16LE(directory.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, listed, end])
}

/** As much of a DOMParser as descriptors need: attributes of `Image` and `Size`. */
class DOMParser {
  parseFromString(text) {
    const element = (name) => {
      const found = new RegExp(`<${name}((?: \\w+="[^"]*")*)`).exec(text)
      const attributes = new Map([...found?.[1].matchAll(/ (\w+)="([^"]*)"/g) ?? []].map(([, key, value]) => [key, decodeURIComponent(value)]))
      return found && { localName: name, getAttribute: (key) => attributes.get(key) ?? null, querySelector: element }
    }
    return { documentElement: element('Image') ?? { localName: 'html', querySelector: () => null } }
  }
}

/** Gives the viewer the globals of a page; those of node stay. */
export function makePage() {
  globalThis.document = { baseURI: 'https://page.example/album/' }
  globalThis.location = new URL('https://images.example/page')
  globalThis.DOMParser = DOMParser
  globalThis.createImageBitmap = async () => ({ width: 700, height: 400, close() {} })
}

/**
 * A server of all documents, one of which is another.
 * @returns {string[]} every address that is asked for, as it comes
 */
export function serve(name, document) {
  const asked = []
  const served = new Map(Object.entries(DOCUMENTS).map(([each, { at, document: own }]) => [at, [each, each === name ? document : own]]))
  globalThis.fetch = async (address, { headers } = {}) => {
    asked.push(String(address))
    if (asked.length > 2000) throw new Error('requests without an end')
    const url = new URL(address)
    const found = /^\/api\/images\/book%2F\d$/.test(url.pathname) ? ['API description', image] : served.get(url.pathname)
    if (/\.jpg$/.test(url.pathname)) return new Response('a picture')
    if (url.origin !== HOST || !found) return new Response('', { status: 404 })
    if (found[0] === 'API description of a view' && name !== found[0]) return new Response('', { status: 404 })
    const body = bytesOf(...found)
    const [, suffix, first, last] = /^bytes=(?:-(\d+)|(\d+)-(\d+))$/.exec(headers?.range ?? '') ?? []
    if (suffix === undefined && first === undefined) return new Response(body)
    const start = suffix === undefined ? Number(first) : Math.max(body.length - Number(suffix), 0)
    const end = suffix === undefined ? Number(last) + 1 : body.length
    return new Response(body.subarray(start, end), { status: 206, headers: { 'content-range': `bytes ${start}-${end - 1}/${body.length}` } })
  }
  return asked
}

/** Every address that the viewer makes of a source: of tiles, links, files, the images of its album, and its choices. */
export async function addressesOf(source, depth = 0) {
  const { pyramid, details } = source
  const found = []
  for (let level = 0; level < pyramid.levelCount; level += 1) if (!source.tileBlob) found.push(source.tileURL(level, 0, 0))
  const crop = cropService(source)
  if (crop) found.push(fileAddress(cropAddress(webURL(crop, source.address).href, { x: 1, y: 1, width: 9, height: 9 }, pyramid.imageSize, new Rotation(), 'jpg'), source))
  for (const file of [details.original, details.animation]) if (file) found.push(fileAddress(file.url, source))
  for (const other of [...source.layers ?? [], ...source.album?.items ?? []].slice(0, 20)) {
    if (depth > 0 && source.album || depth > 1) break
    const opened = await openSource(other).catch((error) => error)
    if (opened instanceof Error) {
      found.push(opened)
    } else found.push(...await addressesOf(opened, depth + 1))
  }
  return found
}
