/** What an element needs to stay at a place of the image, all in image pixels: its top left corner, and its size if it has one. */
export const PLACE = ['data-x', 'data-y', 'data-width', 'data-height']

/**
 * Keeps children of a viewer at their places of the image: those with `data-x` and `data-y`. What does so is loaded once there
 * are some; they are shown from then on.
 */
export class Overlays {
  /** @type {import('./overlay-placement.js').OverlayPlacement | null} */
  #placing = null
  /** @type {import('../geometry/viewport.js').Viewport | null} */
  #viewport = null
  #isLoading = false

  /**
   * @param {HTMLElement} host the viewer
   * @param {HTMLElement} slot where they are shown
   * @param {HTMLElement} surface what hears pointers, and takes them for itself until they lift
   */
  constructor(host, slot, surface) { Object.assign(this, { host, slot, surface }) }

  /** Follows children that come, go or are placed anew. @param {AbortSignal} signal ends it */
  watch(signal) {
    const observer = new MutationObserver(() => this.show(this.#viewport))
    observer.observe(this.host, { childList: true, subtree: true, attributeFilter: PLACE })
    signal.addEventListener('abort', () => observer.disconnect())
    if (this.host.childElementCount) this.#load()
  }

  /** Places them in a viewport, or hides them where there is none. */
  show(viewport) {
    this.#viewport = viewport
    this.slot.hidden = !viewport || !this.#placing
    if (!viewport || !this.host.childElementCount) return
    if (this.#placing) this.#placing.show(viewport)
    else this.#load()
  }

  async #load() {
    if (this.#isLoading) return
    this.#isLoading = true
    const placing = await import('./overlay-placement.js').catch(() => null)
    // Where it cannot be had, the next move asks again.
    this.#isLoading = false
    if (!placing) return
    this.#placing ??= new placing.OverlayPlacement(this.host, this.slot, this.surface)
    this.show(this.#viewport)
  }
}

/**
 * Whether a point of the viewer is on one of its overlays that can be pressed.
 * @param {HTMLElement} host the viewer
 * @param {{ x: number, y: number }} point its CSS pixels
 */
export function isOverlaid(host, { x, y }) {
  if (!host.childElementCount) return false
  const box = host.getBoundingClientRect()
  const [left, top] = [box.left + host.clientLeft + x, box.top + host.clientTop + y]
  const under = host.getRootNode().elementsFromPoint(left, top)
  return [...host.children].some((child) => under.some((each) => child.contains(each)))
}
