import { bounds } from '../geometry/bounds.js'
import { Turn } from '../geometry/turn.js'
import { doing } from '../text/doing.js'
import { button, make } from '../viewer/element.js'
import { CropBar } from './bar.js'
import { HANDLES, between, cropAddress, cropService, drawn, inscribed, wholePixels } from './frame.js'

const LEAST = 48 // CSS px
const STEP = 8 // CSS px
const MARGIN = 24 // CSS px, so that no handle lies beyond the window

/**
 * Cuts a part out of the picture, by quarter turns and a frame over the picture: first the frame is drawn, then what is
 * in it stays on the screen with what can be done with it. Whatever was seen before comes back at the end.
 *
 * The frame is in pixels of the image, whole ones.
 */
export class Cropper {
  /** @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer with a source that has an IIIF service */
  constructor(viewer) {
    const { source, shadowRoot } = viewer
    Object.assign(this, { viewer, source, root: shadowRoot, image: source.pyramid.imageSize, ratio: null, format: 'jpg', isDone: false })
    this.surface = shadowRoot.querySelector('.surface')
    this.service = new URL(cropService(source), source.address ?? document.baseURI).href
    this.element = make('div', { className: 'crop' })
    this.box = make('div', { className: 'frame' })
    this.bar = new CropBar(this)
    this.build()
    // Only quarter turns make a crop that is a part of the image.
    const { degrees, isFlipped } = this.viewport.turn
    this.turn = new Turn(Math.round(degrees / 90) * 90, isFlipped)
    viewer.change((camera) => {
      this.before = { viewport: camera.viewport, kept: camera.kept }
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
    // Before the viewer, which would leave the page or turn it.
    viewer.addEventListener('keydown', (event) => {
      if (root.querySelector('dialog')) return
      const isPage = event.key.startsWith('Page') || event.key.startsWith('Arrow') && event.composedPath()[0] === viewer
      if (event.key === 'Escape') this.cancel()
      else if (!isPage && !(this.isDone && event.composedPath()[0] === viewer)) return
      event.stopImmediatePropagation()
    }, { signal, capture: true })
    // What is cut out stays as it is.
    viewer.addEventListener('wheel', (event) => {
      if (!this.isDone) return
      event.preventDefault()
      event.stopImmediatePropagation()
    }, { signal, capture: true, passive: false })
  }

  get viewport() { return this.viewer.viewport }

  /** The whole picture the way it was turned at first, and all of it in the frame. */
  reset() {
    this.ratio = null
    this.frame = { x: 0, y: 0, ...this.image }
    this.showWhole(this.turn)
    this.bar.showRatio(0)
  }

  showWhole(turn = this.viewport.turn) {
    this.viewer.change((camera) => {
      camera.stop()
      camera.kept = 'contain'
      camera.reshape({ turn })
    })
    this.show()
  }

  /** No handle gets behind the bar, or out of the window. */
  clear() {
    const below = this.element.clientHeight - this.bar.element.offsetTop + MARGIN - 4
    this.surface.style.inset = this.holder.style.inset = `${MARGIN}px ${MARGIN}px ${below}px`
  }

  /** What is in the frame fills the window, and all else is covered. */
  finish() {
    this.isDone = true
    this.element.classList.add('done')
    this.bar.showDone(true)
    this.clear()
    this.present()
  }

  present() {
    const { frame, viewport: { turn, width, height } } = this
    const seen = turn.bounds(frame.width, frame.height)
    const scale = Math.min(width / seen.width, height / seen.height)
    const center = { x: frame.x + frame.width / 2, y: frame.y + frame.height / 2 }
    this.viewer.change((camera) => camera.show(camera.viewport.with({ scale }).centered(center)))
    this.show()
  }

  /** Back to the frame and its handles. */
  edit() {
    this.element.classList.remove('done')
    this.bar.showDone(false)
    this.clear()
    this.showWhole()
    // From here on the frame follows what is below it.
    this.isDone = false
  }

  /** Ends it with everything as it was before: turn, view, and so the page's address. */
  cancel() {
    this.end()
    const { viewer, source, before } = this
    const back = () => {
      if (viewer.source === source) viewer.change((camera) => camera.comeBack(before))
    }
    back()
    // The surface has its size again in the next frame; until then this is no view to be told of.
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
    const { turn, width, height } = this.viewport
    const { shown } = this
    const isMoved = shown.turn.degrees === turn.degrees && shown.turn.isFlipped === turn.isFlipped
      && shown.width === width && shown.height === height
    if (isMoved && !this.isDone) {
      this.frame = this.held(this.toImage(this.place))
      return this.show(this.place)
    }
    if (isMoved) return this.show()
    this.clear()
    if (this.isDone) this.present()
    else this.show()
  }

  held(frame) {
    const width = Math.min(frame.width, this.image.width)
    const height = Math.min(frame.height, this.image.height)
    const held = {
      width, height,
      x: between(frame.x, 0, this.image.width - width),
      y: between(frame.y, 0, this.image.height - height),
    }
    return this.imageRatio ? inscribed(held, this.imageRatio) : held
  }

  get imageRatio() {
    if (!this.ratio) return null
    return this.viewport.turn.degrees % 180 === 0 ? this.ratio : 1 / this.ratio
  }

  /** Pixels of what comes of it, the way it is turned. */
  get size() {
    const { width, height } = wholePixels(this.frame, this.image)
    return this.viewport.turn.degrees % 180 === 0 ? { width, height } : { width: height, height: width }
  }

  /** Where the service has what is in the frame, as a file. */
  get address() { return cropAddress(this.service, this.frame, this.image, this.viewport.turn, this.format) }

  /** @param {number | null} ratio width through height as it is seen; null where any will do */
  lock(ratio) {
    this.ratio = ratio
    this.frame = this.held(this.frame)
    this.show()
  }

  toImage(box) { return bounds(ends(box).map((point) => this.viewport.imagePoint(point))) }

  /** `place`: where it belongs, were it not for the picture's edge. */
  show(place) {
    const { frame } = this
    this.shown = this.viewport
    const seen = bounds(ends(frame).map((point) => this.viewport.viewportPoint(point)))
    this.place = place ?? seen
    const { x, y, width, height } = seen
    Object.assign(this.box.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` })
    this.bar.show()
  }

  draw(handle, dx, dy, from) {
    const { turn, scale } = this.viewport
    const by = turn.undo({ x: dx, y: dy })
    const own = turn.undo(handle)
    this.frame = drawn(from, { x: Math.round(own.x), y: Math.round(own.y) }, by.x / scale, by.y / scale, this.image,
      { least: LEAST / scale, ratio: this.imageRatio })
    this.show()
  }

  grip(handle, name) {
    const grip = button('grip', name, null, '')
    let hold = null
    grip.onpointerdown = (event) => {
      event.stopPropagation()
      grip.setPointerCapture(event.pointerId)
      hold = { x: event.clientX, y: event.clientY, frame: this.frame }
      this.element.classList.add('moving')
    }
    grip.onpointermove = (event) => {
      if (hold) this.draw(handle, event.clientX - hold.x, event.clientY - hold.y, hold.frame)
    }
    grip.onlostpointercapture = () => {
      hold = null
      this.element.classList.remove('moving')
    }
    grip.onkeydown = (event) => {
      const step = event.shiftKey ? 1 : STEP
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key]
      if (!way) return
      event.preventDefault()
      this.draw(handle, way[0] * step, way[1] * step, this.frame)
    }
    return grip
  }

  build() {
    const say = doing(this.viewer)
    HANDLES.forEach((handle, index) => this.box.append(this.grip(handle, say('handles')[index])))
    this.box.append(this.grip({ x: 0, y: 0 }, say('moveFrame')))
    this.holder = make('div', { className: 'holder' }, this.box)
    this.element.append(this.holder, this.bar.element)
  }
}

function ends({ x, y, width, height }) { return [{ x, y }, { x: x + width, y: y + height }] }
