import { place } from '../place.js'
import { text } from '../text/writing.js'
import { ask, isOwn } from './ask.js'
import { toast } from './toast.js'

const MOST = 1000 // of one request
const NOTE = 'ziggurat-deleted'

export async function deleteImages(ids) {
  const result = { ids: new Set(), deletions: [] }
  for (const own of [true, false]) {
    const part = ids.filter((id) => isOwn(id) === own)
    while (part.length) {
      const { deleted } = await ask('POST', place('api/deleted'), { ids: part.splice(0, MOST) })
      if (!deleted) continue
      result.deletions.push(deleted.id)
      for (const id of deleted.images) result.ids.add(id)
    }
  }
  return result
}

export function offerUndo({ ids, deletions }, wanted, restored) {
  const words = [text.deleted(ids.size)]
  if (ids.size < wanted) words.push(text.notDeleted(wanted - ids.size))
  toast(words.join(' '), text.undo, deletions.length && (async () => {
    try {
      let count = 0
      for (const id of deletions) count += (await ask('POST', place(`api/deleted/${id}/restore`))).restored.length
      restored(count === ids.size)
      toast(text.restored(count))
    } catch (error) {
      toast(error.message)
    }
  }))
}

export function leaveNote({ deletions, ids }) { sessionStorage.setItem(NOTE, JSON.stringify([deletions, [...ids]])) }

export function takeNote() {
  const [deletions, ids] = JSON.parse(sessionStorage.getItem(NOTE) ?? '[]')
  sessionStorage.removeItem(NOTE)
  return ids && { deletions, ids: new Set(ids) }
}
