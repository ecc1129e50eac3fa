import { Controls } from './controls.js'
import { Navigator } from './navigator.js'

export class Shell {
  constructor(root, { run, goTo }) {
    this.root = root
    this.canvas = document.createElement('canvas')
    this.canvas.className = 'picture'
    this.track = make('div', 'track')
    this.track.append(this.canvas)
    // Hands are felt by what does not move with the page.
    this.surface = make('div', 'surface')
    this.surface.append(this.track)
    this.notice = make('p', 'notice')
    this.notice.setAttribute('role', 'status')
    this.notice.hidden = true
    this.spoken = make('p', 'spoken')
    this.spoken.setAttribute('role', 'status')
    this.progress = make('div', 'progress')
    this.progress.setAttribute('aria-hidden', 'true')
    this.controls = new Controls(run)
    this.navigator = new Navigator(goTo)
    const sheet = document.createElement('link')
    sheet.rel = 'stylesheet'
    sheet.href = new URL('./viewer.css', import.meta.url).href
    // Before the sheet is there nothing has its place or size.
    this.controls.bar.hidden = true
    this.styled = new Promise((done) => {
      for (const type of ['load', 'error']) {
        sheet.addEventListener(type, () => {
          this.controls.bar.hidden = false
          done()
        })
      }
    })
    root.append(
      sheet, this.surface, this.progress, this.navigator.element, this.notice, this.spoken, this.controls.ruler,
      this.controls.bar)
    this.noticeTimer = 0
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

function make(tag, name) {
  const element = document.createElement(tag)
  element.className = name
  return element
}
