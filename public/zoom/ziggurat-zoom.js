import { gestureHandlers } from '../control/gesture-handlers.js'
import { bindPointerEvents } from '../gestures/pointer-events.js'
import { Camera } from '../viewer/camera.js'
import { Element, createElement } from '../viewer/dom.js'

const WIDTH = 1000 // CSS px

/**
 * `<ziggurat-zoom>`: the viewer's gestures around any HTML, which is laid out 1000 CSS pixels wide. It dispatches
 * `viewport`.
 */
export class ZigguratZoom extends Element {
  static observedAttributes = ['aspect-ratio']

  #content = createElement('div', {}, createElement('slot'))
  #surface = createElement('div', {}, this.#content)
  #camera
  #frame
  #connected

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open' })
    // Style properties set by script are permitted by every content security policy.
    Object.assign(this.#surface.style, { position: 'absolute', inset: '0', overflow: 'hidden', touchAction: 'none' })
    Object.assign(this.#content.style, { position: 'absolute', width: `${WIDTH}px`, transformOrigin: '0 0' })
    root.append(this.#surface)
  }

  connectedCallback() {
    this.style.position ||= 'relative'
    this.style.display ||= 'block'
    this.#connected = new AbortController()
    const resize = new ResizeObserver(([entry]) => this.#resized(entry.contentRect))
    resize.observe(this)
    const apply = (change) => {
      if (!this.#camera) return
      if (change(this.#camera, performance.now()) !== false) this.#invalidate()
    }
    const { signal } = this.#connected
    bindPointerEvents(this.#surface, {
      ...gestureHandlers(apply), tap: () => {}, longPress: () => {}, menu: () => {},
    }, signal)
    signal.addEventListener('abort', () => resize.disconnect())
  }

  disconnectedCallback() { this.#connected?.abort() }

  attributeChangedCallback() {
    this.#camera = null
    this.#resized(this.getBoundingClientRect())
  }

  /**
   * The width of the content divided by its height; 1 without the attribute.
   * @returns {number}
   */
  get aspectRatio() {
    const [width, height = 1] = (this.getAttribute('aspect-ratio') ?? '').split(/[/:]/).map(Number)
    const ratio = width / height
    return ratio > 0 && ratio < Infinity ? ratio : 1
  }

  /**
   * The viewport of the content, in CSS pixels; null before the element has a size.
   * @returns {import('../geometry/viewport.js').Viewport | null}
   */
  get viewport() { return this.#camera?.viewport ?? null }

  #resized({ width, height }) {
    if (!(width > 0 && height > 0)) return
    const size = { width: WIDTH, height: Math.max(Math.round(WIDTH / this.aspectRatio), 1) }
    this.#content.style.height = `${size.height}px`
    if (this.#camera) this.#camera.resize({ width, height }, performance.now())
    else this.#camera = new Camera(size, { width, height }, { reducedMotion: matchMedia('(prefers-reduced-motion: reduce)').matches })
    this.#draw(performance.now())
  }

  #invalidate() { this.#frame ||= requestAnimationFrame((now) => this.#draw(now)) }

  #draw(now) {
    this.#frame = 0
    const camera = this.#camera
    if (!camera) return
    if (camera.advance(now)) this.#invalidate()
    const { scale, x, y } = camera.viewport
    this.#content.style.transform = `translate(${-x}px, ${-y}px) scale(${scale})`
    this.dispatchEvent(new Event('viewport'))
  }
}
