import { galleryTranslator } from '../i18n/gallery.js'
import { viewerTranslator } from '../i18n/viewer.js'
import { button } from '../viewer/element.js'

const AGAIN = 5000 // ms
const BUILD = 'ziggurat build PICTURES --library DIR'

/** The message and actions in place of the grid while it has no images. */
export class EmptyState {
  /**
   * @param {HTMLElement} box the container in the page
   * @param {{ again(): void, ask(asked: Partial<import('./query-state.js').Asked>): void }} page requests the list again;
   *   requests another list
   */
  constructor(box, { again, ask }) {
    this.note = box.querySelector('#note')
    this.steps = box.querySelector('#steps')
    this.t = galleryTranslator()
    this.ask = ask
    this.again = again
    addEventListener('online', () => this.isBroken && again())
  }

  /** Hides the message, because the grid has images. */
  none() { this.#show('', '') }

  loading() { this.#show('', viewerTranslator()('loading')) }

  /**
   * @param {import('./query-state.js').Asked} asked
   * @param {boolean} isToBeBuilt whether images can be added only by `ziggurat build`
   */
  empty({ query, folder }, isToBeBuilt) {
    const { t } = this
    if (query) {
      this.#show('nothing', folder ? t('nothingFoundIn', { query, folder }) : t('nothingFound', { query }),
        [t('clearSearch'), () => this.ask({ query: '' })], ...folder ? [[t('allFolders'), () => this.ask({ folder: '' })]] : [])
    } else if (folder) this.#show('nothing', t('emptyFolder', { folder }), [t('allPictures'), () => this.ask({ folder: '' })])
    else {
      const add = document.querySelector('body > header .add')
      this.#show('empty', isToBeBuilt ? t('toBeBuilt', { command: BUILD }) : t('empty'), ...add ? [[t('addPictures'), () => add.click()]] : [])
    }
  }

  /** Reports that the list cannot be loaded. It is requested again automatically. */
  broken() {
    this.#show('broken', this.t(navigator.onLine ? 'libraryUnreachable' : 'offline'), [viewerTranslator()('tryAgain'), this.again])
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
