import { Turn } from '../geometry/turn.js'
import { Viewport } from '../geometry/viewport.js'

export function linkHash({ scale, x, y, width, height, turn }) {
  const parts = [
    `scale=${Number(scale.toPrecision(9))}`, `x=${round(x)}`, `y=${round(y)}`,
    `width=${round(width)}`, `height=${round(height)}`,
  ]
  if (turn.degrees !== 0) parts.push(`rotation=${round(turn.degrees)}`)
  if (turn.isFlipped) parts.push('flip=true')
  return `#${parts.join('&')}`
}

/** A link made in a window of another size keeps its middle in the middle. */
export function linkedViewport(hash, window) {
  const query = new URLSearchParams(hash.replace(/^#/, ''))
  const number = (name, otherwise) => {
    const text = query.get(name)
    return text === null || text.trim() === '' ? otherwise : Number(text)
  }
  const scale = number('scale', NaN)
  const degrees = number('rotation', 0)
  if (!(scale > 0 && scale < Infinity) || !Number.isFinite(degrees)) return null
  const made = { width: number('width', window.width), height: number('height', window.height) }
  const [x, y] = [number('x', 0), number('y', 0)]
  if (![x, y, made.width, made.height].every(Number.isFinite)) return null
  const turn = new Turn(degrees, query.get('flip') === 'true')
  const center = query.get('center')?.split(',').map(Number)
  const viewport = new Viewport({ ...window, scale, x, y, turn })
  if (center) {
    return center.length === 2 && center.every(Number.isFinite)
      ? viewport.centered({ x: center[0], y: center[1] }) : null
  }
  return viewport.with({ x: x + (made.width - window.width) / 2, y: y + (made.height - window.height) / 2 })
}

/** The id of the picture that a page's path names: all behind its first `/view/`. */
export function pathId(path) {
  const rest = path.replace(/^.*?\/view\//, '').replace(/\/$/, '')
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
  const linked = linkedViewport(hash, window)
  return `${linked ? linkHash(linked).slice(1) : `width=${window.width}&height=${window.height}`}&dpr=${ratio}`
}

function round(value) { return Math.round(value * 100) / 100 }
