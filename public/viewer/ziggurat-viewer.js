import { Turn } from '../geometry/turn.js'
import { listen } from '../gestures/surface.js'
import { Pager } from '../paging/pager.js'
import { openSource } from '../sources/open.js'
import { text } from '../text/english.js'
import { commands, keyCommand } from './commands.js'
import { make } from './element.js'
import { gestures } from './handling.js'
import { linkedViewport, viewQuery } from './link.js'
import { Shell } from './shell.js'
import { Stage } from './stage.js'
import { scaleBar } from './words.js'

export class ZigguratViewer extends HTMLElement {
  static observedAttributes = ['src']

  #shell = new Shell(this.attachShadow({ mode: 'open' }), {
    run: (command) => this.run(command), goTo: (center) => this.change((camera) => camera.look(center)),
  })
  #stage = new Stage(this.#shell.canvas, {
    moved: () => this.#moved(),
    settled: () => this.#settled(),
    progress: (part) => this.#shell.showProgress(part),
    complete: () => this.#complete(),
    missing: (count) => this.#shell.say(count ? text.missingTiles(count) : ''),
  })
  #pager = new Pager(this.#shell.track, async (index, neighbour) => {
    const opened = this.#open(neighbour?.source ?? this.#pager.list[index], neighbour?.bitmap ?? null)
    this.#tell('page')
    await opened
    const { offset, total } = this.#album
    if (this.index === index && this.source) this.#shell.speak(text.page(this.source.title, offset + index + 1, total))
  })
  #album = {}
  #commands = commands(this)
  #animation = null
  actions = []
  #named
  #opening
  #wanted
  #connected
  #measured
  #hasSize
  /** A view means nothing before the window has a size. */
  #size = new Promise((done) => { this.#measured = done })

  connectedCallback() {
    if (!this.hasAttribute('tabindex')) this.tabIndex = 0
    this.role ??= 'region'
    this.#named ||= this.hasAttribute('aria-label')
    if (!this.#named) this.ariaLabel = text.viewer
    this.#connected = new AbortController()
    const { signal } = this.#connected
    const resize = new ResizeObserver((entries) => this.#resized(entries.at(-1)))
    this.#shell.styled.then(() => {
      if (signal.aborted) return
      try {
        resize.observe(this.#shell.canvas, { box: 'device-pixel-content-box' })
      } catch {
        resize.observe(this.#shell.canvas)
      }
    })
    this.addEventListener('motion', ({ detail }) => this.#shell.controls.showMotion(detail), { signal })
    listen(this.#shell.surface, gestures(this, this.#pager), signal, this)
    this.addEventListener('keydown', (event) => {
      const command = event.target === this ? keyCommand(event) : null
      if (command && this.run(command)) event.preventDefault()
    }, { signal })
    addEventListener('online', () => this.source ? this.#stage.retry() : this.#wanted && this.open(this.#wanted), { signal })
    signal.addEventListener('abort', () => resize.disconnect())
    if (this.src && !this.#opening) this.open(this.src)
  }

  disconnectedCallback() {
    this.#connected?.abort()
    this.#opening?.abort()
    this.#opening = null
    this.#pager.forget()
    this.#stage.close()
    this.#still()
  }

  attributeChangedCallback(name, before, now) {
    if (name === 'src' && this.isConnected && now && now !== before) this.open(now)
  }

  get src() { return this.getAttribute('src') ?? '' }
  set src(url) { this.setAttribute('src', url) }

  get viewport() { return this.#stage.camera?.viewport ?? null }
  set viewport(viewport) {
    if (viewport) this.change((camera) => camera.show(camera.viewport.with(viewport)))
  }

  get source() { return this.#stage.source }

  get isComplete() { return this.#stage.isComplete }

  get isSharp() { return this.isComplete && !this.missingTiles }

  get missingTiles() { return this.#stage.loader?.failures ?? 0 }

  get requestCounts() { return { ...this.#stage.loader?.counts } }

  get cachedBytes() { return this.#stage.cache.bytes }

  get images() { return this.#pager.list }

  setImages(list, index = 0, { offset = 0, total = list.length } = {}) {
    this.#album = { offset, total }
    this.#pager.set(list, index)
    this.#stage.setPaging(list.length > 1)
    if (this.isComplete) this.#pager.preload()
  }

  get index() { return this.#pager.index }

  open(what) { return this.#open(what, null) }

  async #open(what, whole) {
    this.#opening?.abort()
    const opening = this.#opening = new AbortController()
    this.#wanted = what
    this.#stage.close()
    this.#still()
    this.#shell.navigator.close()
    this.#shell.say('')
    try {
      const look = what === this.src ? this.getAttribute('view') ?? '' : ''
      const source = typeof what === 'string'
        ? await openSource(what, opening.signal, () => this.#look(look)) : what
      if (!this.#hasSize) await this.#size
      if (opening.signal.aborted) return
      this.#pager.calm = matchMedia('(prefers-reduced-motion: reduce)').matches
      this.#stage.open(source, {
        calm: this.#pager.calm, paging: this.images.length > 1,
        minScale: this.#number('min-scale'), maxScale: this.#number('max-scale'),
        doubleTapScale: this.#number('double-tap-scale'), turning: this.hasAttribute('two-finger-rotation'),
      }, whole)
      const linked = linkedViewport(look, this.viewport)
      if (linked) this.#stage.camera.show(linked)
      if (!this.#named) this.ariaLabel = source.title || text.viewer
      this.#tell('open')
      this.#stage.draw(performance.now())
      this.#animate(source)
    } catch (error) {
      if (opening.signal.aborted) return
      this.#shell.showProgress(1)
      this.#shell.say(error.status === 404 ? text.notThere : text.unreachable)
      this.dispatchEvent(new CustomEvent('error', { detail: error }))
    }
  }

  get animation() { return this.#animation }

  async #animate(source) {
    const moving = source.details.animation
    if (!moving) return
    const { Animation } = await import('./animation.js')
    if (this.source !== source) return
    this.#animation = new Animation(this, moving, source.address ?? location.href, !this.#pager.calm)
  }

  #still() {
    this.#animation?.close()
    this.#animation = null
    this.#shell.controls.showMotion(null)
    this.#shell.canvas.hidden = false
  }
  cover(element, isOn) {
    if (isOn) this.#shell.canvas.after(element)
    else element.remove()
    this.#shell.canvas.hidden = isOn
  }

  async #look(view) {
    await this.#size
    setTimeout(() => this.#stage.warm())
    const { window, ratio } = this.#stage
    return viewQuery(view, window, ratio)
  }

  goTo(index) {
    this.#pager.finish()
    if (!Number.isInteger(index) || index < 0 || index >= this.images.length || index === this.index) return
    if (Math.abs(index - this.index) === 1) this.#pager.glide(index - this.index)
    else this.#pager.goTo(index)
  }

  goBy(way) {
    this.#pager.finish()
    this.goTo(this.index + way)
  }

  fit(fit = 'contain') { this.change((camera, now) => camera.fit(fit, now)) }

  zoomTo(scale, point) { this.change((camera, now) => camera.zoomTo(scale, point, now)) }

  zoomBy(factor, point) {
    this.change((camera, now) => camera.zoomTo(camera.destination.scale * factor, point, now))
  }

  panTo(center) { this.change((camera, now) => camera.panTo(center, now)) }

  rotate(by) { this.#turn(by, false) }

  flip() { this.#turn(0, true) }

  #turn(by, flips) {
    this.change((camera) => {
      const { degrees, isFlipped } = camera.viewport.turn
      camera.turnTo(new Turn(degrees + by, isFlipped !== flips))
    })
  }

  snapshot(type = 'image/png') {
    let { canvas } = this.#shell
    if (canvas.hidden) {
      const { width, height } = canvas
      canvas = make('canvas', { width, height })
      this.#animation.paint(canvas.getContext('2d'), this.#stage.ratio)
    }
    return new Promise((resolve, reject) => canvas.toBlob(
      (blob) => blob ? resolve(blob) : reject(new Error(`the view cannot be written as ${type}`)), type, 0.92))
  }

  run(command) {
    if (this.#shell.root.querySelector('dialog')) return false
    this.#commands[command]?.()
    return command in this.#commands
  }

  change(change) {
    if (!this.#stage.camera) return
    change(this.#stage.camera, performance.now())
    this.#stage.disturb()
  }

  say(words) { this.#shell.say(words, 2500) }

  #resized(entry) {
    const { width, height } = entry.contentRect
    if (!(width > 0 && height > 0)) return
    const exact = entry.devicePixelContentBoxSize?.[0]
    const device = { width: Math.round(width * devicePixelRatio), height: Math.round(height * devicePixelRatio) }
    // An emulated screen tells CSS pixels here.
    if (exact && Math.abs(exact.inlineSize - device.width) <= 1 && Math.abs(exact.blockSize - device.height) <= 1) {
      device.width = exact.inlineSize
      device.height = exact.blockSize
    }
    this.#stage.resize({ width, height }, device, devicePixelRatio)
    this.#hasSize = true
    this.#measured()
  }

  #moved() {
    const { viewport, source } = this
    if (!viewport || !source) return
    const microns = source.details.micronsPerPixel
    this.#shell.controls.show(viewport.scale, microns > 0 ? scaleBar(microns, viewport.scale) : null)
    this.#shell.navigator.show(viewport)
    this.#tell('viewport')
  }

  #settled() {
    const { viewport, source } = this
    if (viewport && source) {
      const { x, y } = viewport.imageCenter
      const { width, height } = source.pyramid.imageSize
      this.#shell.speak(text.spoken(viewport.scale, x / width, y / height))
    }
    this.#tell('settle')
  }

  #complete() {
    const { navigator } = this.#shell
    const whole = navigator.isOpen ? null : this.#stage.wholeImage()
    if (whole && this.source && this.viewport) {
      navigator.open(this.source.pyramid.imageSize, whole)
      navigator.show(this.viewport)
    }
    this.#pager.preload()
    this.#tell('complete')
    if (this.isSharp) this.#tell('sharp')
  }

  #tell(type) { this.dispatchEvent(new Event(type)) }

  #number(name) {
    const value = Number(this.getAttribute(name))
    return value > 0 ? value : undefined
  }
}
