import { text } from '../text/writing.js'
import { showDialog } from '../viewer/dialog.js'
import { button, make } from '../viewer/element.js'
import { change, imageURL, readImage } from './change.js'

const NAMES = ['title', 'caption', 'keywords']

export async function editImage(root, id, saved) {
  let [image, tag] = await readImage(id)
  const fault = make('p', { role: 'alert' })
  const form = make('form', { className: 'edit' })
  const rows = NAMES.map((name) => {
    const field = make(name === 'caption' ? 'textarea' : 'input', { rows: 4, value: words(image[name]), autocomplete: 'off' })
    const row = { name, field, was: field.value, theirs: make('p', { className: 'theirs', hidden: true }) }
    form.append(make('label', { textContent: text[name] }, field), row.theirs)
    return row
  })
  const send = make('button', { className: 'wide', textContent: text.save })
  form.append(fault, send)
  const merge = async () => {
    [image, tag] = await readImage(id)
    for (const { name, field, was, theirs } of rows) {
      const now = words(image[name])
      if (field.value === was) field.value = now
      theirs.hidden = now === field.value || now === was
      if (theirs.hidden) continue
      const take = () => {
        field.value = now
        theirs.hidden = true
        field.focus()
      }
      theirs.replaceChildren(text.theirs(now), button('wide', text.useTheirs, take, text.useTheirs))
    }
    for (const row of rows) row.was = words(image[row.name])
    fault.textContent = text.conflict
  }
  form.onsubmit = async (event) => {
    event.preventDefault()
    const edit = {}
    for (const { name, field, was } of rows) {
      const value = field.value.trim()
      if (field.value === was) continue
      edit[name] = name === 'keywords' ? value.split(',').map((each) => each.trim()).filter(Boolean) : value || null
    }
    if (Object.keys(edit).length === 0) return dialog.close()
    send.disabled = true
    try {
      image = await change('PATCH', imageURL(id), edit, { 'If-Match': tag })
      dialog.close()
      saved(image)
    } catch (error) {
      // Nothing of the other's is overwritten unseen.
      if (error.status === 412) await merge().catch(() => { fault.textContent = text.notSaved })
      else fault.textContent = error.status ? error.message : text.notSaved
    }
    send.disabled = false
  }
  form.onkeydown = (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  }
  const dialog = showDialog(root, text.edit, [form])
  // A click beside it must not lose what was written.
  dialog.onclick = null
}

function words(value) { return Array.isArray(value) ? value.join(', ') : (value ?? '').replaceAll('\r\n', '\n') }
