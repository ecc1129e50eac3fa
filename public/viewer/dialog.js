import { viewerTranslator } from '../i18n/viewer.js'
import { button, createElement } from './dom.js'

/**
 * Shows a modal dialog.
 * @param {any} root the container: a shadow root, or the document's body
 * @param {string} heading
 * @param {(Node | string)[]} body
 * @param {string} [className]
 * @returns {HTMLDialogElement}
 */
export function showDialog(root, heading, body, className = '') {
  root.querySelector('dialog')?.remove()
  const dialog = createElement('dialog', { className, ariaLabel: heading }, createElement('h2', { textContent: heading }), ...body,
    button('wide', viewerTranslator(root)('close'), () => dialog.close()))
  dialog.onclose = () => {
    // The key that closed the dialog is still being dispatched to it.
    setTimeout(() => dialog.remove())
    root.host?.focus({ preventScroll: true })
  }
  dialog.onclick = (event) => { if (event.target === dialog) dialog.close() }
  dialog.onkeydown = (event) => event.stopPropagation()
  root.append(dialog)
  dialog.showModal()
  dialog.scrollTop = 0
  return dialog
}

/**
 * Returns a list of names and values.
 * @param {[string, string][]} pairs
 */
export function pairList(pairs) {
  return createElement('dl', {}, ...pairs.flatMap(([name, value]) =>
    [createElement('dt', { textContent: name }), createElement('dd', { textContent: value })]))
}

/**
 * Copies text. If that is not allowed, shows it in a dialog for manual copying.
 * @param {any} root the container, as for `showDialog`
 * @param {string} heading
 * @param {string} text
 * @returns {Promise<boolean>} whether the text was copied
 */
export async function copyText(root, heading, text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = createElement('textarea', { readOnly: true, rows: 4, value: text, ariaLabel: heading })
    showDialog(root, heading, [field])
    field.select()
    return false
  }
}
