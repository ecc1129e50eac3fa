import { galleryTranslator } from '../i18n/gallery.js'
import { createElement } from '../viewer/dom.js'
import { ORDERS, formatQuery } from './query-state.js'

/** The bar above the grid: the path of the open folder, its subfolders, and the sort order. */
export class FolderBar {
  /**
   * @param {HTMLElement} box
   * @param {(state: Partial<import('./query-state.js').QueryState>) => void} navigate
   */
  constructor(box, navigate) {
    this.box = box
    this.navigate = navigate
    const t = this.t = galleryTranslator()
    this.links = createElement('nav', { className: 'places', ariaLabel: t('folders') })
    this.order = createElement('select', { id: 'order', ariaLabel: t('sort'), onchange: () => navigate({ sort: this.order.value }) })
    box.append(this.links, this.order)
  }

  /**
   * Sets the control after the sort order.
   * @param {HTMLElement} tool
   */
  add(tool) {
    this.tool = tool
    this.box.append(tool)
    this.box.hidden = false
  }

  /**
   * @param {import('./query-state.js').QueryState} state
   * @param {string[]} [folders] the ids of the subfolders of the open folder; undefined until they are known
   * @param {number} [total] the number of images
   */
  show(state, folders, total) {
    const { folder, sort } = state
    const link = (className, text, to) => createElement('a', {
      className, textContent: text, href: formatQuery({ ...state, folder: to }), onclick: (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        this.navigate({ folder: to })
      },
    })
    const parts = folder ? folder.split('/') : []
    const path = parts.map((name, index) => link('place', name, parts.slice(0, index + 1).join('/')))
    if (folder) path.unshift(link('place', this.t('all'), ''))
    path.at(-1)?.setAttribute('aria-current', 'page')
    const below = (folders ?? []).map((id) => {
      const chip = link('place', id.split('/').pop(), id)
      chip.classList.add('below')
      return chip
    })
    this.links.replaceChildren(...path, ...below)
    const names = this.t('orders')
    const orders = ORDERS.includes(sort) ? ORDERS : [...ORDERS, sort]
    this.order.replaceChildren(...orders.map((value) => createElement('option', {
      value, textContent: names[value || 'name'] ?? value, selected: value === sort })))
    this.order.hidden = total < 2
    this.links.hidden = !this.links.childElementCount
    this.box.hidden = !this.tool && this.order.hidden && this.links.hidden
  }
}
