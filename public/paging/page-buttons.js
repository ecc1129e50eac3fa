import { button } from '../viewer/dom.js'
import { icon } from '../viewer/icons.js'

/** The buttons for the previous and the next image, at the sides of the window, for mouse users. Touch users swipe. */
export class PageButtons {
  /**
   * @param {(command: string) => void} run executes a command of the viewer
   * @param {HTMLElement} strip shown if there is a previous or next image
   */
  constructor(run, strip) {
    this.strip = strip
    this.elements = ['pageLeft', 'pageRight'].map((command) => {
      const element = button(`turner ${command}`, '', () => run(command), icon(command))
      element.hidden = true
      element.part.add('page-button')
      return element
    })
  }

  /**
   * @param {import('./pager.js').Pager} pager
   * @param {import('../i18n/translator.js').Translate} t
   */
  show({ neighbours, sign }, t) {
    this.strip.hidden = !neighbours.left && !neighbours.right
    for (const [index, exists] of [neighbours.left, neighbours.right].entries()) {
      const element = this.elements[index]
      const isNext = (index === 1) === sign > 0
      element.title = element.ariaLabel = t(isNext ? 'next' : 'previous')
      // When a button disappears at the end of the list, the viewer takes the focus, so that keys still work.
      if (!exists && element.matches(':focus')) element.getRootNode().host.focus({ preventScroll: true })
      element.hidden = !exists
    }
  }
}
