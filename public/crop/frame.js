/** What a frame is held by, its corners and edges, clockwise from the top left: which sides each moves, -1 the left or upper one. */
export const HANDLES = [
  { x: -1, y: -1 }, { x: 0, y: -1 }, { x: 1, y: -1 }, { x: 1, y: 0 },
  { x: 1, y: 1 }, { x: 0, y: 1 }, { x: -1, y: 1 }, { x: -1, y: 0 },
]

/** Image space throughout. */
export function resizeFrame(frame, handle, dx, dy, image, { least, ratio }) {
  if (handle.x === 0 && handle.y === 0) {
    return {
      ...frame,
      x: clamp(frame.x + dx, 0, image.width - frame.width),
      y: clamp(frame.y + dy, 0, image.height - frame.height),
    }
  }
  const result = {
    ...side(frame.x, frame.width, handle.x, dx, image.width, Math.min(least, image.width), 'x', 'width'),
    ...side(frame.y, frame.height, handle.y, dy, image.height, Math.min(least, image.height), 'y', 'height'),
  }
  return ratio ? proportioned(frame, result, handle, image, least, ratio) : result
}

function side(start, length, edge, by, most, least, place, extent) {
  const end = start + length
  if (edge < 0) {
    const moved = clamp(start + by, 0, end - least)
    return { [place]: moved, [extent]: end - moved }
  }
  return { [place]: start, [extent]: edge > 0 ? clamp(end + by, start + least, most) - start : length }
}

function proportioned(before, free, handle, image, least, ratio) {
  // What stays: 0 is the left or top edge, 1 the other.
  const [holdX, holdY] = [(1 - handle.x) / 2, (1 - handle.y) / 2]
  const anchor = { x: before.x + before.width * holdX, y: before.y + before.height * holdY }
  const wanted = handle.x === 0 ? free.height * ratio : handle.y === 0 ? free.width : Math.max(free.width, free.height * ratio)
  const roomX = room(anchor.x, holdX, image.width)
  const roomY = room(anchor.y, holdY, image.height)
  const most = Math.min(roomX, roomY * ratio)
  const width = Math.min(Math.max(wanted, least * Math.max(1, ratio)), most)
  const height = width / ratio
  return { x: anchor.x - width * holdX, y: anchor.y - height * holdY, width, height }
}

function room(anchor, hold, most) {
  return Math.min(hold > 0 ? anchor / hold : Infinity, hold < 1 ? (most - anchor) / (1 - hold) : Infinity)
}

/**
 * The largest frame of a ratio within another one, in its middle.
 * @param {{ x: number, y: number, width: number, height: number }} frame
 * @param {number} ratio width by height
 */
export function fitRatio(frame, ratio) {
  const width = Math.min(frame.width, frame.height * ratio)
  const height = width / ratio
  return { x: frame.x + (frame.width - width) / 2, y: frame.y + (frame.height - height) / 2, width, height }
}

/**
 * The frame on borders of pixels, within the image and at least one pixel wide and high. Wherever it is moved its size stays.
 * @param {{ x: number, y: number, width: number, height: number }} frame image pixels
 * @param {{ width: number, height: number }} image
 */
export function wholePixels(frame, image) {
  const width = clamp(Math.round(frame.width), 1, image.width)
  const height = clamp(Math.round(frame.height), 1, image.height)
  return {
    x: clamp(Math.round(frame.x), 0, image.width - width), y: clamp(Math.round(frame.y), 0, image.height - height), width, height,
  }
}

/** The value that is nearest and within; the lower bound where there is nothing between. @param {number} value @param {number} low @param {number} high */
export function clamp(value, low, high) { return Math.min(Math.max(value, low), Math.max(low, high)) }

/** Where the image's parts can be had: the address of its IIIF service's info.json, or null. */
export function cropService(source) {
  const { iiif3, iiif2 } = source?.details.urls ?? {}
  return iiif3 ?? iiif2 ?? null
}

/**
 * The address of a part of an image that is turned by any angle: what a window of its size shows of it, one pixel a pixel.
 * @param {URL} image its address in the API
 * @param {{ x: number, y: number, width: number, height: number }} region of the image, before it is turned
 * @param {import('../geometry/rotation.js').Rotation} rotation of the whole picture
 * @param {{ width: number, height: number }} size as it is seen
 * @param {string} format the file's ending
 */
export function straightAddress(image, region, rotation, { width, height }, format) {
  const url = new URL(image)
  url.pathname += `/viewport.${format}`
  url.hash = ''
  const values = {
    width, height, scale: 1, center: `${region.x + region.width / 2},${region.y + region.height / 2}`,
    rotation: Math.round(rotation.degrees * 100) / 100, ...rotation.isFlipped ? { flip: 'true' } : {},
  }
  url.search = Object.entries(values).map(([name, value]) => `${name}=${value}`).join('&')
  return url.href
}

/**
 * The address of a part of an image at full resolution (IIIF Image API 2 or 3, section 4).
 * @param {string} service the address of its info.json
 * @param {{ x: number, y: number, width: number, height: number }} frame image pixels
 * @param {{ width: number, height: number }} image
 * @param {import('../geometry/rotation.js').Rotation} rotation of what is seen
 * @param {string} format the file's ending
 */
export function cropAddress(service, frame, image, rotation, format) {
  const base = service.replace(/\/info\.json$/, '').replace(/\/$/, '')
  const { x, y, width, height } = wholePixels(frame, image)
  const isWhole = width === image.width && height === image.height
  const size = base.includes('/iiif/2/') ? 'full' : 'max'
  const angle = `${rotation.isFlipped ? '!' : ''}${Math.round(rotation.degrees * 100) / 100}`
  return `${base}/${isWhole ? 'full' : `${x},${y},${width},${height}`}/${size}/${angle}/default.${format}`
}
