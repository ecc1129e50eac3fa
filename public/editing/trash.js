import { editingTranslator } from '../i18n/editing.js'
import { serverURL } from '../urls.js'
import { callAPI, isPrivate } from './api.js'
import { toast } from './toast.js'

const MAX_IDS = 1000 // maximum of one request
const KEY = 'ziggurat-deleted'

/** @typedef {{ ids: Set<string>, deletions: string[] }} Deleted the deleted images, and the server's ids of the deletions */

/**
 * The action of Ctrl+Z.
 * @type {(() => void) | null}
 */
let undo = null

document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'z' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
  // Text fields have their own undo.
  if (!undo || event.composedPath()[0].matches('input, textarea')) return
  event.preventDefault()
  document.querySelector('.toast')?.remove()
  undo()
})

/**
 * Moves images to the trash.
 * @param {string[]} ids
 * @returns {Promise<Deleted>} the images that were deleted
 */
export async function deleteImages(ids) {
  const result = { ids: new Set(), deletions: [] }
  for (const isOwn of [true, false]) {
    const part = ids.filter((id) => isPrivate(id) === isOwn)
    while (part.length) {
      const { deleted } = await callAPI('POST', serverURL('api/trash'), { ids: part.splice(0, MAX_IDS) })
      if (!deleted) continue
      result.deletions.push(deleted.id)
      for (const id of deleted.images) result.ids.add(id)
    }
  }
  return result
}

/**
 * Reports a deletion, and offers to undo it: by a button while the message is shown, and by Ctrl+Z until the next deletion.
 * @param {Deleted} deleted
 * @param {number} requested the number of images that were to be deleted
 * @param {(isAll: boolean) => void} restored called after the images are restored
 */
export function offerUndo({ ids, deletions }, requested, restored) {
  const t = editingTranslator()
  const messages = [t('deleted', { count: ids.size })]
  if (ids.size < requested) messages.push(t('notDeleted', { count: requested - ids.size }))
  const run = async () => {
    undo = null
    try {
      let count = 0
      for (const id of deletions) count += await restore(id)
      restored(count === ids.size)
      toast(t('restored', { count }))
    } catch (error) {
      toast(error.message)
    }
  }
  undo = deletions.length ? run : null
  toast(messages.join(' '), t('undo'), undo)
}

/**
 * Restores a deletion.
 * @param {string} id
 * @returns {Promise<number>} the number of restored images
 */
export async function restore(id) { return (await callAPI('POST', serverURL(`api/trash/${id}/restore`))).restored.length }

/**
 * Returns the deletions that can be restored, newest first; times are in seconds since 1970.
 * @returns {Promise<{ id: string, images: string[], deletedAt: number, expires: number }[]>}
 */
export async function trash() { return (await callAPI('GET', serverURL('api/trash'))).items }

/**
 * Saves a deletion for the gallery, which offers the undo after the navigation.
 * @param {Deleted} deleted
 */
export function saveFlashMessage({ deletions, ids }) { sessionStorage.setItem(KEY, JSON.stringify([deletions, [...ids]])) }

/**
 * Returns the saved deletion, once.
 * @returns {Deleted | undefined}
 */
export function takeFlashMessage() {
  const [deletions, ids] = JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
  sessionStorage.removeItem(KEY)
  return ids && { deletions, ids: new Set(ids) }
}
