import '../viewer/elements.js'
import { loadTranslations } from '../i18n/translator.js'
import { viewerTranslator } from '../i18n/viewer.js'
import { decodeView, pathId } from '../viewer/view-hash.js'
import { apiURL, viewURL } from './page.js'

// The standalone viewer at `/embed/ID` for frames in other sites. The address's fragment is the view; its parameters are the
// viewer's attributes `controls` and `navigator`.
loadTranslations().then(() => {
  const find = (name) => document.getElementById(name)
  const [viewer, title, facts] = ['viewer', 'title', 'facts'].map(find)
  const id = pathId(location.pathname)
  title.href = viewURL(id)
  title.textContent = document.title = id.split('/').pop()
  const parameters = new URLSearchParams(location.search)
  for (const name of ['controls', 'navigator']) if (parameters.get(name) === 'none') viewer.setAttribute(name, 'none')
  viewer.addEventListener('open', () => {
    title.textContent = document.title = viewer.source.title
    facts.textContent = viewerTranslator()('pixels', viewer.source.pyramid.imageSize)
  })
  viewer.addEventListener('ui-toggle', () => { document.body.dataset.ui = viewer.getAttribute('ui') ?? '' })
  addEventListener('hashchange', () => {
    const linked = viewer.viewport && decodeView(location.hash, viewer.viewport, viewer.source.pyramid.imageSize)
    if (linked) viewer.viewport = linked
  })
  viewer.setAttribute('view', location.hash.slice(1))
  viewer.src = apiURL(id)
})
