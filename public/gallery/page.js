import { OPEN, leaveAlbum } from '../paging/album.js'
import { text } from '../text/english.js'
import { Grid } from './grid.js'
import { Library } from './library.js'

const TYPING = 220 // ms

export function showGallery() {
  const find = (id) => document.getElementById(id)
  const field = find('search')
  const note = find('note')
  const again = find('again')
  field.placeholder = text.search
  field.ariaLabel = text.searchImages
  again.textContent = text.tryAgain
  let ring = null
  const grid = new Grid(find('grid'), () => read(), (index) => {
    ring = document.activeElement.matches(':focus-visible')
    leaveAlbum(sessionStorage, grid.images, index, library.isComplete ? grid.images.length : library.total ?? grid.images.length)
  })
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
      say(grid.images.length > 0 ? '' : current.query ? text.nothingFound(current.query)
        : current.isToBeBuilt ? text.toBeBuilt : text.noImages)
    } catch (error) {
      if (current === library && !current.abort.signal.aborted) say(text.libraryUnreachable, true)
    }
  }
  let place = null
  const comeBack = () => {
    if (!place) return
    const { top, count, open, ring: wasSeen } = place
    if (grid.images.length < count && !library.isComplete) return read()
    place = null
    scrollTo(0, top)
    const index = grid.images.findIndex(({ id, cover = id }) => id === open || cover === open)
    if (index >= 0) grid.focus(index, wasSeen)
    ring = null
    leave()
  }
  const returned = () => {
    place = history.state?.place ?? null
    if (place && place.ring !== null) place.open = sessionStorage[OPEN]
  }
  returned()
  history.scrollRestoration = 'manual'
  const leave = () => history.replaceState({ place: { top: scrollY, count: grid.images.length, ring } }, '')
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
      place = null
      history.replaceState(null, '', query ? `?q=${encodeURIComponent(query)}` : location.pathname)
      search(query)
    }, TYPING)
  }
  again.onclick = () => {
    say(text.loading)
    read()
  }
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target === field || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    field.focus()
  })
  field.value = new URLSearchParams(location.search).get('q') ?? ''
  search(field.value.trim())
  const reload = () => {
    const open = grid.box.contains(document.activeElement) && grid.images[grid.focused]?.id
    place = { top: scrollY, count: grid.images.length, open }
    search(field.value.trim())
  }
  return { grid, reload }
}
