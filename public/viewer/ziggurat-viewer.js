// @ts-check
import { Turn } from '../geometry/turn.js'
import { keyCommand } from '../gestures/keys.js'
import { listen } from '../gestures/surface.js'
import { openSource } from '../sources/open.js'
import { SourceError } from '../sources/source.js'
import { text } from '../text/english.js'
import { makeControls } from './controls.js'
import { Stage } from './stage.js'

/**
 * @typedef {import('../geometry/pyramid.js').Point} Point
 * @typedef {import('../geometry/viewport.js').Viewport} Viewport
 */

/** CSS pixels an arrow key moves, and the factor of a zoom key. */
const STEP = { pan: 96, zoom: 1.5 }

/**
 * `<ziggurat-viewer src="…">`: one image to zoom into. `src` is an image's API URL or a .dzi.
 *
 * Events, none of which bubbles: `open` (the description was read), `viewport` (it moved), `settle`
 * (it came to rest), `sharp` (every tile of the view is drawn), `chrome` (a tap shows or hides the
 * controls; the attribute `quiet` says which), `error` (detail: the Error).
 */
export class ZigguratViewer extends HTMLElement {
  static observedAttributes = ['src']

  #internals = this.attachInternals()
  #canvas = document.createElement('canvas')
  #notice = document.createElement('p')
  #controls = makeControls((command) => this.run(command))
  #stage = new Stage(this.#canvas, {
    moved: () => this.#moved(),
    settled: () => this.#tell('settle'),
    sharp: () => this.#tell('sharp'),
    missing: (count) => this.#say(text.missingTiles(count)),
  })
  /** @type {AbortController | null} */
  #opening = null
  /** @type {AbortController | null} */
  #connected = null
  /** @type {Promise<unknown>} */
  #styled
  /** @type {() => void} */
  #measured = () => {}
  /** A view means nothing before the window has a size. */
  #size = new Promise((done) => { this.#measured = () => done(undefined) })

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open' })
    const sheet = document.createElement('link')
    sheet.rel = 'stylesheet'
    sheet.href = new URL('./viewer.css', import.meta.url).href
    // Before the sheet is there nothing has its place or size.
    this.#controls.bar.hidden = true
    this.#styled = new Promise((done) => {
      const arrive = () => {
        this.#controls.bar.hidden = false
        done(undefined)
      }
      sheet.addEventListener('load', arrive)
      sheet.addEventListener('error', arrive)
    })
    this.#notice.className = 'notice'
    this.#notice.setAttribute('role', 'status')
    this.#notice.hidden = true
    root.append(sheet, this.#canvas, this.#notice, this.#controls.bar)
    this.#internals.role = 'region'
    this.#internals.ariaLabel = text.viewer
  }

  connectedCallback() {
    if (!this.hasAttribute('tabindex')) this.tabIndex = 0
    this.#connected = new AbortController()
    const { signal } = this.#connected
    const resize = new ResizeObserver((entries) => this.#resized(entries[entries.length - 1]))
    this.#styled.then(() => {
      if (signal.aborted) return
      try {
        resize.observe(this.#canvas, { box: 'device-pixel-content-box' })
      } catch {
        resize.observe(this.#canvas)
      }
    })
    const stop = listen(this.#canvas, this.#gestures())
    this.addEventListener('keydown', (event) => this.#key(event), { signal })
    signal.addEventListener('abort', () => {
      resize.disconnect()
      stop()
    })
    if (this.src && !this.#stage.source) this.open(this.src)
  }

  disconnectedCallback() {
    this.#connected?.abort()
    this.#opening?.abort()
    this.#stage.close()
  }

  /** @param {string} name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(name, before, now) {
    if (name === 'src' && this.isConnected && now && now !== before) this.open(now)
  }

  get src() { return this.getAttribute('src') ?? '' }
  set src(url) { this.setAttribute('src', url) }

  /** What is seen, or null before an image is open. @returns {Viewport | null} */
  get viewport() { return this.#stage.camera?.viewport ?? null }

  /** Shown at once, as far as the limits let it. @param {Viewport | null} viewport */
  set viewport(viewport) {
    if (viewport) this.#change((camera) => camera.show(viewport))
  }

  /** The open image's description, or null. @returns {import('../sources/source.js').Source | null} */
  get source() { return this.#stage.source }

  /** Whether every tile of the view is drawn and nothing moves. */
  get isSharp() { return this.#stage.isSharp }

  /** What was asked for so far: requested, loaded, aborted, retried, failed. */
  get requestCounts() { return { ...this.#stage.loader?.counts } }

  /**
   * @param {string | import('../sources/source.js').Source} what a URL or a description
   * @returns {Promise<void>} when the description is read; a failure is told by the `error` event
   */
  async open(what) {
    this.#opening?.abort()
    const opening = this.#opening = new AbortController()
    this.#stage.close()
    this.#say('')
    try {
      const source = typeof what === 'string' ? await openSource(what, opening.signal) : what
      await this.#size
      if (opening.signal.aborted) return
      this.#stage.open(source, {
        calm: matchMedia('(prefers-reduced-motion: reduce)').matches,
        minScale: this.#number('min-scale'), maxScale: this.#number('max-scale'),
        doubleTapScale: this.#number('double-tap-scale'), turning: this.hasAttribute('two-finger-rotation'),
      })
      this.#internals.ariaLabel = source.title || text.viewer
      this.#tell('open')
    } catch (error) {
      if (opening.signal.aborted) return
      this.#say(error instanceof SourceError && error.status === 404 ? text.notThere : text.unreachable)
      this.dispatchEvent(new CustomEvent('error', { detail: error }))
    }
  }

  /** @param {import('../geometry/fit.js').Fit} [fit] */
  fit(fit = 'contain') { this.#change((camera, now) => camera.fit(fit, now)) }

  /** @param {number} scale CSS pixels per image pixel @param {Point} [point] viewport space, stays where it is */
  zoomTo(scale, point) { this.#change((camera, now) => camera.zoomTo(scale, point, now)) }

  /** @param {number} factor @param {Point} [point] */
  zoomBy(factor, point) {
    this.#change((camera, now) => camera.zoomTo(camera.destination.scale * factor, point, now))
  }

  /** @param {Point} center image space */
  panTo(center) { this.#change((camera, now) => camera.panTo(center, now)) }

  /** @param {number} degrees clockwise, added to what is */
  rotate(degrees) {
    this.#change((camera) => {
      const { turn } = camera.viewport
      camera.turnTo(new Turn(turn.degrees + degrees, turn.isFlipped))
    })
  }

  /** Mirrors left to right. */
  flip() {
    this.#change((camera) => {
      const { turn } = camera.viewport
      camera.turnTo(new Turn(turn.degrees, !turn.isFlipped))
    })
  }

  /** A button's or key's command. @param {string} command @returns {boolean} whether it is one of the viewer's */
  run(command) {
    const pan = (/** @type {number} */ x, /** @type {number} */ y) =>
      this.#change((camera, now) => camera.panBy(x * STEP.pan, y * STEP.pan, now))
    /** @type {Record<string, () => void>} */
    const commands = {
      left: () => pan(-1, 0), right: () => pan(1, 0), up: () => pan(0, -1), down: () => pan(0, 1),
      zoomIn: () => this.zoomBy(STEP.zoom), zoomOut: () => this.zoomBy(1 / STEP.zoom),
      fit: () => this.fit(), original: () => this.fit('none'),
      rotate: () => this.rotate(90), fullscreen: () => this.#toggleFullscreen(),
    }
    commands[command]?.()
    return command in commands
  }

  #gestures() {
    const camera = () => this.#stage.camera
    const act = (/** @type {(camera: import('./camera.js').Camera) => void} */ change) => {
      const found = camera()
      if (found) change(found)
      this.#stage.invalidate()
    }
    /** @type {import('../gestures/recognizer.js').GestureHandler & {wheel: (point: Point, factor: number) => void}} */
    const handler = {
      grab: (points) => act((camera) => {
        this.#internals.states?.add('held')
        camera.grab(points)
      }),
      drag: (points) => act((camera) => camera.drag(points)),
      release: (velocity) => act((camera) => {
        this.#internals.states?.delete('held')
        camera.release(velocity, performance.now())
      }),
      tap: () => {
        this.toggleAttribute('quiet')
        this.#tell('chrome')
      },
      doubleTap: (point) => act((camera) => camera.doubleTap(point, performance.now())),
      longPress: () => {},
      quickZoom: (anchor, travel) => act((camera) => camera.quickZoom(anchor, travel)),
      wheel: (point, factor) => act((camera) => camera.wheel(point, factor, performance.now())),
    }
    return handler
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const command = keyCommand(event)
    if (command && this.run(command)) event.preventDefault()
  }

  /** @param {(camera: import('./camera.js').Camera, now: number) => void} change */
  #change(change) {
    if (!this.#stage.camera) return
    change(this.#stage.camera, performance.now())
    this.#stage.wasMoving = true
    this.#stage.invalidate()
  }

  /** @param {ResizeObserverEntry} entry */
  #resized(entry) {
    const { width, height } = entry.contentRect
    if (!(width > 0 && height > 0)) return
    const exact = entry.devicePixelContentBoxSize?.[0]
    const device = { width: Math.round(width * devicePixelRatio), height: Math.round(height * devicePixelRatio) }
    // Only where it is a matter of rounding: an emulated screen tells CSS pixels here.
    if (exact && Math.abs(exact.inlineSize - device.width) <= 1 && Math.abs(exact.blockSize - device.height) <= 1) {
      device.width = exact.inlineSize
      device.height = exact.blockSize
    }
    this.#stage.resize({ width, height }, device, devicePixelRatio)
    this.#measured()
  }

  #moved() {
    if (this.viewport) this.#controls.showScale(this.viewport.scale)
    this.#tell('viewport')
  }

  #toggleFullscreen() {
    if (document.fullscreenElement) document.exitFullscreen()
    else this.requestFullscreen().catch(() => {})
  }

  /** @param {string} words */
  #say(words) {
    this.#notice.textContent = words
    this.#notice.hidden = !words
  }

  /** @param {string} type */
  #tell(type) { this.dispatchEvent(new Event(type)) }

  /** @param {string} name */
  #number(name) {
    const value = Number(this.getAttribute(name))
    return this.hasAttribute(name) && value > 0 ? value : undefined
  }
}
