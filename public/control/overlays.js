/**
 * The attributes that place an element in the image, all in image pixels: the position of its top left corner, and
 * optionally its size.
 */
export const PLACEMENT_ATTRIBUTES = ['data-x', 'data-y', 'data-width', 'data-height']

/**
 * Keeps children of a viewer with `data-x` and `data-y` at their positions in the image. The code for it is loaded when the
 * first such child appears.
 */
export class Overlays {
  /** @type {import('./overlay-placement.js').OverlayPlacement | null} */
  #placement = null
  /** @type {import('../geometry/viewport.js').Viewport | null} */
  #viewport = null
  #isLoading = false

  /**
   * @param {HTMLElement} host the viewer
   * @param {HTMLElement} slot the element that displays them
   * @param {HTMLElement} surface the element that receives and captures pointer events
   */
  constructor(host, slot, surface) { Object.assign(this, { host, slot, surface }) }

  /**
   * Observes children that are added, removed or placed elsewhere.
   * @param {AbortSignal} signal ends the observation
   */
  watch(signal) {
    const observer = new MutationObserver(() => this.show(this.#viewport))
    observer.observe(this.host, { childList: true, subtree: true, attributeFilter: PLACEMENT_ATTRIBUTES })
    signal.addEventListener('abort', () => observer.disconnect())
    if (this.host.childElementCount) this.#load()
  }

  /** Places the overlays for a viewport. If it is null, hides them. */
  show(viewport) {
    this.#viewport = viewport
    this.slot.hidden = !viewport || !this.#placement
    if (!viewport || !this.host.childElementCount) return
    if (this.#placement) this.#placement.show(viewport)
    else this.#load()
  }

  async #load() {
    if (this.#isLoading) return
    this.#isLoading = true
    const module = await import('./overlay-placement.js').catch(() => null)
    // If loading fails, the next movement tries again.
    this.#isLoading = false
    if (!module) return
    this.#placement ??= new module.OverlayPlacement(this.host, this.slot, this.surface)
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
