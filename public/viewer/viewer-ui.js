import { Overlays } from '../control/overlays.js'
import { loadTranslations, onLocaleChange } from '../i18n/translator.js'
import { viewerTranslator } from '../i18n/viewer.js'
import { PageButtons } from '../paging/page-buttons.js'
import { Controls } from './controls.js'
import { describeView, scaleBar } from './descriptions.js'
import { createElement } from './dom.js'
import { Navigator } from './navigator.js'
import { RetryController, isRetryable } from './retry-controller.js'
import { loadStyles } from './style.js'

/** The user interface of a viewer around the image. */
export class ViewerUI {
  #liveRegion = createElement('p', { className: 'spoken', role: 'status' })
  #sizer = createElement('div', { className: 'room' })
  #retryController = new RetryController()
  #pageButtons
  /** Whether the page has set the accessible name. */
  #hasOwnName
  /** The parameters of the last call of `show`. */
  #lastShown = null
  #noticeTimer = 0

  /**
   * @param {ShadowRoot} root
   * @param {{ run: (command: string) => void, goTo: (center: { x: number, y: number }) => void }} viewer executes the
   *   command of a button; moves the view to a point in image pixels
   */
  constructor(root, { run, goTo }) {
    this.root = root
    this.canvas = createElement('canvas', { className: 'picture' })
    const slot = createElement('slot', { hidden: true })
    this.track = createElement('div', { className: 'track' }, this.canvas, slot)
    this.surface = createElement('div', { className: 'surface' }, this.track)
    this.overlays = new Overlays(root.host, slot, this.surface)
    this.notice = createElement('p', { className: 'notice', role: 'status', hidden: true })
    this.progress = createElement('div', { className: 'progress', ariaHidden: true })
    this.controls = new Controls(run)
    this.#pageButtons = new PageButtons(run, this.controls.strip)
    this.navigator = new Navigator(goTo)
    this.controls.bar.hidden = true
    this.#updateLabels()
    this.stylesLoaded = loadStyles(root)
    this.stylesLoaded.then(() => { this.controls.bar.hidden = false })
    root.append(
      this.#sizer, this.surface, this.progress, this.navigator.element, this.notice, this.#retryController.element, this.#liveRegion, this.controls.ruler,
      ...this.#pageButtons.elements, this.controls.bar)
  }

  /**
   * Keeps all text in the language of the element.
   * @param {AbortSignal} signal removes the listener
   */
  followLocale(signal) {
    this.#hasOwnName ??= this.root.host.hasAttribute('aria-label')
    onLocaleChange(this.root.host, () => this.#updateLabels(), signal)
  }

  /** Updates the text after the element's `lang` changed. */
  async changeLocale() {
    await loadTranslations(this.root.host)
    this.#updateLabels()
  }

  /** Updates all text that depends only on the language. */
  #updateLabels() {
    /** The function that returns the viewer's messages. */
    this.t = viewerTranslator(this.root.host)
    this.controls.updateLabels(this.t)
    this.#retryController.updateLabels(this.t)
    if (this.pager) this.showPages(this.pager)
    if (this.#lastShown) this.show(...this.#lastShown)
    this.setTitle(this.title)
  }

  /**
   * Sets the accessible name to the image's title, unless the page has set one.
   * @param {string} [title]
   */
  setTitle(title) {
    this.title = title
    if (this.#hasOwnName === false) this.root.host.ariaLabel = title || this.t('viewer')
  }

  /**
   * Shows an animation instead of the canvas, or the canvas again.
   * @param {Element} element
   * @param {boolean} isOn
   */
  cover(element, isOn) {
    if (isOn) this.canvas.after(element)
    else element.remove()
    this.canvas.hidden = isOn
  }

  /**
   * Shows a message in the middle of the image.
   * @param {string} text
   * @param {number} [time] the duration in ms; unlimited if absent
   */
  showMessage(text, time = 0) {
    clearTimeout(this.#noticeTimer)
    // An unchanged message is not announced again.
    if (this.notice.textContent !== text) this.notice.textContent = text
    this.notice.hidden = !text
    if (time) this.#noticeTimer = setTimeout(() => this.showMessage(''), time)
  }

  /**
   * Reports the tiles of the view that were given up. Unreachable ones are retried automatically, refused ones by the
   * button.
   */
  showMissingTiles(count, renderer) {
    this.showMessage(count ? this.t('missingTiles', { count }) : '')
    const { hasUnreachable, hasRefused } = renderer.loader
    if (count && (hasUnreachable || hasRefused)) this.#retryController.schedule((isManual) => renderer.retry(isManual), hasUnreachable)
    else this.#retryController.stop()
  }

  /**
   * Reports that an image cannot be opened, and schedules a retry.
   * @param {Error & Partial<import('../sources/source-error.js').SourceError>} error
   * @param {unknown} what the address or source
   * @param {() => void} open opens it again, if it is still wanted
   */
  showError(error, what, open) {
    this.root.host.toggleAttribute('failed', true)
    this.showProgress(1)
    if (error.format) return this.showMessage(this.t('notShown', { format: formatName(error.format) }))
    this.showMessage(this.t(error.reason ?? (error.status === 404 ? 'notThere' : 'unreachable'), error.values))
    if (error.status !== 404) this.#retryController.reopen(what, isRetryable(error), open)
  }

  /** Removes all information about the image that was open. */
  clear() {
    this.#lastShown = null
    this.root.host.toggleAttribute('failed', false)
    this.navigator.close()
    this.overlays.show(null)
    this.#retryController.stop()
    this.showMessage('')
  }

  /** Shows the state without an image. */
  empty() {
    this.setTitle()
    this.showProgress(1)
    this.controls.hide()
  }

  /**
   * Shows the buttons for previous and next image.
   * @param {import('../paging/pager.js').Pager} pager
   */
  showPages(pager) {
    this.pager = pager
    this.#pageButtons.show(pager, this.t)
  }

  /** Gives an element without a height of its own the height of the image for its width. */
  setAspectRatio({ width, height }) { this.#sizer.style.aspectRatio = `${width} / ${height}` }

  /** Shows the scale, the overview and the overlays of a view. */
  show(viewport, source, ratio) {
    this.#lastShown = [viewport, source, ratio]
    const microns = source.details.micronsPerPixel
    this.controls.show(viewport.scale * ratio, microns > 0 ? scaleBar(microns, viewport.scale, this.t) : null)
    this.navigator.show(viewport)
    this.overlays.show(viewport)
  }

  /**
   * Announces a text to users of screen readers.
   * @param {string} text
   */
  #announce(text) { this.#liveRegion.textContent = text }

  announceView(viewport, source, ratio) { this.#announce(describeView(source, viewport, ratio, this.t)) }

  announcePage(title, index, total) { this.#announce(this.t('page', { title, index, total })) }

  showProgress(part) {
    this.progress.classList.toggle('busy', part < 1)
    this.progress.style.scale = `${part} 1`
  }
}

/**
 * Returns the readable name of an image format.
 * @param {string} format
 */
function formatName(format) { return format === 'jxl' ? 'JPEG XL' : format.toUpperCase() }
