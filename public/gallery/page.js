import { galleryTranslator } from '../i18n/gallery.js'
import { storedOpenItem } from '../paging/album.js'
import { EmptyState } from './empty-state.js'
import { FolderBar } from './folder-bar.js'
import { Grid } from './grid.js'
import { Library } from './library.js'
import { LightboxLauncher } from './lightbox-launcher.js'
import { formatQuery, monthOf, parseQuery } from './query-state.js'

const TYPING = 220 // ms

/** The gallery's page: the images that its address requests, in a grid. Going back to it restores the scroll position. */
export class Gallery {
  state = parseQuery(location.search)
  library = new Library('')
  /** The scroll position to restore when the list is loaded, from the history entry. */
  savedScroll = null

  constructor() {
    const find = (id) => document.getElementById(id)
    this.field = find('search')
    this.t = galleryTranslator()
    this.field.placeholder = this.t('search')
    this.field.ariaLabel = this.t('searchImages')
    this.grid = new Grid(find('grid'), () => this.loadMore(), (index, event) => this.launcher.open(index, event))
    this.launcher = new LightboxLauncher(this.grid, {
      total: () => this.library.isComplete ? this.grid.images.length : this.library.total ?? this.grid.images.length,
      saveScroll: () => this.saveScroll(),
      reload: () => this.reload(),
    })
    this.folderBar = new FolderBar(find('folder-bar'), (state) => this.navigate(state))
    this.emptyState = new EmptyState(document.querySelector('main'), { retry: () => this.retry(), navigate: (state) => this.navigate(state) })
    this.#addListeners()
    this.#readSavedScroll()
    this.search()
  }

  /**
   * Requests another list. A change of folder creates a history entry.
   * @param {Partial<import('./query-state.js').QueryState>} state
   */
  navigate(state) {
    this.savedScroll = null
    this.saveScroll()
    this.state = { ...this.state, ...state }
    const method = 'folder' in state ? 'pushState' : 'replaceState'
    history[method](null, '', formatQuery(this.state))
    this.search()
    if ('folder' in state) scrollTo(0, 0)
  }

  /** Loads the requested list from the start. */
  search() {
    this.library.cancel()
    this.library = new Library(this.state.query, undefined, null, this.state)
    if (document.activeElement !== this.field) this.field.value = this.state.query
    const isByDate = /^-?date$/.test(this.state.sort)
    this.grid.group = isByDate ? (image) => monthOf(image, this.t('withoutDate')) : null
    this.grid.clear()
    this.emptyState.showLoading()
    this.loadMore()
  }

  /** Loads the next part of the list, if there is one. */
  async loadMore() {
    const current = this.library
    if (current.isComplete || current.pending || current.abort.signal.aborted) return
    try {
      const images = await current.more()
      if (current !== this.library) return
      this.grid.append(images)
      this.folderBar.show(this.state, current.folders, current.total)
      this.#restoreScroll()
      this.launcher.preload()
      this.updateEmptyState()
    } catch (error) {
      if (current === this.library && !current.abort.signal.aborted) this.emptyState.showError()
    }
  }

  /** Shows a message if the complete list is empty. It depends on the visitor's rights. */
  updateEmptyState() {
    if (this.grid.images.length > 0) this.emptyState.hide()
    else if (this.library.isComplete) this.emptyState.showEmpty(this.state, this.library.needsBuild)
  }

  /** Requests the list again after a failure. */
  retry() {
    this.emptyState.showLoading()
    this.loadMore()
  }

  /** Reloads the list after a change, and keeps the scroll position. */
  reload() {
    const open = this.grid.box.contains(document.activeElement) && this.grid.images[this.grid.focused]?.id
    this.savedScroll = { top: scrollY, count: this.grid.images.length, open }
    this.search()
  }

  /** Saves the scroll position in the history entry, unless an image is open, which has its own entry. */
  saveScroll() {
    if (this.launcher.isOpen) return
    history.replaceState({ scroll: { top: scrollY, count: this.grid.images.length, focusVisible: this.launcher.focusVisible } }, '')
  }

  #readSavedScroll() {
    this.savedScroll = history.state?.scroll ?? null
    if (this.savedScroll && this.savedScroll.focusVisible !== null) this.savedScroll.open = storedOpenItem(sessionStorage)
  }

  #restoreScroll() {
    if (!this.savedScroll) return
    const { top, count, open, focusVisible } = this.savedScroll
    if (this.grid.images.length < count && !this.library.isComplete) return this.loadMore()
    this.savedScroll = null
    scrollTo(0, top)
    const index = this.grid.indexOf(open)
    if (index >= 0) this.grid.focus(index, focusVisible)
    this.launcher.focusVisible = null
    this.saveScroll()
  }

  #addListeners() {
    const { field } = this
    history.scrollRestoration = 'manual'
    addEventListener('pagehide', () => this.saveScroll())
    addEventListener('pageshow', ({ persisted }) => {
      if (!persisted) return
      this.#readSavedScroll()
      this.#restoreScroll()
    })
    addEventListener('popstate', () => {
      const state = parseQuery(location.search)
      if (this.launcher.isOpen || formatQuery(state) === formatQuery(this.state)) return
      this.state = state
      this.#readSavedScroll()
      this.search()
    })
    let timer = 0
    field.oninput = () => {
      clearTimeout(timer)
      timer = setTimeout(() => this.navigate({ query: field.value.trim() }), TYPING)
    }
    field.form.onsubmit = (event) => {
      event.preventDefault()
      clearTimeout(timer)
      this.navigate({ query: field.value.trim() })
    }
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || this.launcher.isOpen || event.target === field || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      field.focus()
    })
  }
}
