import { galleryTranslator } from '../i18n/gallery.js'
import { make } from '../viewer/element.js'
import { ORDERS, formatQuery } from './query-state.js'

/** The bar above the grid: the path of the open folder, its subfolders, and the sort order. */
export class FolderBar {
  /**
   * @param {HTMLElement} box
   * @param {(asked: Partial<import('./query-state.js').Asked>) => void} ask
   */
  constructor(box, ask) {
    this.box = box
    this.ask = ask
    const t = this.t = galleryTranslator()
    this.places = make('nav', { className: 'places', ariaLabel: t('folders') })
    this.order = make('select', { id: 'order', ariaLabel: t('sort'), onchange: () => ask({ sort: this.order.value }) })
    box.append(this.places, this.order)
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
   * @param {import('./query-state.js').Asked} asked
   * @param {string[]} [folders] the ids of the subfolders of the open folder; undefined until they are known
   * @param {number} [total] the number of images
   */
  show(asked, folders, total) {
    const { folder, sort } = asked
    const link = (className, words, to) => make('a', {
      className, textContent: words, href: formatQuery({ ...asked, folder: to }), onclick: (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        this.ask({ folder: to })
      },
    })
    const parts = folder ? folder.split('/') : []
    const way = parts.map((name, index) => link('place', name, parts.slice(0, index + 1).join('/')))
    if (folder) way.unshift(link('place', this.t('all'), ''))
    way.at(-1)?.setAttribute('aria-current', 'page')
    const below = (folders ?? []).map((id) => {
      const chip = link('place', id.split('/').pop(), id)
      chip.classList.add('below')
      return chip
    })
    this.places.replaceChildren(...way, ...below)
    const names = this.t('orders')
    const orders = ORDERS.includes(sort) ? ORDERS : [...ORDERS, sort]
    this.order.replaceChildren(...orders.map((value) => make('option', {
      value, textContent: names[value || 'name'] ?? value, selected: value === sort })))
    this.order.hidden = total < 2
    this.places.hidden = !this.places.childElementCount
    this.box.hidden = !this.tool && this.order.hidden && this.places.hidden
  }
}
