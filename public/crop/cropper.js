import { bounds } from '../geometry/bounds.js'
import { text } from '../text/english.js'
import { copyText } from '../viewer/dialog.js'
import { button, make } from '../viewer/element.js'
import { HANDLES, between, cropAddress, drawn, inscribed, wholePixels } from './frame.js'

const LEAST = 48 // CSS px
const STEP = 8
const RATIOS = [null, 1, 3 / 2, 4 / 3, 16 / 9]

export function cropService(source) {
  const { iiif3, iiif2 } = source?.details.urls ?? {}
  return iiif3 ?? iiif2 ?? null
}

export class Cropper {
  constructor(viewer) {
    const { source, shadowRoot } = viewer
    Object.assign(this, { viewer, root: shadowRoot, image: source.pyramid.imageSize, ratio: null, format: 'jpg', isNew: true })
    this.surface = shadowRoot.querySelector('.surface')
    this.service = new URL(cropService(source), document.baseURI).href
    this.element = make('div', { className: 'crop' })
    this.box = make('div', { className: 'frame' })
    this.build()
    this.stop = new AbortController()
    const { signal } = this.stop
    viewer.addEventListener('viewport', () => this.follow(), { signal })
    viewer.addEventListener('open', () => this.close(), { signal })
    this.element.onkeydown = (event) => event.stopPropagation()
    // Before the viewer, which would leave the page or turn it.
    viewer.addEventListener('keydown', (event) => {
      if (shadowRoot.querySelector('dialog')) return
      if (event.key === 'Escape') this.close()
      else if (!event.key.startsWith('Page')) return
      event.stopImmediatePropagation()
    }, { signal, capture: true })
    viewer.change(({ options }) => { options.paging = false })
    // Only quarter turns make a crop that is a part of the image.
    const { turn } = this.viewport
    if (turn.degrees % 90 !== 0) viewer.rotate(Math.round(turn.degrees / 90) * 90 - turn.degrees)
    viewer.setAttribute('cropping', '')
    this.root.append(this.element)
    this.start()
    this.clear()
    this.box.firstChild.focus({ preventScroll: true })
  }

  get viewport() { return this.viewer.viewport }

  start() {
    const { width, height } = this.viewport
    const inset = Math.min(width, height) * 0.12
    const box = { x: inset, y: inset, width: width - 2 * inset, height: height - 2 * inset }
    this.frame = wholePixels(this.held(this.toImage(box)), this.image)
    this.show()
  }

  /** No handle gets behind the bar. */
  clear() {
    this.surface.style.bottom = `${this.element.clientHeight - this.element.lastChild.offsetTop + 20}px`
  }

  close() {
    this.stop.abort()
    this.surface.style.bottom = ''
    this.viewer.change(({ options }) => { options.paging = this.viewer.images.length > 1 })
    this.element.remove()
    this.viewer.removeAttribute('cropping')
    this.viewer.focus({ preventScroll: true })
  }

  follow() {
    const { turn, width, height } = this.viewport
    const { shown } = this
    if (shown.turn.degrees === turn.degrees && shown.turn.isFlipped === turn.isFlipped
      && shown.width === width && shown.height === height) {
      this.frame = this.held(this.toImage(this.place))
      return this.show(this.place)
    }
    this.clear()
    // The first change is the bar's own.
    if (this.isNew) this.start()
    else this.show()
    this.isNew = false
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

  toImage(box) { return bounds(ends(box).map((point) => this.viewport.imagePoint(point))) }

  /** `place`: where it belongs, were it not for the picture's edge. */
  show(place) {
    const { frame } = this
    this.shown = this.viewport
    const seen = bounds(ends(frame).map((point) => this.viewport.viewportPoint(point)))
    this.place = place ?? seen
    const { x, y, width, height } = seen
    Object.assign(this.box.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` })
    this.address = cropAddress(this.service, frame, this.image, this.viewport.turn, this.format)
    this.field.value = this.link.href = this.address
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
    HANDLES.forEach((handle, index) => this.box.append(this.grip(handle, text.handles[index])))
    this.box.append(this.grip({ x: 0, y: 0 }, text.moveFrame))
    this.field = make('input', { className: 'address', readOnly: true, ariaLabel: text.cropAddress })
    this.link = make('a', { className: 'wide', textContent: text.download, download: '' })
    const turn = (degrees) => () => this.viewer.rotate(degrees)
    const bar = make('div', { className: 'cropbar', role: 'toolbar', ariaLabel: text.crop },
      choice(text.ratio, text.ratios, (index) => {
        this.ratio = RATIOS[index]
        this.frame = this.held(this.frame)
        this.show()
      }),
      button('wide', text.turnLeft, turn(-90), '↺'), button('wide', text.turnRight, turn(90), '↻'),
      choice(text.format, ['JPEG', 'PNG', 'WebP'], (index) => {
        this.format = ['jpg', 'png', 'webp'][index]
        this.show()
      }),
      this.field,
      button('wide', text.copyAddress, async () => {
        if (await copyText(this.root, text.copyAddress, this.address)) this.viewer.say(text.copied)
      }, text.copy),
      this.link, button('wide', text.done, () => this.close()))
    this.element.append(this.box, bar)
  }
}

function ends({ x, y, width, height }) { return [{ x, y }, { x: x + width, y: y + height }] }

function choice(name, options, chosen) {
  const onchange = ({ target }) => chosen(target.selectedIndex)
  return make('select', { className: 'wide', ariaLabel: name, onchange }, ...options.map((option) => new Option(option)))
}
