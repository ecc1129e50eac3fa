import { editingTranslator } from '../i18n/editing.js'
import { serverURL } from '../urls.js'
import { showDialog } from '../viewer/dialog.js'
import { button, createElement } from '../viewer/dom.js'
import { callAPI } from './api.js'

const NAMES = ['title', 'caption', 'keywords']

/**
 * Shows a form for an image's metadata.
 * @param {any} root the container of the form: a viewer's shadow root, or the document's body
 * @param {string} id
 * @param {(image: any) => void} saved receives the image in its new state on the server
 */
export async function editImage(root, id, saved) {
  const t = editingTranslator(root.host)
  const url = serverURL(`api/images/${encodeURIComponent(id)}`)
  let image = await callAPI('GET', url)
  const errorLine = createElement('p', { role: 'alert' })
  const form = createElement('form', { className: 'edit' })
  const rows = NAMES.map((name) => {
    const field = createElement(name === 'caption' ? 'textarea' : 'input', { rows: 4, value: fieldText(image[name]), autocomplete: 'off' })
    const row = { name, field, original: field.value, theirs: createElement('p', { className: 'theirs', hidden: true }) }
    form.append(createElement('label', { textContent: t(name) }, field), row.theirs)
    return row
  })
  const send = createElement('button', { className: 'wide', textContent: t('save') })
  form.append(errorLine, send)
  const merge = async () => {
    image = await callAPI('GET', url)
    for (const row of rows) {
      const { name, field, original, theirs } = row
      const latest = fieldText(image[name])
      const isMine = field.value !== original
      if (!isMine) field.value = latest
      row.original = isMine ? latest : field.value
      theirs.hidden = !isMine || latest === field.value || latest === original
      const take = () => {
        row.original = field.value = latest
        theirs.hidden = true
        field.focus()
      }
      theirs.replaceChildren(latest ? t('theirs', { text: latest }) : t('theirsIsEmpty'), button('wide', t('useTheirs'), take))
    }
    return t('conflict')
  }
  form.onsubmit = async (event) => {
    event.preventDefault()
    const edit = {}
    for (const { name, field, original } of rows) {
      const value = field.value.trim()
      if (field.value === original) continue
      edit[name] = name === 'keywords' ? value.split(',').map((each) => each.trim()).filter(Boolean) : value || null
    }
    if (Object.keys(edit).length === 0) return dialog.close()
    send.disabled = true
    try {
      const response = await callAPI('PATCH', url, edit, image.tag && { 'If-Match': image.tag })
      // The change may succeed without a response body.
      image = response.id ? response : { ...image, ...edit, tag: null }
      dialog.close()
      saved(image)
    } catch (error) {
      errorLine.textContent = await (error.status === 412 ? merge() : Promise.reject(error)).catch(({ message }) => message)
    }
    send.disabled = false
  }
  form.onkeydown = (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  }
  const dialog = showDialog(root, t('edit'), [form])
  // A click outside must not discard the input.
  dialog.onclick = null
}

function fieldText(value) { return Array.isArray(value) ? value.join(', ') : (value ?? '').replaceAll('\r\n', '\n') }
