import { Rotation } from '../geometry/rotation.js'
import { createElement } from '../viewer/dom.js'
import { webURL } from '../web-url.js'
import { CropBar } from './bar.js'
import { cropHandles } from './crop-handles.js'
import { clamp, cropAddress, cropService, fitRatio, resizeFrame, straightAddress, wholePixels } from './crop-rect.js'
import { StraightenedSpace } from './straightened-space.js'

const MIN_SIZE = 48 // CSS px
const MARGIN = 24 // CSS px, so that no handle lies outside the window

/**
 * Crops the image by quarter turns, a straightening angle and a frame over the image. The frame is drawn first. Then its
 * content fills the window, with the available actions. The previous view is restored at the end.
 *
 * The frame is in the coordinates of `space`: pixels of the straightened image.
 */
export class Cropper {
  /** @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer with a source that has an IIIF service */
  constructor(viewer) {
    const { source, shadowRoot } = viewer
    Object.assign(this, { viewer, source, root: shadowRoot, image: source.pyramid.imageSize, ratio: null, format: 'jpg', isDone: false })
    this.surface = shadowRoot.querySelector('.surface')
    this.service = webURL(cropService(source), source.address).href
    this.element = createElement('div', { className: 'crop' })
    this.frameElement = createElement('div', { className: 'frame' })
    this.bar = new CropBar(this)
    this.createElements()
    // Only quarter turns yield a crop that is a region of the image.
    const { degrees, isFlipped } = this.viewport.rotation
    this.rotation = new Rotation(Math.round(degrees / 90) * 90, isFlipped)
    this.space = new StraightenedSpace(this.image, 0, isFlipped)
    /** The straightening angle in degrees, clockwise as displayed. */
    this.straightening = 0
    viewer.change((camera) => {
      this.savedView = { viewport: camera.destination, fitMode: camera.fitMode }
      camera.options.paging = false
    })
    viewer.setAttribute('cropping', '')
    this.root.append(this.element)
    this.updateInset()
    this.reset()
    this.addListeners()
    this.frameElement.firstChild.focus({ preventScroll: true })
  }

