import { LIMIT_ATTRIBUTES, limits, watchSize } from '../control/zoom-limits.js'
import { ViewControl } from '../control/view-control.js'
import { CONTROL, ZoomableElement } from '../control/zoomable-element.js'
import { bindPointerEvents } from '../gestures/pointer-events.js'
import { loadMenus, preloadMenus, showFilmstripLazily } from '../menus/lazy-menus.js'
import { Pager } from '../paging/pager.js'
import { openSource } from '../sources/open.js'
import { commands } from './commands.js'
import { OLD_ATTRIBUTES, currentEvent, renewAttribute } from './deprecated.js'
import { keyCommand } from './keyboard.js'
import { Renderer } from './renderer.js'
import { decodeView, viewQuery } from './view-hash.js'
import { viewerGestures } from './viewer-gestures.js'
import { ViewerUI } from './viewer-ui.js'

/** `<ziggurat-viewer>`: shows an image, or several to page through. Image coordinates are in image pixels. */
export class ZigguratViewer extends ZoomableElement {
  static observedAttributes = ['src', 'view', 'lang', 'filmstrip', ...LIMIT_ATTRIBUTES, ...OLD_ATTRIBUTES]

  #ui = new ViewerUI(this.attachShadow({ mode: 'open' }), {
    run: (command) => this.run(command), goTo: (center) => this.change((camera) => camera.centerOn(center), 'user'),
  })
  #renderer = new Renderer(this.#ui.canvas, {
    moved: () => this.#moved(),
    settled: () => this.#settled(),
    progress: (part) => this.#ui.showProgress(part),
    complete: () => this.#complete(),
    missing: (count) => this.#ui.showMissingTiles(count, this.#renderer),
  })
  #control = new ViewControl(
    this.#renderer, (cause) => this.dispatchEvent(new CustomEvent('viewport', { detail: { cause } })),
    () => this.#isOpening || this.#pager.isTurning || !this.isConnected && !this.source && Boolean(this.#saved || this.src));
  [CONTROL] = this.#control
  #pager = new Pager(this.#ui.track, async (index, neighbour) => {
    const item = this.#pager.list[index]
    const opened = this.#open(neighbour?.source ?? item, neighbour?.bitmap ?? null, item)
    this.#notifyPage()
    await opened
    const { offset, total } = this.#album
    if (this.index === index && this.source) this.#ui.announcePage(this.source.title, offset + index + 1, total)
  })
  #album = {}
  #commands = commands(this, this.#pager)
  #animation = null
  /** @type {{ name: string, run: () => void }[]} Additional items of the menu and buttons of the details. */
  actions = []
  /** @type {Element | null} The element that fills the screen in fullscreen mode; null for the viewer itself. */
  screen = null
  #opening
  #requested
  #connected
  #resolveSize
  #hasSize
  #isOpening = false
  /** The image and view at the time when the element was removed from the document. */
  #saved = null
  /** Resolves when the window has a size; a view is meaningless before. */
  #size = new Promise((done) => { this.#resolveSize = done })

  connectedCallback() {
    if (!this.hasAttribute('tabindex')) this.tabIndex = 0
    this.role ??= 'region'
    this.#connected = new AbortController()
    const { signal } = this.#connected
    this.#ui.followLocale(signal)
    this.#ui.stylesLoaded.then(() => watchSize(this.#ui.canvas, (size) => this.#resized(size), signal))
    this.addEventListener('motion', ({ detail }) => this.#ui.controls.showMotion(detail), { signal })
    this.#ui.overlays.watch(signal)
    bindPointerEvents(this.#ui.surface, viewerGestures(this, this.#pager), signal, this)
    this.addEventListener('keydown', (event) => {
      // The space bar presses a focused button.
      const isPress = event.key === ' ' && event.composedPath()[0] instanceof HTMLButtonElement
      const command = event.target === this && !isPress ? keyCommand(event) : null
      if (command && this.run(command)) event.preventDefault()
    }, { signal })
    addEventListener('online', () => this.source ? this.#renderer.retry() : this.#requested && this.#open(this.#requested, null), { signal })
    const what = this.#saved?.what ?? this.src
    if (what && !this.#opening) this.#open(what, null)
    super.connectedCallback()
  }

  /** A move by `moveBefore` changes nothing. */
  connectedMoveCallback() {}

  disconnectedCallback() {
    this.#connected?.abort()
    // The element does not receive events of fingers that lift elsewhere.
    if (this.#renderer.camera?.isHeld) this.change((camera, now) => camera.release({ x: 0, y: 0 }, now))
    this.removeAttribute('held')
    // Moving an element removes it and inserts it again immediately.
    queueMicrotask(() => {
      if (this.isConnected) return
      const { destination: viewport, fitMode } = this.#renderer.camera ?? {}
      if (this.#pager.cancelTurn()) {
        // Waiting changes apply to the image to which the page was turning.
        this.#requested = this.images[this.index]
        this.#saved = { what: this.#requested }
        this.#notifyPage()
      } else {
        this.#saved = this.#requested ? { what: this.#requested, viewport, fitMode } : null
        this.#pager.discardPreviews()
      }
      this.#close()
    })
  }

  attributeChangedCallback(name, before, now) {
    // Setting the same value again returns to that image, or to that view of it.
    const isReturn = name === 'view' || name === 'src' && now && this.#requested && this.#requested !== now
    if (now === before && !isReturn) return
    if (OLD_ATTRIBUTES.includes(name)) renewAttribute(this, name, now)
    else if (name === 'src') {
      this.#saved = null
      if (now && this.isConnected) this.open(now)
      else this.#clear()
    } else if (name === 'view') {
      if (this.viewport) this.#control.show(decodeView(now ?? '', this.viewport, this.source.pyramid.imageSize))
    } else if (name === 'lang') this.#ui.changeLocale()
    else if (name === 'filmstrip') showFilmstripLazily(this, this.#pager)
    else this.change((camera, now) => camera.limit(limits(this), now))
  }

  /** Releases the image that is open or opening. */
  #close() {
    this.#opening?.abort()
    this.#opening = null
    this.#isOpening = false
    this.#renderer.close()
    this.#stopAnimation()
    this.#control.reset()
    this.#ui.clear()
  }

  #clear() {
    const hasTurned = this.#pager.cancelTurn()
    this.#requested = null
    this.#control.discardPending()
    this.#close()
    this.#ui.empty()
    if (hasTurned) this.#notifyPage()
  }

  #notifyPage() {
    this.#ui.showPages(this.#pager)
    this.#notify('page')
  }

  /**
   * The address of the image.
   * @returns {string}
   */
  get src() { return this.getAttribute('src') ?? '' }
  set src(url) { this.setAttribute('src', url) }

  /**
   * The open source, with its description in `details`; null without one.
   * @returns {any}
   */
  get source() { return this.#renderer.source }

  /**
   * Whether the view is at rest and nothing more is loading.
   * @returns {boolean}
   */
  get isComplete() { return this.#renderer.isComplete }

  /** Whether the view is at rest and every tile of it is drawn. */
  get isFullyLoaded() { return this.isComplete && !this.missingTiles }

  /** @deprecated the name of `isFullyLoaded` until version 2.0 */
  get isSharp() { return this.isFullyLoaded }

  /** The number of tiles of the view that could not be loaded. */
  get missingTiles() { return this.#renderer.loader?.failedCount ?? 0 }

  /** The numbers of tile requests by their outcome. */
  get requestCounts() { return { ...this.#renderer.loader?.counts } }

  /** The size of the decoded tiles in memory, in bytes. */
  get cachedBytes() { return this.#renderer.cache.bytes }

  /** The images to page through, as `setImages` received them. */
  get images() { return this.#pager.list }

  /**
   * Sets the images to page through, and shows the one at `index`, unless it is already shown.
   * @param {readonly unknown[]} list values that `open` accepts
   * @param {number} index the index of the image to show, from 0
   * @param {{ offset?: number, total?: number, viewingDirection?: string }} [album] if the list is a part of a longer one:
   *   the position of its first image, and the total number; and the reading direction, by its name in IIIF Presentation
   */
  setImages(list, index = 0, album = {}) {
    const wasTurning = this.#pager.isTurning
    this.#setAlbum(list, index, album)
    // The page turn is cancelled, and so are the changes that waited for its image.
    if (wasTurning) this.#control.discardPending()
    const what = list[index]
    if (!what || what === (this.#requested ?? this.#saved?.what ?? this.src)) return
    this.#control.discardPending()
    if (this.isConnected) this.#open(what, null)
    else {
      this.#close()
      this.#requested = what
      this.#saved = { what }
    }
    this.#notify('page')
  }

  #setAlbum(list, index = 0, { offset = 0, total = list.length, viewingDirection } = {}) {
    this.#album = { offset, total }
    this.#pager.set(list, index, viewingDirection)
    this.#renderer.setPaging(list.length > 1)
    this.#ui.showPages(this.#pager)
    if (this.isComplete) this.#pager.preload()
  }

  /** The index of the current image in `images`. */
  get index() { return this.#pager.index }

  /**
   * Opens an address of any kind, an object that opens itself, or a source. The promise is fulfilled even if that fails; the
   * event `error` reports the failure.
   */
  open(what) {
    if (this.#album.isOfSource) this.#setAlbum([])
    const hasTurned = this.#pager.cancelTurn()
    this.#control.discardPending()
    const opened = this.#open(what, null)
    if (hasTurned) this.#notifyPage()
    return opened
  }

  /** The album's `offset` and `total`. If the source contains the images (`isOfSource`), also its `label` and `ranges`. */
  get album() { return { ranges: [], ...this.#album } }

  /** Shows another one of the source's layers, in the same view. */
  showLayer(index) {
    const what = this.source?.layers?.[index]
    if (!what) return Promise.resolve()
    const { destination: viewport, fitMode } = this.#renderer.camera
    this.#saved = { what, viewport, fitMode }
    return this.#open(what, null)
  }

  /**
   * Opens an image.
   * @param {any} what a value that `openSource` accepts
   * @param {ImageBitmap | null} overview the image in one tile, if it is loaded
   * @param {any} [item] the corresponding element of the list of images
   */
  async #open(what, overview, item = what) {
    this.#close()
    this.#isOpening = true
    const opening = this.#opening = new AbortController()
    const saved = this.#saved?.what === what ? this.#saved : null
    this.#saved = null
    this.#requested = item
    try {
      // `view` may be set after `src`.
      const viewAttribute = () => what === this.src ? this.getAttribute('view') ?? '' : ''
      const source = await openSource(what, opening.signal, () => this.#viewQuery(viewAttribute()))
      if (!this.#hasSize) await this.#size
      if (opening.signal.aborted) return
      if (source.album) {
        const { items, index, ...about } = source.album
        this.#setAlbum(items, index)
        Object.assign(this.#album, about, { isOfSource: true })
        this.#notify('page')
      }
      this.#pager.reducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches
      this.#renderer.open(source, {
        reducedMotion: this.#pager.reducedMotion, paging: this.images.length > 1, ...limits(this),
      }, overview)
      const linked = decodeView(viewAttribute(), this.viewport, source.pyramid.imageSize)
      if (linked) this.#renderer.camera.show(linked)
      if (source.region && !linked) this.#renderer.camera.showRegion(source.region)
      if (saved?.viewport) this.#renderer.camera.restore(saved)
      this.#isOpening = false
      this.#control.applyPending()
      if (this.images.length < 2) this.#ui.setAspectRatio(source.pyramid.imageSize)
      this.#ui.setTitle(source.title)
      this.#notify('open')
      this.#renderer.draw(performance.now())
      this.#startAnimation(source)
    } catch (error) {
      if (opening.signal.aborted) return
      this.#isOpening = false
      this.#control.discardPending()
      this.#ui.showError(error, item, () => this.#requested === item && !this.source && this.#open(item, null))
      this.dispatchEvent(new CustomEvent('error', { detail: error }))
    }
  }

  /** The animation of the image, or null. */
  get animation() { return this.#animation }

  async #startAnimation(source) {
    const description = source.details.animation
    if (!description) return
    const { Animation } = await import('./animated-image.js')
    if (this.source !== source) return
    this.#animation = new Animation(this, description, source.address ?? location.href, !this.#pager.reducedMotion)
  }

  #stopAnimation() {
    this.#animation?.close()
    this.#animation = null
    this.#ui.controls.showMotion(null)
    this.#ui.canvas.hidden = false
  }

  addEventListener(type, ...rest) { super.addEventListener(currentEvent(type), ...rest) }

  removeEventListener(type, ...rest) { super.removeEventListener(currentEvent(type), ...rest) }

  cover(element, isOn) { this.#ui.cover(element, isOn) }

  async #viewQuery(view) {
    await this.#size
    setTimeout(() => this.#renderer.warmUp())
    const { window, ratio } = this.#renderer
    return viewQuery(view, window, ratio)
  }

  /**
   * Shows another image of `images`, and dispatches `page`. An index without an image is ignored.
   * @param {number} index
   */
  goTo(index) {
    this.#pager.finish()
    if (!Number.isInteger(index) || index < 0 || index >= this.images.length || index === this.index) return
    this.#control.discardPending()
    if (Math.abs(index - this.index) === 1) this.#pager.slideBy(index - this.index)
    else this.#pager.goTo(index)
  }

  /**
   * Shows the image a number of places further, as `goTo` does.
   * @param {number} offset
   */
  goBy(offset) {
    this.#pager.finish()
    this.goTo(this.index + offset)
  }

  /**
   * Returns the current view as an image file.
   * @param {string} [type] its media type; PNG by default
   */
  async snapshot(type = 'image/png') {
    return (await loadMenus()).snapshot(this.#ui.canvas, this.#animation, this.#renderer.ratio, type)
  }

  /**
   * Executes a command of a key or button. Returns whether it exists.
   * @param {string} command
   */
  run(command) {
    if (this.#ui.root.querySelector('dialog')) return false
    this.#control.runAsUser(this.#commands[command])
    return command in this.#commands
  }

  /**
   * Shows a message for 2.5 seconds.
   * @param {string} text
   */
  showMessage(text) { this.#ui.showMessage(text, 2500) }

  #resized({ window, device }) {
    this.#control.resize(window, device, devicePixelRatio)
    this.#pager.resize()
    this.#hasSize = true
    this.#resolveSize()
  }

  #moved() {
    const { viewport, source } = this
    if (!viewport || !source) return
    this.#ui.show(viewport, source, this.#renderer.ratio)
    this.#control.notifyIfMoved()
  }

  #settled() {
    const { viewport, source } = this
    if (viewport && source) this.#ui.announceView(viewport, source, this.#renderer.ratio)
    this.#notify('idle')
  }

  #complete() {
    const { navigator } = this.#ui
    const overview = navigator.isOpen ? null : this.#renderer.overview()
    if (overview && this.source && this.viewport) {
      navigator.open(this.source.pyramid.imageSize, overview)
      navigator.show(this.viewport)
    }
    this.#notify('complete')
    if (this.isFullyLoaded) this.#notify('fully-loaded')
    this.#pager.preload()
    setTimeout(preloadMenus)
  }

  #notify(type) { this.dispatchEvent(new Event(type)) }
}
