import { Rotation } from '../geometry/rotation.js'
import { createElement } from '../viewer/element.js'
import { webURL } from '../web-url.js'
import { CropBar } from './bar.js'
import { cropHandles } from './crop-handles.js'
import { clamp, cropAddress, cropService, fitRatio, resizeFrame, straightAddress, wholePixels } from './frame.js'
import { StraightenedSpace } from './straightened-space.js'

const LEAST = 48 // CSS px
const MARGIN = 24 // CSS px, so that no handle lies outside the window

/**
 * Crops the image by quarter turns, a straightening angle and a frame over the image. The frame is drawn first. Then its
 * content fills the window, with the available actions. The previous view is restored at the end.
 *
 * The frame is in the space of `level`: pixels of the straightened image.
 */
export class Cropper {
  /** @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer with a source that has an IIIF service */
  constructor(viewer) {
    const { source, shadowRoot } = viewer
    Object.assign(this, { viewer, source, root: shadowRoot, image: source.pyramid.imageSize, ratio: null, format: 'jpg', isDone: false })
    this.surface = shadowRoot.querySelector('.surface')
    this.service = webURL(cropService(source), source.address).href
    this.element = createElement('div', { className: 'crop' })
    this.box = createElement('div', { className: 'frame' })
    this.bar = new CropBar(this)
    this.build()
    // Only quarter turns yield a crop that is a region of the image.
    const { degrees, isFlipped } = this.viewport.rotation
    this.rotation = new Rotation(Math.round(degrees / 90) * 90, isFlipped)
    this.level = new StraightenedSpace(this.image, 0, isFlipped)
    /** The straightening angle in degrees, clockwise as displayed. */
    this.straightening = 0
    viewer.change((camera) => {
      this.before = { viewport: camera.destination, fitMode: camera.fitMode }
      camera.options.paging = false
    })
    viewer.setAttribute('cropping', '')
    this.root.append(this.element)
    this.clear()
    this.reset()
    this.listen()
    this.box.firstChild.focus({ preventScroll: true })
  }

  listen() {
    this.stop = new AbortController()
    const { signal } = this.stop
    const { viewer, root, element } = this
    viewer.addEventListener('viewport', () => this.follow(), { signal })
    viewer.addEventListener('open', () => this.end(), { signal })
    element.onkeydown = (event) => event.stopPropagation()
    // Before the viewer's listener, which would leave the page or turn it.
    viewer.addEventListener('keydown', (event) => {
      if (root.querySelector('dialog')) return
      const isPage = event.key.startsWith('Page') || event.key.startsWith('Arrow') && event.composedPath()[0] === viewer
      if (event.key === 'Escape') this.cancel()
      else if (!isPage && !(this.isDone && event.composedPath()[0] === viewer)) return
      event.stopImmediatePropagation()
    }, { signal, capture: true })
    // The result does not zoom.
    viewer.addEventListener('wheel', (event) => {
      if (!this.isDone) return
      event.preventDefault()
      event.stopImmediatePropagation()
    }, { signal, capture: true, passive: false })
  }

  get viewport() { return this.viewer.viewport }

  /** Whether the server can straighten images: only a Ziggurat server can. */
  get canStraighten() { return Boolean(this.source.address && this.source.details.generation) }

  /** The quarter turns and mirroring that map the frame's space to directions of the window. */
  get quarters() {
    const { degrees, isFlipped } = this.viewport.rotation
    return new Rotation(Math.round((degrees - this.straightening) / 90) * 90, isFlipped)
  }

  get isUpright() { return this.quarters.degrees % 180 === 0 }

  /**
   * Rotates the image below the frame. If a corner of the frame would leave the image, the frame becomes smaller.
   * @param {number} degrees clockwise as displayed
   */
  straighten(degrees) {
    const { quarters, level } = this
    // The frame's size before the first straightening is restored with the angle.
    this.upright ??= { middle: level.middle(this.frame), width: this.frame.width, height: this.frame.height }
    const { upright } = this
    this.straightening = degrees
    this.level = new StraightenedSpace(this.image, degrees, quarters.isFlipped)
    const whole = this.level.about(upright.middle, upright)
    const room = Math.min(1, this.level.room(whole))
    this.frame = this.level.about(upright.middle, { width: upright.width * room, height: upright.height * room })
    const rotation = new Rotation(quarters.degrees + degrees, quarters.isFlipped)
    this.showWhole(rotation)
  }

  /** Shows the whole image with its initial rotation, and puts all of it into the frame. */
  reset() {
    this.ratio = this.upright = null
    this.straightening = 0
    this.level = new StraightenedSpace(this.image, 0, this.rotation.isFlipped)
    this.frame = { x: 0, y: 0, ...this.image }
    this.showWhole(this.rotation)
    this.bar.showStart()
  }

  showWhole(rotation = this.viewport.rotation) {
    this.viewer.change((camera) => {
      camera.stop()
      camera.fitMode = 'contain'
      camera.reshape({ rotation })
    })
    this.show()
  }

  /** Keeps the handles out of the toolbar and within the window. */
  clear() {
    const below = this.element.clientHeight - this.bar.element.offsetTop + MARGIN - 4
    this.surface.style.inset = this.holder.style.inset = `${MARGIN}px ${MARGIN}px ${below}px`
  }

  /** Fits the framed part to the window and covers the rest. */
  finish() {
    this.isDone = true
    this.element.classList.add('done')
    this.bar.showDone(true)
    this.clear()
    this.present()
  }

