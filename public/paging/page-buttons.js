import { button } from '../viewer/element.js'
import { icon } from '../viewer/icons.js'

/** The previous and the next image, on the sides of the window on which they lie; for who has a mouse, fingers swipe. */
export class PageButtons {
  /**
   * @param {(command: string) => void} run
   * @param {HTMLElement} strip is there wherever there is something to turn to
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
   * @param {import('./pager.js').Pager} pager what there is to turn to
   * @param {import('../text/language.js').Say} say
   */
  show({ neighbours, sign }, say) {
    this.strip.hidden = !neighbours.left && !neighbours.right
    for (const [index, isThere] of [neighbours.left, neighbours.right].entries()) {
      const element = this.elements[index]
      const isNext = (index === 1) === sign > 0
      element.title = element.ariaLabel = say(isNext ? 'next' : 'previous')
      // At the end of the list, keys still have somebody to speak to.
      if (!isThere && element.matches(':focus')) element.getRootNode().host.focus({ preventScroll: true })
      element.hidden = !isThere
    }
  }
}
