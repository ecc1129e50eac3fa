import '../viewer/elements.js'
import { serverURL } from '../urls.js'

const EVENTS = ['page', 'open', 'viewport', 'idle', 'complete', 'fully-loaded', 'ui-toggle', 'motion', 'close', 'error']

/** @type {import('../viewer/ziggurat-viewer.js').ZigguratViewer} */
const viewer = document.querySelector('ziggurat-viewer')

// The examples contain placeholders for this server and one of its images.
const root = new URL(serverURL(''), location.href).href
const write = (id) => {
  for (const code of document.querySelectorAll('code')) {
    code.textContent = code.textContent.replaceAll('https://images.example.org/', root).replaceAll('night-watch', encodeURIComponent(id))
  }
}

const list = document.getElementById('events')
for (const name of EVENTS) {
  viewer.addEventListener(name, ({ detail }) => {
    const line = [name, detail?.cause].filter(Boolean).join(': ')
    list.replaceChildren(...[line, ...[...list.children].map((each) => each.textContent)].slice(0, 8).map((text) => {
      const item = document.createElement('li')
      item.textContent = text
      return item
    }))
  })
}

// Each field sets an attribute of the element.
for (const field of document.querySelectorAll('[data-attribute]')) {
  field.addEventListener('change', () => {
    const value = field.type === 'checkbox' ? (field.checked ? field.value : null) : field.value
    if (value === null) viewer.removeAttribute(field.dataset.attribute)
    else viewer.setAttribute(field.dataset.attribute, value)
  })
}
for (const button of document.querySelectorAll('[data-fit]')) button.addEventListener('click', () => viewer.fit(button.dataset.fit))

viewer.addEventListener('open', () => {
  const { width, height } = viewer.source.pyramid.imageSize
  const marker = viewer.querySelector('[data-x]')
  marker.dataset.x = Math.round(width / 2)
  marker.dataset.y = Math.round(height / 2)
}, { once: true })

start()

async function start() {
  const response = await fetch(serverURL('api/images?limit=1')).catch(() => null)
  const [image] = response?.ok ? (await response.json()).images : []
  if (!image) return
  const id = image.cover ?? image.id
  write(id)
  viewer.src = serverURL(`api/images/${encodeURIComponent(id)}`)
}
