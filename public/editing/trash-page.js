import { dateFormatter } from '../i18n/translator.js'
import { editingTranslator } from '../i18n/editing.js'
import { showDialog } from '../viewer/dialog.js'
import { button, createElement } from '../viewer/dom.js'
import { icon } from '../gallery/icons.js'
import { toast } from './toast.js'
import { restore, trash } from './trash.js'

const MAX_NAMES = 3

/**
 * Creates the button that opens the trash.
 * @param {() => void} restored called after images are restored
 */
export function trashButton(restored) {
  return button('round trash', editingTranslator()('trash'), () => showTrash(restored), icon('delete'))
}

/**
 * Shows the deleted images and the time for which they can be restored.
 * @param {() => void} restored called after images are restored
 */
export async function showTrash(restored) {
  const t = editingTranslator()
  const list = createElement('ul', {})
  const empty = createElement('p', { textContent: t('trashIsEmpty') })
  const fill = async () => {
    const deletions = await trash()
    empty.hidden = deletions.length > 0
    list.replaceChildren(...deletions.map((deletion) => row(deletion, async () => {
      const count = await restore(deletion.id)
      restored()
      toast(t('restored', { count }))
      await fill()
    })))
  }
  try {
    await fill()
    showDialog(document.body, t('trash'), [createElement('p', { textContent: t('trashKeeps') }), empty, list], 'trash')
  } catch ({ message }) {
    toast(message)
  }
}

function row({ images, deletedAt, expires }, run) {
  const t = editingTranslator()
  const names = images.slice(0, MAX_NAMES).map((id) => id.split('/').pop()).join(', ')
  const when = dateFormatter({ dateStyle: 'medium', timeStyle: 'short' })
  const hours = Math.max(1, Math.round((expires - Date.now() / 1000) / 3600))
  const restoreButton = button('wide', t('restore'), () => {
    restoreButton.disabled = true
    run().catch(({ message }) => {
      restoreButton.disabled = false
      toast(message)
    })
  })
  return createElement('li', {}, createElement('strong', { textContent: images.length > MAX_NAMES ? t('andMore', { names, count: images.length - MAX_NAMES }) : names }),
    createElement('span', { textContent: t('deletedAt', { time: when.format(deletedAt * 1000), count: hours }) }), restoreButton)
}
