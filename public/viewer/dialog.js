import { text } from '../text/english.js'

export function showDialog(root, heading, body) {
  root.querySelector('dialog')?.remove()
  const dialog = document.createElement('dialog')
  dialog.setAttribute('aria-labelledby', 'heading')
  const title = document.createElement('h2')
  title.id = 'heading'
  title.textContent = heading
  const close = document.createElement('button')
  close.type = 'button'
  close.className = 'wide'
  close.textContent = text.close
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('close', () => {
    // The key that closed it is still to be dispatched: who asks whether a dialog is there must find it.
    setTimeout(() => dialog.remove())
    const { host } = root
    host.focus({ preventScroll: true })
  })
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close()
  })
  dialog.addEventListener('keydown', (event) => event.stopPropagation())
  dialog.append(title, ...body, close)
  root.append(dialog)
  dialog.showModal()
  return dialog
}

export function pairList(pairs) {
  const list = document.createElement('dl')
  for (const [name, value] of pairs) {
    const term = document.createElement('dt')
    term.textContent = name
    const words = document.createElement('dd')
    words.textContent = value
    list.append(term, words)
  }
  return list
}

export async function copyText(root, heading, words) {
  try {
    await navigator.clipboard.writeText(words)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.readOnly = true
    field.rows = 4
    field.value = words
    field.setAttribute('aria-label', heading)
    showDialog(root, heading, [field])
    field.select()
    return false
  }
}
