import { PLACE } from './overlays.js'

/** CSS pixels that a click may stray. */
const STILL = 9

/**
 * Moves children of a viewer to their places of the image; they grow with it where they have `data-width` and `data-height`.
 * What moves and zooms the picture passes through them; what is clicked is theirs.
 */
export class OverlayPlacement {
  /**
   * @param {HTMLElement} host the viewer
   * @param {HTMLElement} slot where they are shown
   * @param {HTMLElement} surface what hears pointers, and takes them for itself until they lift
   */
  constructor(host, slot, surface) {
    Object.assign(this, { host, pressed: null })
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

  /** @param {import('../geometry/viewport.js').Viewport} viewport */
  show(viewport) {
    for (const element of this.host.children) {
      const [x, y, width, height] = PLACE.map((name) => parseFloat(element.getAttribute(name)))
      if (Number.isFinite(x + y)) place(element, viewport, { x, y, width, height })
    }
  }
}

function place(element, viewport, { x, y, width, height }) {
  const { rotation, scale } = viewport
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
  const mirror = rotation.isFlipped ? -1 : 1
  const turned = isRegion ? `matrix(${mirror * rotation.cosine}, ${mirror * rotation.sine}, ${-rotation.sine}, ${rotation.cosine}, ${at.x}, ${at.y})`
    : `translate(${at.x}px, ${at.y}px)`
  style.transform = turned
}
