const LIMITS = { 'min-scale': 'minScale', 'max-scale': 'maxScale', 'double-tap-scale': 'doubleTapScale' }
/** The attributes by which a camera is limited. */
export const LIMIT_ATTRIBUTES = [...Object.keys(LIMITS), 'two-finger-rotation']

/**
 * A camera's options as an element's attributes have them; what is no scale is as if it were not there.
 * @param {Element} element
 */
export function limits(element) {
  const options = { turning: element.hasAttribute('two-finger-rotation') }
  for (const [attribute, name] of Object.entries(LIMITS)) {
    const value = Number(element.getAttribute(attribute))
    options[name] = value > 0 ? value : undefined
  }
  return options
}

/**
 * Tells each size of an element, the first one too, until the signal aborts.
 * @param {Element} element
 * @param {(size: { window: { width: number, height: number }, device: { width: number, height: number } }) => void} tell
 * @param {AbortSignal} signal
 */
export function watchSize(element, tell, signal) {
  if (signal.aborted) return
  const observer = new ResizeObserver((entries) => {
    const size = measured(entries.at(-1))
    if (size) tell(size)
  })
  try {
    observer.observe(element, { box: 'device-pixel-content-box' })
  } catch {
    observer.observe(element)
  }
  signal.addEventListener('abort', () => observer.disconnect())
}

/**
 * How large an observed element is: in CSS pixels, and in the device's, which its canvas has.
 * @param {ResizeObserverEntry} entry
 * @returns {{ window: { width: number, height: number }, device: { width: number, height: number } } | null} null without room
 */
function measured({ contentRect: { width, height }, devicePixelContentBoxSize }) {
  if (!(width > 0 && height > 0)) return null
  const exact = devicePixelContentBoxSize?.[0]
  const device = { width: Math.round(width * devicePixelRatio), height: Math.round(height * devicePixelRatio) }
  // An emulated screen tells CSS pixels here.
  if (exact && Math.abs(exact.inlineSize - device.width) <= 1 && Math.abs(exact.blockSize - device.height) <= 1) {
    device.width = exact.inlineSize
    device.height = exact.blockSize
  }
  return { window: { width, height }, device }
}
