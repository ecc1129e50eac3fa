import { editingTranslator } from '../i18n/editing.js'
import { serverURL } from '../urls.js'
import { callAPI } from './api.js'
import { toast } from './toast.js'

/**
 * Saves a part of the open image as a new image on the server, and reports the result to the user.
 * @param {import('../page/page.js').ImagePage} page
 * @param {object} request region, rotation, flip and straighten: the body of the API's `copies`
 */
export async function saveCopy(page, request) {
  const { id } = page.viewer.source.details
  const t = editingTranslator(page.viewer)
  try {
    const upload = await callAPI('POST', serverURL(`api/images/${encodeURIComponent(id)}/copies`), request)
    const { status, image } = await uploadFinished(upload.id, t('copyFailed'))
    if (status !== 'done') return toast(t('copyFailed'))
    page.imageChanged()
    toast(t('copySaved', { id: image }), t('showCopy'), () => location.assign(serverURL(`view/${encodeURIComponent(image)}`)))
  } catch (error) { toast(error.message) }
}

/**
 * Waits until the server has finished an upload or a copy.
 * @param {string} id
 * @param {string} unknown the error message if the result cannot be received
 * @returns {Promise<{ status: string, image?: string }>} rejected with an `Error` if the connection is closed for good
 */
function uploadFinished(id, unknown) {
  return new Promise((done, fail) => {
    const events = new EventSource(serverURL('api/events'))
    events.addEventListener('upload', ({ data }) => {
      const upload = JSON.parse(data)
      if (upload.id !== id || upload.status !== 'done' && upload.status !== 'failed') return
      events.close()
      done(upload)
    })
    // After an interruption, an EventSource reconnects by itself.
    events.addEventListener('error', () => {
      if (events.readyState === EventSource.CLOSED) fail(new Error(unknown))
    })
  })
}
