import { writing } from '../text/writing.js'
import { serverURL } from '../urls.js'
import { callAPI, isPrivate } from './api.js'
import { toast } from './toast.js'

const MOST = 1000 // of one request
const NOTE = 'ziggurat-deleted'

/** @typedef {{ ids: Set<string>, deletions: string[] }} Deleted images, and the server's names for what restores them */

/** What Ctrl+Z brings back. @type {(() => void) | null} */
let undo = null

document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'z' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
  // A field has its own.
  if (!undo || event.composedPath()[0].matches('input, textarea')) return
  event.preventDefault()
  document.querySelector('.toast')?.remove()
  undo()
})

/**
 * @param {string[]} ids
 * @returns {Promise<Deleted>} what is deleted of them
 */
export async function deleteImages(ids) {
  const result = { ids: new Set(), deletions: [] }
  for (const own of [true, false]) {
    const part = ids.filter((id) => isPrivate(id) === own)
    while (part.length) {
      const { deleted } = await callAPI('POST', serverURL('api/trash'), { ids: part.splice(0, MOST) })
      if (!deleted) continue
      result.deletions.push(deleted.id)
      for (const id of deleted.images) result.ids.add(id)
    }
  }
  return result
}

/**
 * Says what was deleted, and brings it back when it is asked to: by the button as long as that is seen, by Ctrl+Z until the next.
 * @param {Deleted} deleted
 * @param {number} wanted how many were to be deleted
 * @param {(isAll: boolean) => void} restored is called when they are back
 */
export function offerUndo({ ids, deletions }, wanted, restored) {
  const say = writing()
  const words = [say('deleted', { count: ids.size })]
  if (ids.size < wanted) words.push(say('notDeleted', { count: wanted - ids.size }))
  const run = async () => {
    undo = null
    try {
      let count = 0
      for (const id of deletions) count += await restore(id)
      restored(count === ids.size)
      toast(say('restored', { count }))
    } catch (error) {
      toast(error.message)
    }
  }
  undo = deletions.length ? run : null
  toast(words.join(' '), say('undo'), undo)
}

/** Brings one deletion back. @param {string} id @returns {Promise<number>} how many pictures that are */
export async function restore(id) { return (await callAPI('POST', serverURL(`api/trash/${id}/restore`))).restored.length }

/** What can be restored, the last deleted first. @returns {Promise<{ id: string, images: string[], deletedAt: number, expires: number }[]>} */
export async function trash() { return (await callAPI('GET', serverURL('api/trash'))).items }

/** For the gallery, where a page of its own is left for that. @param {Deleted} deleted */
export function saveFlashMessage({ deletions, ids }) { sessionStorage.setItem(NOTE, JSON.stringify([deletions, [...ids]])) }

/** @returns {Deleted | undefined} */
export function takeFlashMessage() {
  const [deletions, ids] = JSON.parse(sessionStorage.getItem(NOTE) ?? '[]')
  sessionStorage.removeItem(NOTE)
  return ids && { deletions, ids: new Set(ids) }
}
