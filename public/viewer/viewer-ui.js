import { Overlays } from '../control/overlays.js'
import { PageButtons } from '../paging/page-buttons.js'
import { loadTranslations, onLocaleChange } from '../text/language.js'
import { reading } from '../text/reading.js'
import { Controls } from './controls.js'
import { describeView, scaleBar } from './descriptions.js'
import { make } from './element.js'
import { Navigator } from './navigator.js'
import { RetryController, isRetryable } from './retry-controller.js'
import { styled } from './style.js'

/** What of a viewer is seen besides its picture, and what holds that. */
export class ViewerUI {
  /**
   * @param {ShadowRoot} root
   * @param {{ run: (command: string) => void, goTo: (center: { x: number, y: number }) => void }} viewer does what a button says;
   *   moves to a point, image pixels
   */
  constructor(root, { run, goTo }) {
    this.root = root
    this.canvas = make('canvas', { className: 'picture' })
    const slot = make('slot', { hidden: true })
    this.track = make('div', { className: 'track' }, this.canvas, slot)
    this.surface = make('div', { className: 'surface' }, this.track)
    this.overlays = new Overlays(root.host, slot, this.surface)
    this.notice = make('p', { className: 'notice', role: 'status', hidden: true })
    this.spoken = make('p', { className: 'spoken', role: 'status' })
    this.progress = make('div', { className: 'progress', ariaHidden: true })
    this.controls = new Controls(run)
    this.pageButtons = new PageButtons(run, this.controls.strip)
    this.navigator = new Navigator(goTo)
    this.controls.bar.hidden = true
    this.recovery = new RetryController()
    this.name()
    this.room = make('div', { className: 'room' })
    this.styled = styled(root)
    this.styled.then(() => { this.controls.bar.hidden = false })
    root.append(
      this.room, this.surface, this.progress, this.navigator.element, this.notice, this.recovery.element, this.spoken, this.controls.ruler,
      ...this.pageButtons.elements, this.controls.bar)
  }

  /**
   * Has everything said in the language that the element is in, now and whenever that changes.
   * @param {AbortSignal} signal ends it
   */
  follow(signal) {
    this.hasName ??= this.root.host.hasAttribute('aria-label')
    onLocaleChange(this.root.host, () => this.name(), signal)
  }

  /** The element's own language is another one. */
  async rename() {
    await loadTranslations(this.root.host)
    this.name()
  }

  /** Says everything anew that is named by words alone. */
  name() {
    /** Says the viewer's words. */
    this.words = reading(this.root.host)
    this.controls.name(this.words)
    this.recovery.name(this.words)
    if (this.pager) this.showPages(this.pager)
    if (this.shown) this.show(...this.shown)
    this.call(this.title)
  }

  /** Whose label nobody gave is called what it shows. @param {string} [title] */
  call(title) {
    this.title = title
    if (this.hasName === false) this.root.host.ariaLabel = title || this.words('viewer')
  }

  /** Shows what moves instead of the canvas, or the canvas again. @param {Element} element @param {boolean} isOn */
  cover(element, isOn) {
    if (isOn) this.canvas.after(element)
    else element.remove()
    this.canvas.hidden = isOn
  }

  /** Says something about the picture, in the middle. @param {string} words @param {number} [time] ms; without it, for good */
  say(words, time = 0) {
    clearTimeout(this.noticeTimer)
    // What stands there is not read out again.
    if (this.notice.textContent !== words) this.notice.textContent = words
    this.notice.hidden = !words
    if (time) this.noticeTimer = setTimeout(() => this.say(''), time)
  }

  /** Tiles of the view that were given up: those that are only out of reach are tried again, those that were refused by the button. */
  tellMissing(count, stage) {
    this.say(count ? this.words('missingTiles', { count }) : '')
    const { mayCome, isRefused } = stage.loader
    if (count && (mayCome || isRefused)) this.recovery.wait((byHand) => stage.retry(byHand), mayCome)
    else this.recovery.stop()
  }

  /**
   * What was to be opened cannot be.
   * @param {Error & Partial<import('../sources/source-error.js').SourceError>} error
   * @param {unknown} what was to be opened
   * @param {() => void} open opens it, if it is still wanted
   */
  fail(error, what, open) {
    this.root.host.toggleAttribute('failed', true)
    this.showProgress(1)
    if (error.format) return this.say(this.words('notShown', { format: formatName(error.format) }))
    this.say(this.words(error.reason ?? (error.status === 404 ? 'notThere' : 'unreachable'), error.values))
    if (error.status !== 404) this.recovery.reopen(what, isRetryable(error), open)
  }

  /** Of what was open nothing is told any more. */
  clear() {
    this.shown = null
    this.root.host.toggleAttribute('failed', false)
    this.navigator.close()
    this.overlays.show(null)
    this.recovery.stop()
    this.say('')
  }

  /** Nothing is to be opened. */
  empty() {
    this.call()
    this.showProgress(1)
    this.controls.hide()
  }

  /** @param {import('../paging/pager.js').Pager} pager what there is to turn to */
  showPages(pager) {
    this.pager = pager
    this.pageButtons.show(pager, this.words)
  }

  /** An element that has no height of its own has the image's, for its width. */
  takeRoom({ width, height }) { this.room.style.aspectRatio = `${width} / ${height}` }

  /** Shows scale, overview and overlays of a view. */
  show(viewport, source, ratio) {
    this.shown = [viewport, source, ratio]
    const microns = source.details.micronsPerPixel
    this.controls.show(viewport.scale * ratio, microns > 0 ? scaleBar(microns, viewport.scale, this.words) : null)
    this.navigator.show(viewport)
    this.overlays.show(viewport)
  }

  /** @param {string} words for who hears the page */
  speak(words) { this.spoken.textContent = words }

  speakView(viewport, source, ratio) { this.speak(describeView(source, viewport, ratio, this.words)) }

  speakPage(title, index, total) { this.speak(this.words('page', { title, index, total })) }

  showProgress(part) {
    this.progress.classList.toggle('busy', part < 1)
    this.progress.style.scale = `${part} 1`
  }
}

/** What people call a format of tiles. @param {string} format */
function formatName(format) { return format === 'jxl' ? 'JPEG XL' : format.toUpperCase() }
