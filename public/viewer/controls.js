import { text } from '../text/english.js'
import { button, make } from './element.js'
import { icon } from './icons.js'

export class Controls {
  constructor(run) {
    const press = (name) => button(name, text[name], () => run(name), icon(name))
    this.scale = make('span', { className: 'scale' })
    this.ruler = make('span', { className: 'ruler', hidden: true })
    this.play = press('play')
    this.play.hidden = true
    this.play.dataset.plays = ''
    this.strip = press('filmstrip')
    this.strip.hidden = true
    const more = press('more')
    more.ariaHasPopup = 'menu'
    this.bar = make('div', { className: 'controls', role: 'toolbar', ariaLabel: text.controls },
      this.play, press('zoomOut'), this.scale, press('zoomIn'), make('span', { className: 'rule' }),
      press('fit'), press('rotate'), this.strip, press('fullscreen'), more)
    this.bar.part.add('controls')
  }

  showMotion(plays) {
    this.play.hidden = plays === null
    const name = plays ? 'pause' : 'play'
    this.play.replaceChildren(icon(name))
    this.play.title = this.play.ariaLabel = text[name]
  }

  /** Without a picture there is no scale to tell. */
  hide() {
    this.scale.textContent = ''
    this.ruler.hidden = true
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
