import { icon } from '../gallery/icons.js'
import { Library } from '../gallery/library.js'
import { editingTranslator } from '../i18n/editing.js'
import { serverURL } from '../urls.js'
import { button, createElement } from '../viewer/dom.js'
import { callAPI, isPrivate } from './api.js'
import { editImage } from './form.js'
import { announce, toast } from './toast.js'
import { deleteImages, offerUndo, takeFlashMessage } from './trash.js'

const LONG_PRESS = 450 // ms
const [SLOP, EDGE, STEP] = [10, 90, 14] // CSS px

/** Selects images in the gallery and applies actions to them. */
export class Selection {
  constructor(grid, header, reload, { canWrite, canWriteSpace }) {
    Object.assign(this, { grid, reload, chosen: new Set(), base: new Set(), anchor: 0, isActive: false })
    const t = this.t = editingTranslator()
    this.may = (index) => isPrivate(grid.images[index].id) ? canWriteSpace : canWrite
    this.canMove = canWrite && canWriteSpace
    this.start = button('round select', t('select'), () => this.isActive ? this.close() : this.enter(), icon('select'))
    header.append(this.start)
    const press = (name, run) => button(`round ${name}`, t(name), run, icon(name))
    this.count = createElement('span')
    this.edit = press('edit', () => this.editSelected())
    this.moveIn = press('moveIn', () => this.moveSelected('space'))
    this.moveOut = press('moveOut', () => this.moveSelected('library'))
    this.delete = press('delete', () => this.deleteSelected())
    this.bar = createElement('div', { className: 'selection', role: 'toolbar', ariaLabel: t('selection'), hidden: true },
      press('leave', () => this.close()), this.count, this.edit, this.moveIn, this.moveOut, this.delete)
    grid.box.after(this.bar)
    document.body.classList.add('writable')
    grid.decorate = (link) => {
      if (!this.may(link.dataset.index)) return
      link.firstElementChild.append(createElement('span', { className: 'tick' }, icon('check')))
      this.updateLink(link)
    }
    for (const link of grid.shown.values()) grid.decorate(link)
    this.addListeners(grid.box)
    const flash = takeFlashMessage()
    if (flash) offerUndo(flash, flash.ids.size, reload)
  }

  addListeners(box) {
    const at = (target) => {
      const link = target.closest('.picture')
      return link && this.may(link.dataset.index) ? Number(link.dataset.index) : null
    }
    let timer = 0
    let pressed = null
    // Before the grid opens the image.
    box.addEventListener('click', (event) => {
      const index = at(event.target)
      const toggles = this.isActive || event.ctrlKey || event.metaKey || event.target.closest('.tick')
      if (index === null || !(toggles || event.shiftKey || pressed?.isSpent)) return
      event.preventDefault()
      event.stopPropagation()
      if (pressed?.isSpent) return
      if (event.shiftKey) this.extend(index)
      else this.toggle(index)
    }, true)
    box.addEventListener('pointerdown', (event) => {
      const index = at(event.target)
      clearTimeout(timer)
      pressed = { x: event.clientX, y: event.clientY, isSpent: false }
      if (event.pointerType === 'mouse' || index === null) return
      timer = setTimeout(() => {
        pressed.isSpent = true
        navigator.vibrate?.(8)
        this.toggle(index)
        event.target.closest('a').focus({ preventScroll: true })
      }, LONG_PRESS)
    })
    box.addEventListener('pointermove', (event) => {
      if (pressed?.isSpent) {
        if (event.clientY > innerHeight - EDGE) scrollBy(0, STEP)
        if (event.clientY < EDGE) scrollBy(0, -STEP)
        const index = document.elementsFromPoint(event.clientX, event.clientY).map(at).find((each) => each !== null)
        if (index >= 0 && index !== this.lastIndex) this.extend(this.lastIndex = index)
      } else if (Math.hypot(event.clientX - pressed?.x, event.clientY - pressed?.y) > SLOP) clearTimeout(timer)
    })
    for (const type of ['pointerup', 'pointercancel']) {
      box.addEventListener(type, () => {
        clearTimeout(timer)
        setTimeout(() => { pressed = null })
      })
    }
    box.addEventListener('touchmove', (event) => pressed?.isSpent && event.preventDefault(), { passive: false })
    box.addEventListener('contextmenu', (event) => event.pointerType === 'touch' && event.preventDefault())
    box.addEventListener('keydown', (event) => this.handleKey(event), true)
    document.addEventListener('keydown', (event) => {
      if (event.target.closest('dialog, input') || !this.isActive) return
      if (event.key === 'Escape') this.close()
      if (event.key === 'Delete') this.deleteSelected()
      if (event.key === 'a' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault()
        this.base = new Set()
        this.anchor = 0
        this.extend(this.grid.images.length - 1)
      }
    })
    addEventListener('pageshow', ({ persisted }) => persisted && this.reload())
  }

