import { PageButtons } from '../paging/page-buttons.js'
import { Overlays } from '../steering/overlays.js'
import { text } from '../text/english.js'
import { Controls } from './controls.js'
import { make } from './element.js'
import { Navigator } from './navigator.js'
import { Recovery, mayPass } from './recovery.js'
import { styled } from './style.js'
import { scaleBar } from './words.js'

export class Shell {
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
    this.recovery = new Recovery()
    this.room = make('div', { className: 'room' })
    this.styled = styled(root)
    this.styled.then(() => { this.controls.bar.hidden = false })
    root.append(
      this.room, this.surface, this.progress, this.navigator.element, this.notice, this.recovery.element, this.spoken, this.controls.ruler,
      ...this.pageButtons.elements, this.controls.bar)
  }

  say(words, time = 0) {
    clearTimeout(this.noticeTimer)
    // What stands there is not read out again.
    if (this.notice.textContent !== words) this.notice.textContent = words
    this.notice.hidden = !words
    if (time) this.noticeTimer = setTimeout(() => this.say(''), time)
  }

  /** Tiles of the view that were given up; those that are only out of reach are tried again. */
  tellMissing(count, stage) {
    this.say(count ? text.missingTiles(count) : '')
    if (count && stage.loader.mayCome) this.recovery.wait(() => stage.retry())
    else this.recovery.stop()
  }

  /**
   * What was to be opened cannot be.
   * @param {Error & { status?: number }} error with the status of an answer, if there was one
   * @param {unknown} what was to be opened
   * @param {() => void} open opens it, if it is still wanted
   */
  fail(error, what, open) {
    this.root.host.toggleAttribute('failed', true)
    this.showProgress(1)
    this.say(error.status === 404 ? text.notThere : text.unreachable)
    if (error.status !== 404) this.recovery.reopen(what, mayPass(error), open)
  }

  /** Of what was open nothing is told any more. */
  clear() {
    this.root.host.toggleAttribute('failed', false)
    this.navigator.close()
    this.overlays.show(null)
    this.recovery.stop()
    this.say('')
  }

  /** Nothing is to be opened. */
  empty() {
    this.showProgress(1)
    this.controls.hide()
  }

  /** An element that has no height of its own has the image's, for its width. */
  takeRoom({ width, height }) { this.room.style.aspectRatio = `${width} / ${height}` }

  /** What the chrome tells of a view. */
  show(viewport, source, ratio) {
    const microns = source.details.micronsPerPixel
    this.controls.show(viewport.scale * ratio, microns > 0 ? scaleBar(microns, viewport.scale) : null)
    this.navigator.show(viewport)
    this.overlays.show(viewport)
  }

  speak(words) { this.spoken.textContent = words }

  showProgress(part) {
    this.progress.classList.toggle('busy', part < 1)
    this.progress.style.scale = `${part} 1`
  }
}
