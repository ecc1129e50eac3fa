import { PLACEMENT_ATTRIBUTES } from './overlays.js'

/** The maximum movement of a click, in CSS pixels. */
const CLICK_DISTANCE = 9

/**
 * Places children of a viewer at their positions in the image. Children with `data-width` and `data-height` scale with the
 * image. Gestures that pan and zoom pass through the overlays; clicks go to them.
 */
export class OverlayPlacement {
  /**
   * @param {HTMLElement} host the viewer
   * @param {HTMLElement} slot the element that displays them
   * @param {HTMLElement} surface the element that receives and captures pointer events
   */
  constructor(host, slot, surface) {
    Object.assign(this, { host, pressed: null })
    slot.addEventListener('pointerdown', (event) => {
      const { clientX: x, clientY: y } = event
      this.pressed = { target: event.composedPath()[0], x, y }
    })
    // Because of the pointer capture, the click goes to the surface, not to the pressed element.
    surface.addEventListener('click', (event) => {
      const { pressed } = this
      this.pressed = null
      if (!pressed || event.composedPath().includes(pressed.target)) return
      if (Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < CLICK_DISTANCE) pressed.target.click()
    })
  }

  /** @param {import('../geometry/viewport.js').Viewport} viewport */
  show(viewport) {
    for (const element of this.host.children) {
      const [x, y, width, height] = PLACEMENT_ATTRIBUTES.map((name) => parseFloat(element.getAttribute(name)))
      if (Number.isFinite(x + y)) placeElement(element, viewport, { x, y, width, height })
    }
  }
}

function placeElement(element, viewport, { x, y, width, height }) {
  const { rotation, scale } = viewport
  const position = viewport.viewportPoint({ x, y })
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
  // A region rotates with the image; a marker stays upright.
  const mirror = rotation.isFlipped ? -1 : 1
  const transform = isRegion ? `matrix(${mirror * rotation.cosine}, ${mirror * rotation.sine}, ${-rotation.sine}, ${rotation.cosine}, ${position.x}, ${position.y})`
    : `translate(${position.x}px, ${position.y}px)`
  style.transform = transform
}
