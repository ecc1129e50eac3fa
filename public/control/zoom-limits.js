/** @typedef {import('../geometry/types.js').Size} Size */

const LIMITS = { 'min-scale': 'minScale', 'max-scale': 'maxScale', 'double-tap-scale': 'doubleTapScale' }
/** The attributes that set the limits of a camera. */
export const LIMIT_ATTRIBUTES = [...Object.keys(LIMITS), 'two-finger-rotation']

/**
 * Returns a camera's options from an element's attributes. Invalid scales are ignored.
 * @param {Element} element
 */
export function limits(element) {
  const options = { twoFingerRotation: element.hasAttribute('two-finger-rotation') }
  for (const [attribute, name] of Object.entries(LIMITS)) {
    const value = Number(element.getAttribute(attribute))
    options[name] = value > 0 ? value : undefined
  }
  return options
}

/**
 * Reports each size of an element, including the current one, until the signal aborts.
 * @param {Element} element
 * @param {(size: { window: Size, device: Size }) => void} callback receives the size in CSS pixels and in device pixels
 * @param {AbortSignal} signal
 */
export function watchSize(element, callback, signal) {
  if (signal.aborted) return
  const observer = new ResizeObserver((entries) => {
    const size = sizeOf(entries.at(-1))
    if (size) callback(size)
  })
  try {
    observer.observe(element, { box: 'device-pixel-content-box' })
  } catch {
    observer.observe(element)
  }
  signal.addEventListener('abort', () => observer.disconnect())
}

/**
 * Returns the size of an observed element in CSS pixels, and in device pixels for its canvas.
 * @param {ResizeObserverEntry} entry
 * @returns {{ window: Size, device: Size } | null} null if the element has no area
 */
function sizeOf({ contentRect: { width, height }, devicePixelContentBoxSize }) {
  if (!(width > 0 && height > 0)) return null
  const exact = devicePixelContentBoxSize?.[0]
  const device = { width: Math.round(width * devicePixelRatio), height: Math.round(height * devicePixelRatio) }
  // An emulated screen reports CSS pixels here.
  if (exact && Math.abs(exact.inlineSize - device.width) <= 1 && Math.abs(exact.blockSize - device.height) <= 1) {
    device.width = exact.inlineSize
    device.height = exact.blockSize
  }
  return { window: { width, height }, device }
}
