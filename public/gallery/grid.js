import { galleryTranslator } from '../i18n/gallery.js'
import { imageTitle, zigguratSource } from '../sources/ziggurat.js'
import { serverURL } from '../urls.js'
import { createElement } from '../viewer/dom.js'
import { icon } from './icons.js'
import { Rows } from './rows.js'

/** The distance above and below the window within which rows exist, as a part of the window's height. */
const OVERSCAN = 0.75

/** A virtualized grid of thumbnails: only those near the window exist. */
export class Grid {
  /** @type {((image: object) => string) | null} returns the heading of an image's group; applies from the next `clear` on */
  group = null

  /**
   * @param {HTMLElement} box
   * @param {() => void} nearEnd called when more images are needed
   * @param {(index: number, event: MouseEvent) => void} opened receives the clicked image before the browser follows its
   *   link
   */
  constructor(box, nearEnd, opened) {
    Object.assign(this, {
      box, nearEnd, opened, images: [], shown: new Map(), headings: new Map(), rows: new Rows(1, style(1)),
      address: new URL(document.baseURI), focused: 0, sign: 1, top: 0,
    })
    new ResizeObserver(() => this.relayout()).observe(box)
    addEventListener('scroll', () => this.invalidate(), { passive: true })
    addEventListener('online', () => {
      for (const img of box.querySelectorAll('img:not(.there)')) img.src = img.src
    })
    box.addEventListener('keydown', (event) => this.handleKey(event))
    box.addEventListener('focusin', ({ target }) => {
      this.focused = Number(target.dataset.index)
      for (const link of this.shown.values()) link.tabIndex = link === target ? 0 : -1
    })
  }

  /**
   * Returns the index of an image by its id or its cover's id, or -1.
   * @param {string} id
   */
  indexOf(id) { return this.images.findIndex((image) => id !== undefined && (image.id === id || image.cover === id)) }

  clear() {
    this.focused = 0
    this.replace([])
  }

  append(images) {
    this.images = this.images.concat(images)
    this.rows.append(images)
    this.update()
  }

  /** Resolves when the required thumbnails are loaded or have failed. */
  thumbnailsLoaded() {
    return Promise.all([...this.box.querySelectorAll('img')].map((img) => img.decode().catch(() => {})))
  }

  /** Lays out the grid again if its width has changed. */
  relayout() {
    if (this.box.clientWidth === this.rows.width || document.documentElement.classList.contains('viewing')) return
    const focusVisible = this.box.querySelector(':focus')?.matches(':focus-visible')
    for (const link of this.shown.values()) link.remove()
    this.shown.clear()
    if (this.box.clientWidth > 0) this.layOut()
    if (focusVisible !== undefined) this.shown.get(this.focused)?.focus({ preventScroll: true, focusVisible: focusVisible })
  }

  layOut() {
    const width = this.box.clientWidth
    this.rows = new Rows(width, style(width), this.group)
    for (const heading of this.headings.values()) heading.remove()
    this.headings.clear()
    this.rows.append(this.images)
    this.sign = getComputedStyle(this.box).direction === 'rtl' ? -1 : 1
    this.update()
  }

  replace(images) {
    const links = new Map()
    for (const [index, link] of this.shown) links.set(this.images[index], link)
    this.shown.clear()
    this.images = images
    images.forEach((image, index) => {
      const link = links.get(image)
      if (!link) return
      links.delete(image)
      link.dataset.index = index
      this.shown.set(index, link)
    })
    for (const link of links.values()) link.remove()
    this.layOut()
  }

