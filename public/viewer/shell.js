import { PageButtons } from '../paging/page-buttons.js'
import { Controls } from './controls.js'
import { make } from './element.js'
import { Navigator } from './navigator.js'
import { styled } from './style.js'
import { scaleBar } from './words.js'

export class Shell {
  constructor(root, { run, goTo }) {
    this.root = root
    this.canvas = make('canvas', { className: 'picture' })
    this.track = make('div', { className: 'track' }, this.canvas)
    this.surface = make('div', { className: 'surface' }, this.track)
    this.notice = make('p', { className: 'notice', role: 'status', hidden: true })
    this.spoken = make('p', { className: 'spoken', role: 'status' })
    this.progress = make('div', { className: 'progress', ariaHidden: true })
    this.controls = new Controls(run)
    this.pageButtons = new PageButtons(run)
    this.navigator = new Navigator(goTo)
    this.controls.bar.hidden = true
    this.room = make('div', { className: 'room' })
    this.styled = styled(root)
    this.styled.then(() => { this.controls.bar.hidden = false })
    root.append(
      this.room, this.surface, this.progress, this.navigator.element, this.notice, this.spoken, this.controls.ruler,
      ...this.pageButtons.elements, this.controls.bar)
  }

  say(words, time = 0) {
    clearTimeout(this.noticeTimer)
    this.notice.textContent = words
    this.notice.hidden = !words
    if (time) this.noticeTimer = setTimeout(() => this.say(''), time)
  }

  /** An element that has no height of its own has the image's, for its width. */
  takeRoom({ width, height }) { this.room.style.aspectRatio = `${width} / ${height}` }

  /** What the chrome tells of a view. */
  show(viewport, source) {
    const microns = source.details.micronsPerPixel
    this.controls.show(viewport.scale, microns > 0 ? scaleBar(microns, viewport.scale) : null)
    this.navigator.show(viewport)
  }

  speak(words) { this.spoken.textContent = words }

  showProgress(part) {
    this.progress.classList.toggle('busy', part < 1)
    this.progress.style.scale = `${part} 1`
  }
}