  present() {
    const { frame, quarters, viewport: { width, height } } = this
    const seen = quarters.bounds(frame.width, frame.height)
    const scale = Math.min(width / seen.width, height / seen.height)
    const center = this.level.middle(frame)
    this.viewer.change((camera) => camera.show(camera.viewport.with({ scale }).centered(center)))
    this.show()
  }

  /** Returns to the frame and its handles. */
  edit() {
    this.element.classList.remove('done')
    this.bar.showDone(false)
    this.clear()
    this.showWhole()
    // From here on, the frame follows the image below it.
    this.isDone = false
  }

  /** Ends the crop and restores the rotation, the view and the page's address. */
  cancel() {
    this.end()
    const { viewer, source, before } = this
    const back = () => {
      if (viewer.source === source) viewer.change((camera) => camera.restore(before))
    }
    back()
    // The surface has its former size again in the next frame. Until then, the view must not be reported.
    viewer.setAttribute('cropping', '')
    requestAnimationFrame(() => requestAnimationFrame(() => {
      back()
      viewer.removeAttribute('cropping')
    }))
  }

  end() {
    this.stop.abort()
    this.surface.style.inset = ''
    this.viewer.change(({ options }) => {
      options.paging = this.viewer.images.length > 1
      return false
    })
    this.element.remove()
    this.viewer.removeAttribute('cropping')
    this.viewer.focus({ preventScroll: true })
  }

  follow() {
    const { rotation, width, height } = this.viewport
    const { shown } = this
    const isMoved = shown.rotation.degrees === rotation.degrees && shown.rotation.isFlipped === rotation.isFlipped
      && shown.width === width && shown.height === height
    if (isMoved && !this.isDone) {
      this.upright = null
      this.frame = this.held(this.toFrame(this.place))
      return this.show(this.place)
    }
    if (isMoved) return this.show()
    this.clear()
    if (this.isDone) this.present()
    else this.show()
  }

  held(frame) {
    if (this.straightening) return this.level.held(this.imageRatio ? fitRatio(frame, this.imageRatio) : frame)
    const width = Math.min(frame.width, this.image.width)
    const height = Math.min(frame.height, this.image.height)
    const held = {
      width, height,
      x: clamp(frame.x, 0, this.image.width - width),
      y: clamp(frame.y, 0, this.image.height - height),
    }
    return this.imageRatio ? fitRatio(held, this.imageRatio) : held
  }

  get imageRatio() {
    if (!this.ratio) return null
    return this.isUpright ? this.ratio : 1 / this.ratio
  }

  /** The size of the result in pixels, as rotated. */
  get size() {
    const { width, height } = this.region
    return this.isUpright ? { width, height } : { width: height, height: width }
  }

  /** The region of the image in whole pixels, before the rotation. */
  get region() {
    return this.straightening ? this.level.region(this.frame) : wholePixels(this.frame, this.image)
  }

  /** The address of the framed part as a file on the server. */
  get address() {
    const { straightening, source, region, viewport: { rotation }, format } = this
    if (straightening) return straightAddress(source.address, region, rotation, this.size, format)
    return cropAddress(this.service, this.frame, this.image, rotation, format)
  }

  /** The body of `POST /api/images/{id}/copies` for the framed part. */
  get wish() {
    const { degrees, isFlipped } = this.quarters
    return { region: this.region, rotation: degrees, flip: isFlipped, straighten: this.straightening }
  }

  /**
   * Locks the aspect ratio.
   * @param {number | null} ratio width divided by height as displayed; null for any ratio
   */
  lock(ratio) {
    this.ratio = ratio
    this.upright = null
    this.frame = this.held(this.frame)
    this.show()
  }

  /** Converts a box in the window, in CSS pixels, to the frame's space. */
  toFrame({ x, y, width, height }) {
    const { viewport, isUpright } = this
    const middle = viewport.imagePoint({ x: x + width / 2, y: y + height / 2 })
    const size = { width: width / viewport.scale, height: height / viewport.scale }
    return this.level.about(middle, isUpright ? size : { width: size.height, height: size.width })
  }

  /** Converts a frame to a box in the window, in CSS pixels: the inverse of `toFrame`. */
  toWindow(frame) {
    const { viewport, quarters } = this
    const { x, y } = viewport.viewportPoint(this.level.middle(frame))
    const { width, height } = quarters.bounds(frame.width * viewport.scale, frame.height * viewport.scale)
    return { x: x - width / 2, y: y - height / 2, width, height }
  }

  /** Displays the frame. `place` is its box before it was confined to the image. */
  show(place) {
    const { frame } = this
    this.shown = this.viewport
    const seen = this.toWindow(frame)
    this.place = place ?? seen
    const { x, y, width, height } = seen
    Object.assign(this.box.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` })
    this.bar.show()
  }

  draw(handle, dx, dy, from) {
    const { quarters, level, viewport: { scale } } = this
    const by = quarters.undo({ x: dx, y: dy })
    const own = quarters.undo(handle)
    const held = { x: Math.round(own.x), y: Math.round(own.y) }
    const limits = { least: LEAST / scale, ratio: this.imageRatio }
    const after = (frame, x, y) => resizeFrame(frame, held, x / scale, y / scale, level.size, limits)
    this.upright = null
    if (!this.straightening) this.frame = after(from, by.x, by.y)
    else if (this.ratio) this.frame = level.toward(from, after(from, by.x, by.y))
    else {
      // One axis after the other, so that the frame slides along an edge.
      const across = level.toward(from, after(from, by.x, 0))
      this.frame = level.toward(across, after(across, 0, by.y))
    }
    this.show()
  }

  build() {
    this.box.append(...cropHandles(this))
    this.holder = createElement('div', { className: 'holder' }, this.box)
    this.element.append(this.holder, this.bar.element)
  }
}
