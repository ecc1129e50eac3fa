import { Controls } from './controls.js'
import { make } from './element.js'
import { Navigator } from './navigator.js'

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
    this.navigator = new Navigator(goTo)
    const sheet = make('link', { rel: 'stylesheet', href: new URL('./viewer.css', import.meta.url) })
    // Before the sheet is there nothing has its place or size.
    this.controls.bar.hidden = true
    this.styled = new Promise((done) => { sheet.onload = sheet.onerror = done })
    this.styled.then(() => { this.controls.bar.hidden = false })
    root.append(
      sheet, this.surface, this.progress, this.navigator.element, this.notice, this.spoken, this.controls.ruler,
      this.controls.bar)
  }

  say(words, time = 0) {
    clearTimeout(this.noticeTimer)
    this.notice.textContent = words
    this.notice.hidden = !words
    if (time) this.noticeTimer = setTimeout(() => this.say(''), time)
  }

  speak(words) { this.spoken.textContent = words }

  showProgress(part) {
    this.progress.classList.toggle('busy', part < 1)
    this.progress.style.scale = `${part} 1`
  }
}
