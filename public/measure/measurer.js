import { menusTranslator } from '../i18n/menus.js'
import { viewerTranslator } from '../i18n/viewer.js'
import { formatLength } from '../viewer/descriptions.js'
import { button, createElement } from '../viewer/dom.js'

const STEP = 8 // CSS px
const MARGIN = 24 // CSS px, so that no end lies outside the window

/** @typedef {{ x: number, y: number }} Point */

/**
 * A ruler over the image, which shows its physical length. The ends, in image pixels, are moved by pointer or arrow keys.
 * The image can still be panned and zoomed.
 *
 * It closes with the image, by its button, or by Esc.
 */
export class Measurer {
  /** @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer its source must have `micronsPerPixel` */
  constructor(viewer) {
    viewer.dispatchEvent(new Event('measure'))
    this.viewer = viewer
    this.t = menusTranslator(viewer)
    this.micronsPerPixel = viewer.source.details.micronsPerPixel
    const { viewport } = viewer
    const { width, height } = viewport
    // At one and three quarters of the window's width.
    this.ends = [1, 3].map((part) => viewport.imagePoint({ x: width * part / 4, y: height / 2 }))
    this.line = createElement('span', { className: 'span', ariaHidden: 'true' })
    this.output = createElement('output', { className: 'length' })
    this.handles = this.ends.map((_, index) => this.createHandle(index))
    const close = button('wide', viewerTranslator(viewer)('close'), () => this.close(), '×')
    this.label = createElement('div', { className: 'label' }, this.output, close)
    this.element = createElement('div', { className: 'measure', role: 'group', ariaLabel: this.t('measure') }, this.line, ...this.handles, this.label)
    viewer.shadowRoot.querySelector('.surface').after(this.element)
    this.addListeners()
    this.show()
    this.handles[1].focus({ preventScroll: true })
  }

  /** The length in microns. */
  get length() {
    const [from, to] = this.ends
    return Math.hypot(to.x - from.x, to.y - from.y) * this.micronsPerPixel
  }

  addListeners() {
    this.abort = new AbortController()
    const { signal } = this.abort
    const { viewer } = this
    viewer.addEventListener('viewport', () => this.show(), { signal })
    for (const name of ['open', 'page', 'measure', 'error']) viewer.addEventListener(name, () => this.close(), { signal })
    // Before the viewer's listener, which would leave the page.
    viewer.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || viewer.shadowRoot.querySelector('dialog, .menu')) return
      event.stopImmediatePropagation()
      this.close()
    }, { signal, capture: true })
  }

  close() {
    this.abort.abort()
    const hadFocus = this.element.contains(this.viewer.shadowRoot.activeElement)
    this.element.remove()
    if (hadFocus) this.viewer.focus({ preventScroll: true })
  }

  /** Places the ends in the window and shows the length. */
  show() {
    const { viewport } = this.viewer
    if (!viewport) return
    const [from, to] = this.ends.map((end) => viewport.viewportPoint(end))
    this.handles.forEach((handle, index) => {
      const { x, y } = [from, to][index]
      handle.style.translate = `calc(${x}px - 50%) calc(${y}px - 50%)`
    })
    const [across, down] = [to.x - from.x, to.y - from.y]
    this.line.style.width = `${Math.hypot(across, down)}px`
    this.line.style.transform = `translate(${from.x}px, ${from.y}px) rotate(${Math.atan2(down, across)}rad)`
    const text = formatLength(this.length, viewerTranslator(this.viewer))
    if (this.output.value !== text) this.output.value = text
    // Beside the center of the line, within the window.
    const { offsetWidth, offsetHeight } = this.label
    const inside = (at, size, max) => Math.min(Math.max(at, MARGIN), Math.max(max - size - MARGIN, MARGIN))
    const x = inside((from.x + to.x - offsetWidth) / 2, offsetWidth, viewport.width)
    const y = inside((from.y + to.y) / 2 + MARGIN, offsetHeight, viewport.height)
    this.label.style.translate = `${x}px ${y}px`
  }

  /**
   * Moves an end by CSS pixels, within the image.
   * @param {number} index
   * @param {Point} from its position before, in CSS pixels of the window
   * @param {number} dx
   * @param {number} dy
   */
  moveEnd(index, from, dx, dy) {
    const { viewport, source: { pyramid: { imageSize } } } = this.viewer
    const point = viewport.imagePoint({ x: from.x + dx, y: from.y + dy })
    this.ends[index] = {
      x: Math.min(Math.max(point.x, 0), imageSize.width), y: Math.min(Math.max(point.y, 0), imageSize.height),
    }
    this.show()
  }

  createHandle(index) {
    const handle = button('end', this.t('measureEnds')[index], null, '')
    const place = () => this.viewer.viewport.viewportPoint(this.ends[index])
    let start = null
    handle.onpointerdown = (event) => {
      event.stopPropagation()
      handle.setPointerCapture(event.pointerId)
      start = { x: event.clientX, y: event.clientY, from: place() }
    }
    handle.onpointermove = (event) => {
      if (start) this.moveEnd(index, start.from, event.clientX - start.x, event.clientY - start.y)
    }
    handle.onlostpointercapture = () => { start = null }
    handle.onkeydown = (event) => {
      const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key]
      if (!direction) return
      event.preventDefault()
      event.stopPropagation()
      const step = event.shiftKey ? 1 : STEP
      this.moveEnd(index, place(), direction[0] * step, direction[1] * step)
    }
    return handle
  }
}
