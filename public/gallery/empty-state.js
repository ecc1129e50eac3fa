import { browsing } from '../text/browsing.js'
import { reading } from '../text/reading.js'
import { button } from '../viewer/element.js'

const AGAIN = 5000 // ms
const BUILD = 'ziggurat build PICTURES --library DIR'

/** What stands in the pictures' place where there are none, and what one can do about it. */
export class EmptyState {
  /**
   * @param {HTMLElement} box of the page
   * @param {{ again(): void, ask(asked: Partial<import('./query-state.js').Asked>): void }} page asks once more; asks for something else
   */
  constructor(box, { again, ask }) {
    this.note = box.querySelector('#note')
    this.steps = box.querySelector('#steps')
    this.say = browsing()
    this.ask = ask
    this.again = again
    addEventListener('online', () => this.isBroken && again())
  }

  /** Pictures are there. */
  none() { this.#show('', '') }

  loading() { this.#show('', reading()('loading')) }

  /**
   * @param {import('./query-state.js').Asked} asked
   * @param {boolean} isToBeBuilt whether the library is made by the builder alone
   */
  empty({ query, folder }, isToBeBuilt) {
    const { say } = this
    if (query) {
      this.#show('nothing', folder ? say('nothingFoundIn', { query, folder }) : say('nothingFound', { query }),
        [say('clearSearch'), () => this.ask({ query: '' })], ...folder ? [[say('allFolders'), () => this.ask({ folder: '' })]] : [])
    } else if (folder) this.#show('nothing', say('emptyFolder', { folder }), [say('allPictures'), () => this.ask({ folder: '' })])
    else {
      const add = document.querySelector('body > header .add')
      this.#show('empty', isToBeBuilt ? say('toBeBuilt', { command: BUILD }) : say('empty'), ...add ? [[say('addPictures'), () => add.click()]] : [])
    }
  }

  /** The list cannot be had; it is asked for again by itself, too. */
  broken() {
    this.#show('broken', this.say(navigator.onLine ? 'libraryUnreachable' : 'offline'), [reading()('tryAgain'), this.again])
    this.isBroken = true
    this.timer = setTimeout(this.again, AGAIN)
  }

  #show(name, words, ...steps) {
    clearTimeout(this.timer)
    this.isBroken = false
    this.note.parentElement.dataset.state = name
    this.note.textContent = words
    this.note.parentElement.hidden = !words
    this.steps.replaceChildren(...steps.map(([title, run]) => button('wide', title, run)))
  }
}
