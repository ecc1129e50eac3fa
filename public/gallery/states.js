import { text } from '../text/browsing.js'
import { text as common } from '../text/english.js'
import { button } from '../viewer/element.js'

const AGAIN = 5000 // ms

/** What stands in the pictures' place where there are none, and what one can do about it. */
export class States {
  /**
   * @param {HTMLElement} box of the page
   * @param {{ again(): void, ask(asked: Partial<import('./asked.js').Asked>): void }} page asks once more; asks for something else
   */
  constructor(box, { again, ask }) {
    this.note = box.querySelector('#note')
    this.steps = box.querySelector('#steps')
    this.ask = ask
    this.again = again
    addEventListener('online', () => this.isBroken && again())
  }

  /** Pictures are there. */
  none() { this.#show('', '') }

  loading() { this.#show('', common.loading) }

  /**
   * @param {import('./asked.js').Asked} asked
   * @param {boolean} isToBeBuilt whether the library is made by the builder alone
   */
  empty({ query, folder }, isToBeBuilt) {
    if (query) {
      this.#show('nothing', folder ? text.nothingFoundIn(query, folder) : common.nothingFound(query),
        [text.clearSearch, () => this.ask({ query: '' })], ...folder ? [[text.allFolders, () => this.ask({ folder: '' })]] : [])
    } else if (folder) this.#show('nothing', text.emptyFolder(folder), [text.allPictures, () => this.ask({ folder: '' })])
    else {
      const add = document.querySelector('body > header .add')
      this.#show('empty', isToBeBuilt ? common.toBeBuilt : text.empty, ...add ? [[text.addPictures, () => add.click()]] : [])
    }
  }

  /** The list cannot be had; it is asked for again by itself, too. */
  broken() {
    this.#show('broken', navigator.onLine ? common.libraryUnreachable : text.offline, [common.tryAgain, this.again])
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