  addListeners() {
    this.abort = new AbortController()
    const { signal } = this.abort
    const { viewer, root, element } = this
    viewer.addEventListener('viewport', () => this.viewportChanged(), { signal })
    viewer.addEventListener('open', () => this.close(), { signal })
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
  get quarterTurns() {
    const { degrees, isFlipped } = this.viewport.rotation
    return new Rotation(Math.round((degrees - this.straightening) / 90) * 90, isFlipped)
  }

  get isUpright() { return this.quarterTurns.degrees % 180 === 0 }

  /**
   * Rotates the image below the frame. If a corner of the frame would leave the image, the frame becomes smaller.
   * @param {number} degrees clockwise as displayed
   */
  straighten(degrees) {
    const { quarterTurns, space } = this
    // The frame's size before the first straightening is restored with the angle.
    this.frameBefore ??= { center: space.center(this.frame), width: this.frame.width, height: this.frame.height }
    const { frameBefore } = this
    this.straightening = degrees
    this.space = new StraightenedSpace(this.image, degrees, quarterTurns.isFlipped)
    const whole = this.space.frameAround(frameBefore.center, frameBefore)
    const scale = Math.min(1, this.space.maxScale(whole))
    this.frame = this.space.frameAround(frameBefore.center, { width: frameBefore.width * scale, height: frameBefore.height * scale })
    const rotation = new Rotation(quarterTurns.degrees + degrees, quarterTurns.isFlipped)
    this.fitImage(rotation)
  }

  /** Shows the whole image with its initial rotation, and puts all of it into the frame. */
  reset() {
    this.ratio = this.frameBefore = null
    this.straightening = 0
    this.space = new StraightenedSpace(this.image, 0, this.rotation.isFlipped)
    this.frame = { x: 0, y: 0, ...this.image }
    this.fitImage(this.rotation)
    this.bar.reset()
  }

  fitImage(rotation = this.viewport.rotation) {
    this.viewer.change((camera) => {
      camera.stop()
      camera.fitMode = 'contain'
      camera.reshape({ rotation })
    })
    this.show()
  }

  /** Keeps the handles out of the toolbar and within the window. */
  updateInset() {
    const below = this.element.clientHeight - this.bar.element.offsetTop + MARGIN - 4
    this.surface.style.inset = this.container.style.inset = `${MARGIN}px ${MARGIN}px ${below}px`
  }

  /** Fits the framed part to the window and covers the rest. */
  finish() {
    this.isDone = true
    this.element.classList.add('done')
    this.bar.setDone(true)
    this.updateInset()
    this.showResult()
  }

  showResult() {
    const { frame, quarterTurns, viewport: { width, height } } = this
    const bounds = quarterTurns.bounds(frame.width, frame.height)
    const scale = Math.min(width / bounds.width, height / bounds.height)
    const center = this.space.center(frame)
    this.viewer.change((camera) => camera.show(camera.viewport.with({ scale }).centered(center)))
    this.show()
  }

  /** Returns to the frame and its handles. */
  edit() {
    this.element.classList.remove('done')
    this.bar.setDone(false)
    this.updateInset()
    this.fitImage()
    // From here on, the frame follows the image below it.
    this.isDone = false
  }

  /** Ends the crop and restores the rotation, the view and the page's address. */
  cancel() {
    this.close()
    const { viewer, source, savedView } = this
    const restoreView = () => {
      if (viewer.source === source) viewer.change((camera) => camera.restore(savedView))
    }
    restoreView()
    // The surface has its former size again in the next frame. Until then, the view must not be reported.
    viewer.setAttribute('cropping', '')
    requestAnimationFrame(() => requestAnimationFrame(() => {
      restoreView()
      viewer.removeAttribute('cropping')
    }))
  }

  close() {
    this.abort.abort()
    this.surface.style.inset = ''
    this.viewer.change(({ options }) => {
      options.paging = this.viewer.images.length > 1
      return false
    })
    this.element.remove()
    this.viewer.removeAttribute('cropping')
    this.viewer.focus({ preventScroll: true })
  }

  viewportChanged() {
    const { rotation, width, height } = this.viewport
    const { shownViewport } = this
    const isMoved = shownViewport.rotation.degrees === rotation.degrees && shownViewport.rotation.isFlipped === rotation.isFlipped
      && shownViewport.width === width && shownViewport.height === height
    if (isMoved && !this.isDone) {
      this.frameBefore = null
      this.frame = this.confine(this.toFrame(this.unconfinedBox))
      return this.show(this.unconfinedBox)
    }
    if (isMoved) return this.show()
    this.updateInset()
    if (this.isDone) this.showResult()
    else this.show()
  }

  confine(frame) {
    if (this.straightening) return this.space.confine(this.imageRatio ? fitRatio(frame, this.imageRatio) : frame)
    const width = Math.min(frame.width, this.image.width)
    const height = Math.min(frame.height, this.image.height)
    const confined = {
      width, height,
      x: clamp(frame.x, 0, this.image.width - width),
      y: clamp(frame.y, 0, this.image.height - height),
    }
    return this.imageRatio ? fitRatio(confined, this.imageRatio) : confined
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
    return this.straightening ? this.space.region(this.frame) : wholePixels(this.frame, this.image)
  }

  /** The address of the framed part as a file on the server. */
  get address() {
    const { straightening, source, region, viewport: { rotation }, format } = this
    if (straightening) return straightAddress(source.address, region, rotation, this.size, format)
    return cropAddress(this.service, this.frame, this.image, rotation, format)
  }

  /** The body of `POST /api/images/{id}/copies` for the framed part. */
  get copyRequest() {
    const { degrees, isFlipped } = this.quarterTurns
    return { region: this.region, rotation: degrees, flip: isFlipped, straighten: this.straightening }
  }

  /**
   * Locks the aspect ratio.
   * @param {number | null} ratio width divided by height as displayed; null for any ratio
   */
  setAspectRatio(ratio) {
    this.ratio = ratio
    this.frameBefore = null
    this.frame = this.confine(this.frame)
    this.show()
  }

  /** Converts a box in the window, in CSS pixels, to the frame's space. */
  toFrame({ x, y, width, height }) {
    const { viewport, isUpright } = this
    const center = viewport.imagePoint({ x: x + width / 2, y: y + height / 2 })
    const size = { width: width / viewport.scale, height: height / viewport.scale }
    return this.space.frameAround(center, isUpright ? size : { width: size.height, height: size.width })
  }

  /** Converts a frame to a box in the window, in CSS pixels: the inverse of `toFrame`. */
  toWindow(frame) {
    const { viewport, quarterTurns } = this
    const { x, y } = viewport.viewportPoint(this.space.center(frame))
    const { width, height } = quarterTurns.bounds(frame.width * viewport.scale, frame.height * viewport.scale)
    return { x: x - width / 2, y: y - height / 2, width, height }
  }

  /** Displays the frame. `box` is its box before it was confined to the image. */
  show(box) {
    const { frame } = this
    this.shownViewport = this.viewport
    const bounds = this.toWindow(frame)
    this.unconfinedBox = box ?? bounds
    const { x, y, width, height } = bounds
    Object.assign(this.frameElement.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` })
    this.bar.show()
  }

  dragHandle(handle, dx, dy, from) {
    const { quarterTurns, space, viewport: { scale } } = this
    const by = quarterTurns.undo({ x: dx, y: dy })
    const own = quarterTurns.undo(handle)
    const ownHandle = { x: Math.round(own.x), y: Math.round(own.y) }
    const limits = { minSize: MIN_SIZE / scale, ratio: this.imageRatio }
    const resized = (frame, x, y) => resizeFrame(frame, ownHandle, x / scale, y / scale, space.size, limits)
    this.frameBefore = null
    if (!this.straightening) this.frame = resized(from, by.x, by.y)
    else if (this.ratio) this.frame = space.moveWithin(from, resized(from, by.x, by.y))
    else {
      // One axis after the other, so that the frame slides along an edge.
      const across = space.moveWithin(from, resized(from, by.x, 0))
      this.frame = space.moveWithin(across, resized(across, 0, by.y))
    }
    this.show()
  }

  createElements() {
    this.frameElement.append(...cropHandles(this))
    this.container = createElement('div', { className: 'holder' }, this.frameElement)
    this.element.append(this.container, this.bar.element)
  }
}
