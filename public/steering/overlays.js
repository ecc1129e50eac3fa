/** What an element needs to stay at a place of the image, all in image pixels: its top left corner, and its size if it has one. */
const PLACE = ['data-x', 'data-y', 'data-width', 'data-height']

/** CSS pixels that a click may stray. */
const STILL = 9

/**
 * Keeps children of a viewer at their places of the image: those with `data-x` and `data-y`, which grow with it where they
 * have `data-width` and `data-height`. What moves and zooms the picture passes through them; what is clicked is theirs.
 */
export class Overlays {
  /**
   * @param {HTMLElement} host the viewer
   * @param {HTMLElement} slot where they are shown
   * @param {HTMLElement} surface what hears pointers, and takes them for itself until they lift
   */
  constructor(host, slot, surface) {
    Object.assign(this, { host, slot, viewport: null, pressed: null })
    slot.addEventListener('pointerdown', (event) => {
      const { clientX: x, clientY: y } = event
      this.pressed = { target: event.composedPath()[0], x, y }
    })
    // A click is then the surface's, too, and not of what was pressed.
    surface.addEventListener('click', (event) => {
      const { pressed } = this
      this.pressed = null
      if (!pressed || event.composedPath().includes(pressed.target)) return
      if (Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < STILL) pressed.target.click()
    })
  }

  /** Follows children that come, go or are placed anew. */
  watch(signal) {
    const observer = new MutationObserver(() => this.show(this.viewport))
    observer.observe(this.host, { childList: true, subtree: true, attributeFilter: PLACE })
    signal.addEventListener('abort', () => observer.disconnect())
  }

  /** Places them in a viewport, or hides them where there is none. */
  show(viewport) {
    this.viewport = viewport
    this.slot.hidden = !viewport
    if (!viewport) return
    for (const element of this.host.children) {
      const [x, y, width, height] = PLACE.map((name) => parseFloat(element.getAttribute(name)))
      if (Number.isFinite(x + y)) place(element, viewport, { x, y, width, height })
    }
  }
}

function place(element, viewport, { x, y, width, height }) {
  const { turn, scale } = viewport
  const at = viewport.viewportPoint({ x, y })
  const isRegion = width >= 0 && height >= 0
  const { style } = element
  style.position = 'absolute'
  style.inset = '0 auto auto 0'
  style.transformOrigin = '0 0'
  if (isRegion) {
    style.boxSizing = 'border-box'
    style.width = `${width * scale}px`
    style.height = `${height * scale}px`
  }
  // A region turns with the picture; a pin stays upright.
  const mirror = turn.isFlipped ? -1 : 1
  const turned = isRegion ? `matrix(${mirror * turn.cosine}, ${mirror * turn.sine}, ${-turn.sine}, ${turn.cosine}, ${at.x}, ${at.y})`
    : `translate(${at.x}px, ${at.y}px)`
  style.transform = turned
}

/** Whether a point of the viewer, in its CSS pixels, is on one of its overlays that can be pressed. */
export function isOverlaid(host, { x, y }) {
  const box = host.getBoundingClientRect()
  const [left, top] = [box.left + host.clientLeft + x, box.top + host.clientTop + y]
  const under = host.getRootNode().elementsFromPoint(left, top)
  return [...host.children].some((child) => under.some((each) => child.contains(each)))
}
