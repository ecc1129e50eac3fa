import { session } from '../gallery/session.js'
import { OPEN, bookAlbum, foundAlbum, libraryAlbum } from '../paging/album.js'
import { place } from '../place.js'
import { text } from '../text/english.js'
import { linkHash, linkedViewport, pathId } from '../viewer/link.js'

function apiURL(id) { return place(`api/images/${encodeURIComponent(id)}`) }

export function showPage() {
  const find = (id) => document.getElementById(id)
  const viewer = find('viewer')
  const back = find('back')
  back.title = back.ariaLabel = text.back
  const first = pathId(location.pathname)
  // The page comes with the owner's name where it has one.
  const owner = document.title === 'Ziggurat' ? '' : ` · ${document.title}`
  const show = (title, facts) => {
    find('title').textContent = title
    document.title = title + owner
    find('facts').textContent = facts
  }
  const name = () => show(pathId(location.pathname).split('/').pop(), '')
  name()
  viewer.addEventListener('error', name)

  const follow = () => {
    const { viewport } = viewer
    const linked = viewport && linkedViewport(location.hash, viewport)
    if (linked) viewer.viewport = linked
  }
  viewer.addEventListener('open', () => {
    const { title, pyramid, details } = viewer.source
    const size = text.pixels(pyramid.imageSize.width, pyramid.imageSize.height)
    show(title, details.caption ? `${details.caption} · ${size}` : size)
  })
  viewer.addEventListener('settle', () => {
    if (!viewer.viewport) return
    const hash = linkHash(viewer.viewport)
    if (hash !== location.hash) history.replaceState(history.state, '', hash)
  })
  viewer.addEventListener('chrome', () => document.body.toggleAttribute('data-quiet', viewer.hasAttribute('quiet')))
  back.onclick = (event) => {
    const before = globalThis.navigation?.entries()[navigation.currentEntry.index - 1]
    if (event.ctrlKey || event.metaKey || event.shiftKey || before?.url?.split(/[?#]/)[0] !== back.href) return
    event.preventDefault()
    history.back()
  }
  viewer.addEventListener('leave', () => back.click())
  viewer.addEventListener('complete', async () => {
    session().then(async ({ writable, spaceWritable }) => {
      if (first.startsWith('~/') ? spaceWritable : writable) (await import('../editing/viewing.js')).showEditing(viewer, back)
    })
    const { in: book, viewingDirection } = viewer.source.details
    const album = book ? await bookAlbum(book, first).catch(() => null)
      : foundAlbum(sessionStorage, first) ?? await libraryAlbum(first).catch(() => null)
    if (album && album.ids.length > 1) showAlbum(viewer, { ...album, viewingDirection }, find, !book)
  }, { once: true })
  addEventListener('hashchange', follow)
  document.addEventListener('keydown', (event) => {
    if (event.target === document.body) viewer.dispatchEvent(new KeyboardEvent('keydown', event))
  })
  if (first.startsWith('~/')) import('../gallery/lock.js').then(({ watchSession }) => watchSession())
  viewer.setAttribute('view', location.hash.slice(1))
  viewer.src = apiURL(first)
}

function showAlbum(viewer, album, find, isOfGallery) {
  const [counter, field] = [find('counter'), find('number')]
  const show = () => {
    field.value = String(album.offset + viewer.index + 1)
    field.style.width = `${String(album.total).length + 1.5}ch`
  }
  viewer.setImages(album.ids.map(apiURL), album.index, album)
  find('count').textContent = text.ofCount(album.total)
  field.setAttribute('aria-label', text.goToImage)
  show()
  counter.hidden = false
  viewer.addEventListener('page', () => {
    const id = album.ids[viewer.index]
    history.replaceState(history.state, '', place(`view/${encodeURIComponent(id)}`))
    show()
    // The gallery has one picture for all pages of a book.
    if (isOfGallery) sessionStorage[OPEN] = id
  })
  counter.addEventListener('submit', (event) => {
    event.preventDefault()
    viewer.goTo(Number(field.value) - 1 - album.offset)
    show()
    viewer.focus({ preventScroll: true })
  })
  field.addEventListener('focus', () => field.select())
  field.addEventListener('blur', show)
}
