import { levelMatrix } from '../drawing/tile-layout.js'
import { readBytes } from '../sources/size-limit.js'
import { request, webURL } from '../web-url.js'
import { createElement } from './dom.js'

const DEFAULT_DURATION = 100 // ms of a frame without a duration
/** Maximum bytes of an animation, which is held in memory as a whole. */
const MAX_BYTES = 512 << 20

/**
 * An animated image, drawn over the tiles of its first frame and moved with them. It uses an `ImageDecoder` if the browser
 * has one.
 */
export class Animation {
  constructor(viewer, { type, url }, base, plays) {
    this.viewer = viewer
    // Without a decoder, the browser plays the file itself, and a pause shows the first frame.
    this.canvas = createElement(globalThis.ImageDecoder ? 'canvas' : 'img', { className: 'moving' })
    this.frame = 0
    this.plays = false
    /** Tiles without transparency have a white background, so the animation has one, too. */
    this.isClear = !['jpg', 'jpeg'].includes(viewer.source.details.format)
    if (!this.isClear) this.canvas.style.background = '#fff'
    this.closed = new AbortController()
    viewer.addEventListener('viewport', () => this.position(), { signal: this.closed.signal })
    this.ready = this.load(webURL(url, base), type, plays).catch(() => {})
  }

  async load(url, type, plays) {
    if (globalThis.ImageDecoder) {
      const response = await request(url, { signal: this.closed.signal })
      if (!response.ok) return
      this.decoder = new ImageDecoder({ data: await readBytes(response, MAX_BYTES), type })
      await Promise.all([this.decoder.tracks.ready, this.decoder.completed])
      this.count = this.decoder.tracks.selectedTrack.frameCount
    } else {
      this.canvas.src = webURL(url).href
      await this.canvas.decode()
      this.count = 1
    }
    if (this.closed.signal.aborted) return
    this.notify()
    if (plays) this.toggle()
  }

  toggle() {
    if (!this.count) return
    this.plays = !this.plays
    clearTimeout(this.timer)
    this.notify()
    if (this.decoder) return this.plays && this.next()
    this.viewer.cover(this.canvas, this.plays)
    this.position()
  }

  step(by) {
    if (this.plays) this.toggle()
    return this.show(this.frame + by)
  }

  async next() {
    const due = performance.now()
    const time = await this.show(this.frame + 1)
    if (this.plays && time) this.timer = setTimeout(() => this.next(), Math.max(0, due + time - performance.now()))
  }

  async show(index) {
    if (!this.decoder) return 0
    this.frame = (index % this.count + this.count) % this.count
    const wanted = this.frame
    const { image } = await this.decoder.decode({ frameIndex: wanted }).catch(() => ({}))
    if (!image || this.closed.signal.aborted) return 0
    const time = image.duration ? image.duration / 1000 : DEFAULT_DURATION
    if (this.frame === wanted) this.draw(image)
    image.close()
    return time
  }

  draw(image) {
    const { canvas } = this
    canvas.width = image.displayWidth
    canvas.height = image.displayHeight
    const context = canvas.getContext('2d')
    if (!this.isClear) {
      context.fillStyle = '#fff'
      context.fillRect(0, 0, canvas.width, canvas.height)
    }
    context.drawImage(image, 0, 0)
    canvas.dataset.frame = this.frame
    if (!canvas.isConnected) this.viewer.cover(canvas, true)
    this.position()
  }

  position() {
    const { viewport, source } = this.viewer
    if (!viewport || !source || !this.canvas.isConnected) return
    const { width, height } = source.pyramid.imageSize
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` })
    this.canvas.style.transform = `matrix(${levelMatrix(viewport, 1, 1)})`
  }

  paint(context, ratio) {
    const { viewport, source } = this.viewer
    const { width, height } = source.pyramid.imageSize
    context.setTransform(...levelMatrix(viewport, 1, ratio))
    context.drawImage(this.canvas, 0, 0, width, height)
  }

  notify() { this.viewer.dispatchEvent(new CustomEvent('motion', { detail: this.plays })) }

  close() {
    this.closed.abort()
    this.plays = false
    clearTimeout(this.timer)
    this.decoder?.close()
    this.canvas.remove()
  }
}
