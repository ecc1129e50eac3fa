import { albumOf, leaveAlbum, rememberedOpen } from '../paging/album.js'
import { place } from '../place.js'
import { imageTitle } from '../sources/ziggurat.js'
import { text } from '../text/english.js'
import { Grid } from './grid.js'
import { Library } from './library.js'

const TYPING = 220 // ms

/** The gallery's page: its grid, its search, and the pictures that are opened over it. */
export function showGallery() {
  const find = (id) => document.getElementById(id)
  const field = find('search')
  const note = find('note')
  const again = find('again')
  field.placeholder = text.search
  field.ariaLabel = text.searchImages
  again.textContent = text.tryAgain
  let ring = null
  /** Pictures over the gallery, once what shows them is there. */
  let over = null
  const grid = new Grid(find('grid'), () => read(), (index, event) => {
    ring = document.activeElement.matches(':focus-visible')
    const image = grid.images[index]
    const total = library.isComplete ? grid.images.length : library.total ?? grid.images.length
    const album = albumOf(grid.images, index, total)
    leaveAlbum(sessionStorage, image.id, album)
    // What opens elsewhere, and what is clicked before the script is there, is a link as any.
    if (!over || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    leave()
    over.open(image.cover ?? image.id, { title: imageTitle(image), size: image, album: image.book ? null : album })
  })
  const indexOf = (id) => grid.images.findIndex((image) => image.id === id || image.cover === id)
  const ahead = once(async () => {
    const { Over } = await import('../page/over.js')
    over = new Over({
      owner: document.title === 'Ziggurat' ? '' : document.title,
      find: (id) => {
        const index = indexOf(id)
        return index < 0 ? null : { frame: grid.shown.get(index)?.firstChild ?? null, image: grid.images[index] }
      },
      closed: (id) => {
        grid.layOut()
        const index = indexOf(id)
        if (index >= 0) grid.focus(index, ring)
        ring = null
        leave()
      },
    })
  })
  find('grid').addEventListener('pointerdown', (event) => {
    ahead()
    const image = grid.images[event.target.closest('.picture')?.dataset.index]
    // A finger may be about to scroll.
    if (!over || !image || event.pointerType !== 'mouse' || event.button !== 0 || event.ctrlKey || event.metaKey) return
    over.expect(image.cover ?? image.id)
    addEventListener('pointerup', () => setTimeout(() => over.page || over.forget()), { once: true })
  })
  // Of a picture that an earlier document of this address had opened.
  addEventListener('popstate', () => over || location.pathname === place('') || location.reload())
  let library = new Library('')

  const say = (words, canRetry = false) => {
    note.textContent = words
    note.hidden = !words
    again.hidden = !canRetry
  }
  const read = async () => {
    const current = library
    if (current.isComplete || current.reading || current.abort.signal.aborted) return
    try {
      const images = await current.more()
      if (current !== library) return
      grid.append(images)
      comeBack()
      grid.drawn().then(() => (globalThis.requestIdleCallback ?? setTimeout)(ahead))
      say(grid.images.length > 0 ? '' : current.query ? text.nothingFound(current.query)
        : current.isToBeBuilt ? text.toBeBuilt : text.noImages)
    } catch (error) {
      if (current === library && !current.abort.signal.aborted) say(text.libraryUnreachable, true)
    }
  }
  let left = null
  const comeBack = () => {
    if (!left) return
    const { top, count, open, ring: wasSeen } = left
    if (grid.images.length < count && !library.isComplete) return read()
    left = null
    scrollTo(0, top)
    const index = grid.images.findIndex(({ id, cover = id }) => id === open || cover === open)
    if (index >= 0) grid.focus(index, wasSeen)
    ring = null
    leave()
  }
  const returned = () => {
    left = history.state?.place ?? null
    if (left && left.ring !== null) left.open = rememberedOpen(sessionStorage)
  }
  returned()
  history.scrollRestoration = 'manual'
  const leave = () => over?.page || history.replaceState({ place: { top: scrollY, count: grid.images.length, ring } }, '')
  addEventListener('pagehide', leave)
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    returned()
    comeBack()
  })
  const search = (query) => {
    library.stop()
    library = new Library(query)
    grid.clear()
    say(text.loading)
    read()
  }

  let timer = 0
  field.oninput = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      const query = field.value.trim()
      left = null
      history.replaceState(null, '', query ? `?q=${encodeURIComponent(query)}` : location.pathname)
      search(query)
    }, TYPING)
  }
  again.onclick = () => {
    say(text.loading)
    read()
  }
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || over?.page || event.target === field || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    field.focus()
  })
  field.value = new URLSearchParams(location.search).get('q') ?? ''
  search(field.value.trim())
  const reload = () => {
    const open = grid.box.contains(document.activeElement) && grid.images[grid.focused]?.id
    left = { top: scrollY, count: grid.images.length, open }
    search(field.value.trim())
  }
  return { grid, reload }
}

/** A function that runs at its first call alone. @param {() => unknown} run */
function once(run) {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    run()
  }
}
