import { percent } from './descriptions.js'
import { button, createElement } from './dom.js'
import { icon } from './icons.js'

/** The control bar of a viewer and its scale bar. */
export class Controls {
  /** @param {(command: string) => void} run */
  constructor(run) {
    const press = (name) => {
      const element = button(name, '', () => run(name), icon(name))
      element.dataset.message = name
      return element
    }
    this.scale = createElement('span', { className: 'scale' })
    this.ruler = createElement('span', { className: 'ruler', hidden: true })
    this.play = press('play')
    this.play.hidden = true
    this.play.dataset.plays = ''
    this.strip = press('filmstrip')
    this.strip.hidden = true
    const more = press('more')
    more.ariaHasPopup = 'menu'
    this.bar = createElement('div', { className: 'controls', role: 'toolbar' },
      this.play, press('zoomOut'), this.scale, press('zoomIn'), createElement('span', { className: 'rule' }),
      press('fit'), press('rotate'), this.strip, press('fullscreen'), more)
    this.bar.part.add('controls')
  }

  /**
   * Sets the labels in a language.
   * @param {import('../i18n/translator.js').Translate} t
   */
  updateLabels(t) {
    this.t = t
    this.bar.ariaLabel = t('controls')
    for (const element of this.bar.querySelectorAll('button')) element.title = element.ariaLabel = t(element.dataset.message)
  }

  showMotion(plays) {
    this.play.hidden = plays === null
    const name = plays ? 'pause' : 'play'
    this.play.replaceChildren(icon(name))
    this.play.dataset.message = name
    this.play.title = this.play.ariaLabel = this.t(name)
  }

  /** Hides the scale, because no image is open. */
  hide() {
    this.scale.textContent = ''
    this.ruler.hidden = true
  }

  /**
   * Shows the scale.
   * @param {number} scale device pixels per image pixel
   * @param {{ text: string, length: number } | null} bar the text and the length of the scale bar, in CSS pixels
   */
  show(scale, bar) {
    const text = this.t('scale', { percent: percent(scale) })
    if (this.scale.textContent !== text) this.scale.textContent = text
    this.ruler.hidden = !bar
    if (!bar) return
    this.ruler.textContent = bar.text
    this.ruler.style.width = `${bar.length}px`
  }
}
