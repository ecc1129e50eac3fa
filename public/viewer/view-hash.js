import { FITS } from '../geometry/fit.js'
import { Rotation } from '../geometry/rotation.js'
import { Viewport } from '../geometry/viewport.js'
import { isPanorama } from './zoom-levels.js'

/**
 * A link to a view that means the same on every screen: the whole picture is whole there, of any other view all is seen.
 * @param {Viewport} viewport
 * @param {{ width: number, height: number }} [image] image pixels; without it the view is no fitted one
 * @returns {string} with its `#`; empty for a picture as it is opened
 */
export function encodeView(viewport, image) {
  const turned = rotationParameters(viewport.rotation)
  if (image && isWhole(viewport, image)) return turned || isPanorama(image, viewport) ? `#fit=contain${turned}` : ''
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
 * The view that a link names.
 *
 * Links have a `fit`, or what the server's query for a viewport has: `scale`, `x` and `y`, or a `center`. With the `width` and
 * `height` of the window in which it was made, its middle is in the middle of every other, and all that was seen is seen.
 * @param {string} hash
 * @param {{ width: number, height: number }} window CSS pixels
 * @param {{ width: number, height: number }} [image] image pixels, without which a `fit` means nothing
 * @returns {Viewport | null} null for a link that makes no sense
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
  const made = { width: number('width', width), height: number('height', height) }
  const [x, y] = [number('x', 0), number('y', 0)]
  if (![x, y].every(Number.isFinite) || ![made.width, made.height].every((side) => side > 0 && side < Infinity)) return null
  const asMade = new Viewport({ ...made, scale, x, y, rotation })
  const viewport = asMade.with({ width, height, scale: scale * Math.min(width / made.width, height / made.height) })
  if (!query.has('center')) return viewport.centered(asMade.imageCenter)
  const center = query.get('center').split(',').map(Number)
  return center.length === 2 && center.every(Number.isFinite) ? viewport.centered({ x: center[0], y: center[1] }) : null
}

/** The id of the picture that a page's path names: all behind its first `/view/`, or `/embed/`. @param {string} path */
export function pathId(path) {
  const rest = path.replace(/^.*?\/(view|embed)\//, '').replace(/\/$/, '')
  try {
    return decodeURIComponent(rest)
  } catch {
    return rest
  }
}

/**
 * What the server is asked of a view.
 * @param {string} hash the link's, or none for the whole image
 * @param {{ width: number, height: number }} window CSS pixels
 * @param {number} ratio device pixels a CSS pixel
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