  handleKey(event) {
    const { grid } = this
    if (event.key === ' ') {
      event.preventDefault()
      this.toggle(grid.focused)
    } else if (event.shiftKey && /^(Arrow|Home|End)/.test(event.key)) {
      if (!this.chosen.size) this.toggle(grid.focused)
      grid.handleKey(event)
      event.stopPropagation()
      this.extend(grid.focused)
    }
  }

  enter() {
    this.isActive = true
    this.show()
  }

  close() {
    this.isActive = false
    this.chosen = new Set()
    this.base = new Set()
    this.show()
    if (!document.activeElement?.closest('#grid')) this.grid.focus(this.grid.focused)
  }

  toggle(index) {
    if (!this.may(index)) return
    const { id } = this.grid.images[index]
    this.isActive = true
    if (!this.chosen.delete(id)) this.chosen.add(id)
    this.base = new Set(this.chosen)
    this.anchor = index
    if (this.chosen.size) this.show()
    else this.close()
  }

  extend(index) {
    const [first, last] = [Math.min(this.anchor, index), Math.max(this.anchor, index)]
    this.isActive = true
    this.chosen = new Set(this.base)
    for (let each = first; each <= last; each += 1) if (this.may(each)) this.chosen.add(this.grid.images[each].id)
    this.show()
  }

  show() {
    const { size } = this.chosen
    document.body.classList.toggle('selecting', this.isActive)
    this.start.ariaPressed = this.isActive
    this.bar.hidden = !this.isActive
    this.count.textContent = size ? this.t('selected', { count: size }) : this.t('select')
    this.edit.disabled = size !== 1 || this.books.length > 0
    this.delete.disabled = size === 0
    const privateCount = [...this.chosen].filter(isPrivate).length
    this.moveIn.hidden = !this.canMove || !size || privateCount > 0
    this.moveOut.hidden = !this.canMove || !size || privateCount < size
    announce(this.isActive ? this.count.textContent : '')
    for (const link of this.grid.shown.values()) this.updateLink(link)
  }

  /** The ids of the selected books. */
  get books() { return this.grid.images.filter(({ id, isBook }) => isBook && this.chosen.has(id)).map(({ id }) => id) }

  /** Returns the ids of the selected images, including all pages of selected books. */
  async images() {
    const ids = new Set(this.chosen)
    for (const book of this.books) {
      ids.delete(book)
      const pages = new Library('', undefined, book)
      while (!pages.isComplete) for (const { id } of await pages.more()) ids.add(id)
    }
    return [...ids]
  }

  updateLink(link) {
    if (!this.may(link.dataset.index)) return
    const isChosen = this.chosen.has(this.grid.images[link.dataset.index].id)
    link.classList.toggle('chosen', isChosen)
    link.role = this.isActive ? 'checkbox' : null
    link.ariaChecked = this.isActive ? isChosen : null
  }

  editSelected() {
    const { grid } = this
    const [id] = this.chosen
    editImage(document.body, id, (image) => {
      const index = grid.images.findIndex((each) => each.id === id)
      grid.replace(grid.images.map((each) => each.id === id ? image : each))
      grid.focused = index
      this.close()
      grid.focus(index)
      toast(this.t('saved'))
    }).catch(({ message }) => toast(message))
  }

  async moveSelected(to) {
    let ids = []
    try {
      ids = await this.images()
      this.close()
      const warnings = new Set()
      for (const id of ids) {
        const moved = await callAPI('POST', serverURL(`api/images/${encodeURIComponent(id)}/move`), { to })
        if (moved?.warning) warnings.add(this.t('publishedAgain'))
      }
      toast([this.t('moved', { count: ids.length }), ...warnings].join(' '))
    } catch (error) {
      toast(error.message)
    }
    this.reload()
  }

  async deleteSelected() {
    const { grid } = this
    if (!this.chosen.size || this.delete.disabled) return
    this.delete.disabled = true
    try {
      const hasBooks = this.books.length > 0
      const requested = await this.images()
      const result = await deleteImages(requested)
      const before = grid.images
      const after = before.filter(({ id }) => !result.ids.has(id))
      if (after.length && !hasBooks) grid.replace(after)
      else this.reload()
      grid.focused = Math.max(Math.min(this.anchor, after.length - 1), 0)
      this.close()
      offerUndo(result, requested.length, (isAll) => {
        if (isAll && !hasBooks && grid.images === after) grid.replace(before)
        else this.reload()
      })
    } catch (error) {
      this.delete.disabled = false
      toast(error.message)
    }
  }
}
