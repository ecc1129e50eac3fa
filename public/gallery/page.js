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
  asked = parseQuery(location.search)
  library = new Library('')
  /** The scroll position to restore when the list is loaded, from the history entry. */
  left = null

  constructor() {
    const find = (id) => document.getElementById(id)
    this.field = find('search')
    this.t = galleryTranslator()
    this.field.placeholder = this.t('search')
    this.field.ariaLabel = this.t('searchImages')
    this.grid = new Grid(find('grid'), () => this.read(), (index, event) => this.opening.open(index, event))
    this.opening = new LightboxLauncher(this.grid, {
      total: () => this.library.isComplete ? this.grid.images.length : this.library.total ?? this.grid.images.length,
      leave: () => this.leave(),
      reload: () => this.reload(),
    })
    this.shelf = new FolderBar(find('shelf'), (asked) => this.ask(asked))
    this.states = new EmptyState(document.querySelector('main'), { again: () => this.again(), ask: (asked) => this.ask(asked) })
    this.#listen()
    this.#returned()
    this.search()
  }

  /**
   * Requests another list. A change of folder creates a history entry.
   * @param {Partial<import('./query-state.js').Asked>} asked
   */
  ask(asked) {
    this.left = null
    this.leave()
    this.asked = { ...this.asked, ...asked }
    const write = 'folder' in asked ? 'pushState' : 'replaceState'
    history[write](null, '', formatQuery(this.asked))
    this.search()
    if ('folder' in asked) scrollTo(0, 0)
  }

  /** Loads the requested list from the start. */
  search() {
    this.library.stop()
    this.library = new Library(this.asked.query, undefined, null, this.asked)
    if (document.activeElement !== this.field) this.field.value = this.asked.query
    const isByDate = /^-?date$/.test(this.asked.sort)
    this.grid.group = isByDate ? (image) => monthOf(image, this.t('withoutDate')) : null
    this.grid.clear()
    this.states.loading()
    this.read()
  }

  /** Loads the next part of the list, if there is one. */
  async read() {
    const current = this.library
    if (current.isComplete || current.reading || current.abort.signal.aborted) return
    try {
      const images = await current.more()
      if (current !== this.library) return
      this.grid.append(images)
      this.shelf.show(this.asked, current.folders, current.total)
      this.#comeBack()
      this.opening.ahead()
      this.tell()
    } catch (error) {
      if (current === this.library && !current.abort.signal.aborted) this.states.broken()
    }
  }

  /** Shows a message if the complete list is empty. It depends on the visitor's rights. */
  tell() {
    if (this.grid.images.length > 0) this.states.none()
    else if (this.library.isComplete) this.states.empty(this.asked, this.library.isToBeBuilt)
  }

  /** Requests the list again after a failure. */
  again() {
    this.states.loading()
    this.read()
  }

  /** Reloads the list after a change, and keeps the scroll position. */
  reload() {
    const open = this.grid.box.contains(document.activeElement) && this.grid.images[this.grid.focused]?.id
    this.left = { top: scrollY, count: this.grid.images.length, open }
    this.search()
  }

  /** Saves the scroll position in the history entry, unless an image is open, which has its own entry. */
  leave() {
    if (this.opening.isOpen) return
    history.replaceState({ place: { top: scrollY, count: this.grid.images.length, ring: this.opening.ring } }, '')
  }

  #returned() {
    this.left = history.state?.place ?? null
    if (this.left && this.left.ring !== null) this.left.open = storedOpenItem(sessionStorage)
  }

  #comeBack() {
    if (!this.left) return
    const { top, count, open, ring } = this.left
    if (this.grid.images.length < count && !this.library.isComplete) return this.read()
    this.left = null
    scrollTo(0, top)
    const index = this.grid.indexOf(open)
    if (index >= 0) this.grid.focus(index, ring)
    this.opening.ring = null
    this.leave()
  }

  #listen() {
    const { field } = this
    history.scrollRestoration = 'manual'
    addEventListener('pagehide', () => this.leave())
    addEventListener('pageshow', ({ persisted }) => {
      if (!persisted) return
      this.#returned()
      this.#comeBack()
    })
    addEventListener('popstate', () => {
      const asked = parseQuery(location.search)
      if (this.opening.isOpen || formatQuery(asked) === formatQuery(this.asked)) return
      this.asked = asked
      this.#returned()
      this.search()
    })
    let timer = 0
    field.oninput = () => {
      clearTimeout(timer)
      timer = setTimeout(() => this.ask({ query: field.value.trim() }), TYPING)
    }
    field.form.onsubmit = (event) => {
      event.preventDefault()
      clearTimeout(timer)
      this.ask({ query: field.value.trim() })
    }
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || this.opening.isOpen || event.target === field || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      field.focus()
    })
  }
}
