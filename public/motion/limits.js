import { limited } from '../geometry/fit.js'

const ROOM = 1
const YIELD = 0.55

/**
 * The viewport as it may stay: within its scales around an anchor, and over the image.
 * @param {import('../geometry/viewport.js').Viewport} viewport
 * @param {{ width: number, height: number }} image
 * @param {{ minimum: number, maximum: number }} limits scales
 * @param {{ x: number, y: number }} anchor of the viewport, CSS pixels: what is there stays there
 */
export function settled(viewport, image, limits, anchor) {
  return viewport.scaled(limited(viewport.scale, limits), anchor).clamped(image)
}

/** Smaller than the window, it is centred while zooming: nothing jumps afterwards. */
export function stretched(viewport, image, limits, anchor, zooming) {
  const inside = limited(viewport.scale, limits)
  const octaves = Math.log2(viewport.scale / inside)
  const shown = octaves === 0 ? viewport : viewport.scaled(inside * 2 ** rubber(octaves, ROOM), anchor)
  return bent(shown, image, zooming, rubber)
}

/** The inverse of `stretched`: where fingers would have to be for the viewport to be shown so. */
export function relaxed(viewport, image, limits, anchor) {
  const flat = bent(viewport, image, false, unrubber)
  const inside = limited(flat.scale, limits)
  const octaves = Math.log2(flat.scale / inside)
  return octaves === 0 ? flat : flat.scaled(inside * 2 ** unrubber(octaves, ROOM), anchor)
}

function bent(viewport, image, centering, bend) {
  const { across, down } = viewport.offsets(image)
  return viewport.with({
    x: axis(viewport.x, across, viewport.width, centering, bend), y: axis(viewport.y, down, viewport.height, centering, bend),
  })
}

function axis(offset, range, room, centering, bend) {
  if (centering && range.first === range.last) return range.first
  if (offset < range.first) return range.first + bend(offset - range.first, room)
  if (offset > range.last) return range.last + bend(offset - range.last, room)
  return offset
}

/**
 * How far something follows that is pulled past its end: ever less, and never past the room.
 * @param {number} pull how far it is pulled
 * @param {number} room the same unit
 */
export function rubber(pull, room) {
  return Math.sign(pull) * (1 - 1 / (Math.abs(pull) * YIELD / room + 1)) * room
}

/** The inverse of `rubber`. @param {number} stretch how far it has followed @param {number} room */
export function unrubber(stretch, room) {
  const part = Math.min(Math.abs(stretch) / room, 0.999)
  return Math.sign(stretch) * (1 / (1 - part) - 1) * room / YIELD
}
