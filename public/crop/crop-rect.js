/**
 * The handles of a frame, its corners and edges, clockwise from the top left. Each moves the sides with a nonzero component;
 * -1 is the left or upper one.
 */
export const HANDLES = [
  { x: -1, y: -1 }, { x: 0, y: -1 }, { x: 1, y: -1 }, { x: 1, y: 0 },
  { x: 1, y: 1 }, { x: 0, y: 1 }, { x: -1, y: 1 }, { x: -1, y: 0 },
]

/** Resizes or moves a frame by a handle. All parameters are in image pixels. */
export function resizeFrame(frame, handle, dx, dy, image, { minSize, ratio }) {
  if (handle.x === 0 && handle.y === 0) {
    return {
      ...frame,
      x: clamp(frame.x + dx, 0, image.width - frame.width),
      y: clamp(frame.y + dy, 0, image.height - frame.height),
    }
  }
  const result = {
    ...moveSide(frame.x, frame.width, handle.x, dx, image.width, Math.min(minSize, image.width), 'x', 'width'),
    ...moveSide(frame.y, frame.height, handle.y, dy, image.height, Math.min(minSize, image.height), 'y', 'height'),
  }
  return ratio ? withRatio(frame, result, handle, image, minSize, ratio) : result
}

function moveSide(start, length, edge, by, max, minSize, position, extent) {
  const end = start + length
  if (edge < 0) {
    const moved = clamp(start + by, 0, end - minSize)
    return { [position]: moved, [extent]: end - moved }
  }
  return { [position]: start, [extent]: edge > 0 ? clamp(end + by, start + minSize, max) - start : length }
}

function withRatio(before, free, handle, image, minSize, ratio) {
  // The fixed side: 0 is the left or top edge, 1 the opposite one.
  const [fixedX, fixedY] = [(1 - handle.x) / 2, (1 - handle.y) / 2]
  const anchor = { x: before.x + before.width * fixedX, y: before.y + before.height * fixedY }
  const wanted = handle.x === 0 ? free.height * ratio : handle.y === 0 ? free.width : Math.max(free.width, free.height * ratio)
  const availableWidth = available(anchor.x, fixedX, image.width)
  const availableHeight = available(anchor.y, fixedY, image.height)
  const max = Math.min(availableWidth, availableHeight * ratio)
  const width = Math.min(Math.max(wanted, minSize * Math.max(1, ratio)), max)
  const height = width / ratio
  return { x: anchor.x - width * fixedX, y: anchor.y - height * fixedY, width, height }
}

function available(anchor, fixed, max) {
  return Math.min(fixed > 0 ? anchor / fixed : Infinity, fixed < 1 ? (max - anchor) / (1 - fixed) : Infinity)
}

/**
 * Returns the largest frame of a ratio within another one, centered.
 * @param {{ x: number, y: number, width: number, height: number }} frame
 * @param {number} ratio width divided by height
 */
export function fitRatio(frame, ratio) {
  const width = Math.min(frame.width, frame.height * ratio)
  const height = width / ratio
  return { x: frame.x + (frame.width - width) / 2, y: frame.y + (frame.height - height) / 2, width, height }
}

/**
 * Rounds a frame to whole pixels within the image, at least one pixel wide and high. Its size does not depend on its
 * position.
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

/**
 * Clamps a value to a range. Returns the lower bound if the range is empty.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function clamp(value, low, high) { return Math.min(Math.max(value, low), Math.max(low, high)) }

/** Returns the address of the `info.json` of the image's IIIF service, which serves regions of the image, or null. */
export function cropService(source) {
  const { iiif3, iiif2 } = source?.details.urls ?? {}
  return iiif3 ?? iiif2 ?? null
}

/**
 * Returns the address of a region of an image that is rotated by any angle. The server renders it as in a window of that
 * size, at one image pixel per pixel.
 * @param {URL} image the image's address in the API
 * @param {{ x: number, y: number, width: number, height: number }} region image pixels, before the rotation
 * @param {import('../geometry/rotation.js').Rotation} rotation the rotation of the whole image
 * @param {{ width: number, height: number }} size the size as displayed, in pixels
 * @param {string} format the suffix of the file
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
 * Returns the address of a region of an image at full resolution (IIIF Image API 2 or 3, section 4).
 * @param {string} service the address of its info.json
 * @param {{ x: number, y: number, width: number, height: number }} frame image pixels
 * @param {{ width: number, height: number }} image
 * @param {import('../geometry/rotation.js').Rotation} rotation the displayed rotation
 * @param {string} format the suffix of the file
 */
export function cropAddress(service, frame, image, rotation, format) {
  const base = service.replace(/\/info\.json$/, '').replace(/\/$/, '')
  const { x, y, width, height } = wholePixels(frame, image)
  const isWhole = width === image.width && height === image.height
  const size = base.includes('/iiif/2/') ? 'full' : 'max'
  const angle = `${rotation.isFlipped ? '!' : ''}${Math.round(rotation.degrees * 100) / 100}`
  return `${base}/${isWhole ? 'full' : `${x},${y},${width},${height}`}/${size}/${angle}/default.${format}`
}
