import { text } from '../text/english.js'
import { icon } from './icons.js'

export class Controls {
  constructor(run) {
    this.bar = document.createElement('div')
    this.bar.className = 'controls'
    this.bar.part.add('controls')
    this.bar.setAttribute('role', 'toolbar')
    this.bar.setAttribute('aria-label', text.controls)
    this.scale = document.createElement('span')
    this.scale.className = 'scale'
    this.ruler = document.createElement('span')
    this.ruler.className = 'ruler'
    this.ruler.hidden = true
    const rule = document.createElement('span')
    rule.className = 'rule'
    this.play = button('play', run)
    this.play.hidden = true
    this.bar.append(
      this.play, button('zoomOut', run), this.scale, button('zoomIn', run), rule,
      button('fit', run), button('rotate', run), button('fullscreen', run), button('more', run))
  }

  showMotion(plays) {
    this.play.hidden = plays === null
    const name = plays ? 'pause' : 'play'
    this.play.replaceChildren(icon(name))
    this.play.title = text[name]
    this.play.setAttribute('aria-label', text[name])
  }

  show(scale, bar) {
    const words = text.scale(scale)
    if (this.scale.textContent !== words) this.scale.textContent = words
    this.ruler.hidden = !bar
    if (!bar) return
    this.ruler.textContent = bar.words
    this.ruler.style.width = `${bar.length}px`
  }
}

function button(name, run) {
  const element = document.createElement('button')
  element.type = 'button'
  element.className = name
  element.title = text[name]
  element.setAttribute('aria-label', text[name])
  if (name === 'more') element.setAttribute('aria-haspopup', 'menu')
  element.append(icon(name))
  element.addEventListener('click', () => run(name))
  return element
}