  invalidate() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0
      this.update()
    })
  }

  update() {
    const { rows, box } = this
    box.style.height = `${rows.height}px`
    const top = -box.getBoundingClientRect().top
    const overscan = innerHeight * OVERSCAN
    const boxes = new Map()
    const nearbyRows = rows.between(top - overscan, top + innerHeight + overscan)
    for (const row of nearbyRows) {
      for (const box of rows.boxes(row)) boxes.set(box.index, box)
    }
    for (const [index, link] of this.shown) {
      // Otherwise the keyboard focus would be lost.
      if (boxes.has(index) || link === document.activeElement) continue
      link.remove()
      this.shown.delete(index)
    }
    for (const [index, box] of boxes) {
      const link = this.shown.get(index) ?? this.createLink(index)
      link.style.transform = `translate(${this.sign * box.x}px, ${box.y}px)`
      link.style.width = `${box.width}px`
      link.firstChild.style.height = `${box.height}px`
    }
    this.updateHeadings(nearbyRows)
    // Rows that scroll past quickly are not loaded.
    const isFast = Math.abs(top - this.top) > innerHeight
    this.top = top
    clearTimeout(this.timer)
    if (isFast) this.timer = setTimeout(() => this.update(), 100)
    else for (const [index, link] of this.shown) this.loadThumbnail(link, this.images[index], boxes.get(index))
    if (top + innerHeight * 3 > rows.height) this.nearEnd()
  }

  /** Inserts the headings of these rows, each before the first image of its group. */
  updateHeadings(rows) {
    for (const [start, heading] of this.headings) {
      if (rows.some((row) => row.start === start)) continue
      heading.remove()
      this.headings.delete(start)
    }
    for (const { start, y, heading } of rows) {
      if (!heading || this.headings.has(start)) continue
      const line = createElement('h2', { className: 'date', textContent: heading })
      line.style.transform = `translateY(${y - this.rows.style.heading}px)`
      this.box.insertBefore(line, this.shown.get(start))
      this.headings.set(start, line)
    }
  }

  loadThumbnail(link, image, box) {
    const frame = link.firstChild
    if (!box || frame.querySelector('img')) return
    const { pyramid, tileURL } = zigguratSource(image, this.address)
    const { tileSize, singleTileLevel } = pyramid
    const wanted = pyramid.levelForScale(0.8 * devicePixelRatio * box.width / image.width)
    const tracks = (length) => length > tileSize ? `${tileSize}fr ${length - tileSize}fr` : '1fr'
    const showLevel = (level) => {
      const { width, height } = pyramid.size(level)
      frame.style.gridTemplate = `${tracks(height)} / ${tracks(width)}`
      for (let row = 0; row * tileSize < height; row += 1) {
        for (let column = 0; column * tileSize < width; column += 1) {
          const img = createElement('img', { alt: '', decoding: 'async', src: tileURL(level, column, row), onload() {
            img.className = 'there'
            const isWhole = Math.abs(box.width / box.height - image.width / image.height) < 0.02
            if (isWhole && level === singleTileLevel && level < wanted) showLevel(level + 1)
          } })
          frame.append(img)
        }
      }
    }
    showLevel(Math.min(wanted, singleTileLevel))
  }

  createLink(index) {
    const image = this.images[index]
    const link = createElement('a', {
      className: image.isBook ? 'picture book' : 'picture', href: serverURL(`view/${encodeURIComponent(image.cover ?? image.id)}`), tabIndex: index === this.focused ? 0 : -1,
      onclick: (event) => this.opened(Number(link.dataset.index), event),
    }, createElement('span', { className: 'frame' }), createElement('span', { className: 'caption', textContent: imageTitle(image) }))
    link.dataset.index = index
    if (image.id.startsWith('~/')) link.ariaDescription = galleryTranslator()('private')
    const kind = image.isBook ? 'book' : image.animated ? 'moves' : null
    if (kind) {
      const name = galleryTranslator()(kind)
      link.firstChild.append(createElement('span', { className: 'badge', role: 'img', ariaLabel: name, title: name }, icon(kind)))
    }
    let next = null
    for (const [other, element] of this.shown) {
      if (other > index && (!next || other < Number(next.dataset.index))) next = element
    }
    this.box.insertBefore(link, next)
    this.shown.set(index, link)
    this.decorate?.(link)
    return link
  }

  handleKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const row = this.rows.rowOf(this.focused)
    const indexInRow = (step) => {
      const other = this.rows.rows[row + step]
      if (!other) return this.focused
      const middle = center(this.rows.boxes(this.rows.rows[row]).find(({ index }) => index === this.focused))
      return this.rows.boxes(other).reduce((best, box) =>
        Math.abs(center(box) - middle) < Math.abs(center(best) - middle) ? box : best).index
    }
    const targets = {
      ArrowRight: this.focused + this.sign, ArrowLeft: this.focused - this.sign,
      ArrowDown: indexInRow(1), ArrowUp: indexInRow(-1), Home: 0, End: Infinity,
    }
    if (!(event.key in targets)) return
    event.preventDefault()
    this.focus(Math.min(Math.max(targets[event.key], 0), this.images.length - 1))
  }

  focus(index, focusVisible) {
    this.focused = index
    const row = this.rows.rows[this.rows.rowOf(index)]
    if (!row) return
    const top = this.box.getBoundingClientRect().top + row.y
    if (top < 80) scrollBy(0, top - 80)
    const below = top + row.height + this.rows.style.caption + 16 - innerHeight
    if (below > 0) scrollBy(0, below)
    this.update()
    this.shown.get(index)?.focus({ preventScroll: true, focusVisible })
  }
}

function center(box) { return box ? box.x + box.width / 2 : 0 }

function style(width) {
  if (width < 600) return { gap: 10, height: 150, caption: 28, heading: 38 }
  return { gap: 16, height: Math.min(Math.max(width / 5.5, 200), 340), caption: 34, heading: 46 }
}
