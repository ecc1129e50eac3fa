import { leaveAlbum } from '../paging/album.js'
import { text } from '../text/english.js'
import { icon } from '../viewer/icons.js'
import { Grid } from './grid.js'
import { Library } from './library.js'

const TYPING = 220 // ms

export function showGallery(document, location) {
  const find = (id) => document.getElementById(id)
  const field = find('search')
  const note = find('note')
  const again = find('again')
  field.placeholder = text.search
  field.ariaLabel = text.searchImages
  field.before(icon('search'))
  again.textContent = text.tryAgain
  const grid = new Grid(find('grid'), () => read(), (index) => {
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
      say(grid.images.length > 0 ? '' : current.query ? text.nothingFound(current.query) : text.noImages)
    } catch (error) {
      if (current === library && !current.abort.signal.aborted) say(text.libraryUnreachable, true)
    }
  }
  let place = history.state?.place ?? null
  const comeBack = () => {
    if (!place) return
    if (grid.images.length < place.count && !library.isComplete) return read()
    const { top } = place
    place = null
    scrollTo(0, top)
  }
  history.scrollRestoration = 'manual'
  addEventListener('pagehide', () => {
    history.replaceState({ place: { top: scrollY, count: grid.images.length } }, '')
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
    place = { top: scrollY, count: grid.images.length }
    search(field.value.trim())
  }
  return { grid, reload }
}
