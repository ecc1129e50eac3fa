import { galleryTranslator } from '../i18n/gallery.js'
import { viewerTranslator } from '../i18n/viewer.js'
import { button } from '../viewer/dom.js'

const RETRY_DELAY = 5000 // ms
const BUILD = 'ziggurat build PICTURES --library DIR'

/** The message and actions in place of the grid while it has no images. */
export class EmptyState {
  /**
   * @param {HTMLElement} box the container in the page
   * @param {{ retry(): void, navigate(state: Partial<import('./query-state.js').QueryState>): void }} page
   *   requests the list again; requests another list
   */
  constructor(box, { retry, navigate }) {
    this.note = box.querySelector('#note')
    this.steps = box.querySelector('#steps')
    this.t = galleryTranslator()
    this.navigate = navigate
    this.retry = retry
    addEventListener('online', () => this.isBroken && retry())
  }

  /** Hides the message, because the grid has images. */
  hide() { this.#show('', '') }

  showLoading() { this.#show('', viewerTranslator()('loading')) }

  /**
   * @param {import('./query-state.js').QueryState} state
   * @param {boolean} needsBuild whether images can be added only by `ziggurat build`
   */
  showEmpty({ query, folder }, needsBuild) {
    const { t } = this
    if (query) {
      this.#show('nothing', folder ? t('nothingFoundIn', { query, folder }) : t('nothingFound', { query }),
        [t('clearSearch'), () => this.navigate({ query: '' })], ...folder ? [[t('allFolders'), () => this.navigate({ folder: '' })]] : [])
    } else if (folder) this.#show('nothing', t('emptyFolder', { folder }), [t('allPictures'), () => this.navigate({ folder: '' })])
    else {
      const add = document.querySelector('body > header .add')
      this.#show('empty', needsBuild ? t('toBeBuilt', { command: BUILD }) : t('empty'), ...add ? [[t('addPictures'), () => add.click()]] : [])
    }
  }

  /** Reports that the list cannot be loaded. It is requested again automatically. */
  showError() {
    this.#show('broken', this.t(navigator.onLine ? 'libraryUnreachable' : 'offline'), [viewerTranslator()('tryAgain'), this.retry])
    this.isBroken = true
    this.timer = setTimeout(this.retry, RETRY_DELAY)
  }

  #show(name, text, ...steps) {
    clearTimeout(this.timer)
    this.isBroken = false
    this.note.parentElement.dataset.state = name
    this.note.textContent = text
    this.note.parentElement.hidden = !text
    this.steps.replaceChildren(...steps.map(([title, run]) => button('wide', title, run)))
  }
}
