import { FITS } from '../geometry/fit.js'
import { Rotation } from '../geometry/rotation.js'
import { Viewport } from '../geometry/viewport.js'
import { isPanorama } from './zoom-levels.js'

/**
 * Encodes a view as the fragment of a link. A fitted view is fitted on every screen; any other view is completely visible on
 * every screen.
 * @param {Viewport} viewport
 * @param {{ width: number, height: number }} [image] the size of the image in pixels, needed to recognize a fitted view
 * @returns {string} with the `#`; empty for the initial view of an image
 */
export function encodeView(viewport, image) {
  const rotation = rotationParameters(viewport.rotation)
  if (image && isWhole(viewport, image)) return rotation || isPanorama(image, viewport) ? `#fit=contain${rotation}` : ''
  return `#${parameters(viewport)}`
}

function parameters({ scale, x, y, width, height, rotation }) {
  return `scale=${Number(scale.toPrecision(9))}&x=${round(x)}&y=${round(y)}&width=${round(width)}&height=${round(height)}`
    + rotationParameters(rotation)
}

function rotationParameters({ degrees, isFlipped }) {
  return `${degrees !== 0 ? `&rotation=${round(degrees)}` : ''}${isFlipped ? '&flip=true' : ''}`
}

function isWhole(viewport, image) {
  const { x, y, scale } = Viewport.fitting(image, 'contain', viewport, viewport.rotation)
  return Math.abs(scale / viewport.scale - 1) < 1e-4 && Math.hypot(x - viewport.x, y - viewport.y) < 0.5
}

/**
 * Decodes the view in the fragment of a link.
 *
 * A fragment contains a `fit`, or the parameters of the server's viewport query: `scale`, `x` and `y`, or a `center`. It can
 * also contain the `width` and `height` of the window in which it was made. The view then keeps its center, and everything
 * that was visible there is visible.
 * @param {string} hash
 * @param {{ width: number, height: number }} window CSS pixels
 * @param {{ width: number, height: number }} [image] the size of the image in pixels, required for a `fit`
 * @returns {Viewport | null} null if the fragment is invalid
 */
export function decodeView(hash, window, image) {
  const query = new URLSearchParams(hash.replace(/^#/, ''))
  const number = (name, otherwise) => {
    const text = query.get(name)
    return text === null || text.trim() === '' ? otherwise : Number(text)
  }
  const degrees = number('rotation', 0)
  if (!Number.isFinite(degrees)) return null
  const rotation = new Rotation(degrees, query.get('flip') === 'true')
  const { width, height } = window
  const fit = query.get('fit')
  if (fit) return image && FITS.includes(fit) ? Viewport.fitting(image, fit, { width, height }, rotation) : null
  const scale = number('scale', NaN)
  if (!(scale > 0 && scale < Infinity)) return null
  const saved = { width: number('width', width), height: number('height', height) }
  const [x, y] = [number('x', 0), number('y', 0)]
  if (![x, y].every(Number.isFinite) || ![saved.width, saved.height].every((side) => side > 0 && side < Infinity)) return null
  const savedViewport = new Viewport({ ...saved, scale, x, y, rotation })
  const viewport = savedViewport.with({ width, height, scale: scale * Math.min(width / saved.width, height / saved.height) })
  if (!query.has('center')) return viewport.centered(savedViewport.imageCenter)
  const center = query.get('center').split(',').map(Number)
  return center.length === 2 && center.every(Number.isFinite) ? viewport.centered({ x: center[0], y: center[1] }) : null
}

/**
 * Returns the id in the path of a page: everything after the first `/view/` or `/embed/`.
 * @param {string} path
 */
export function pathId(path) {
  const rest = path.replace(/^.*?\/(view|embed)\//, '').replace(/\/$/, '')
  try {
    return decodeURIComponent(rest)
  } catch {
    return rest
  }
}

/**
 * Returns the server's query for a view.
 * @param {string} hash the fragment of the link; empty for the whole image
 * @param {{ width: number, height: number }} window CSS pixels
 * @param {number} ratio device pixels per CSS pixel
 */
export function viewQuery(hash, window, ratio) {
  const linked = decodeView(hash, window)
  if (linked) return `${parameters(linked)}&dpr=${ratio}`
  const query = new URLSearchParams(hash.replace(/^#/, ''))
  const degrees = Number(query.get('rotation'))
  const isFitted = FITS.includes(query.get('fit')) && Number.isFinite(degrees)
  const fit = isFitted ? `&fit=${query.get('fit')}${rotationParameters(new Rotation(degrees, query.get('flip') === 'true'))}` : ''
  return `width=${window.width}&height=${window.height}${fit}&dpr=${ratio}`
}

function round(value) { return Math.round(value * 100) / 100 }
