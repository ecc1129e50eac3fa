import { writing } from '../text/writing.js'
import { serverURL } from '../urls.js'
import { callAPI } from './api.js'
import { toast } from './toast.js'

/**
 * Has the server make an image of a part of the one that is open, and tells what came of it.
 * @param {import('../page/page.js').PicturePage} page
 * @param {object} wish region, rotation, flip and straighten, as the API's `copies` takes them
 */
export async function saveCopy(page, wish) {
  const { id } = page.viewer.source.details
  const say = writing(page.viewer)
  try {
    const begun = await callAPI('POST', serverURL(`api/images/${encodeURIComponent(id)}/copies`), wish)
    const { status, image } = await ended(begun.id, say('copyFailed'))
    if (status !== 'done') return toast(say('copyFailed'))
    page.changed()
    toast(say('copySaved', { id: image }), say('showCopy'), () => location.assign(serverURL(`view/${encodeURIComponent(image)}`)))
  } catch (error) { toast(error.message) }
}

/**
 * Waits until the server has done with an upload, or a copy.
 * @param {string} id
 * @param {string} unknown what to say where nobody tells
 * @returns {Promise<{ status: string, image?: string }>}
 */
function ended(id, unknown) {
  return new Promise((done, fail) => {
    const events = new EventSource(serverURL('api/events'))
    events.addEventListener('upload', ({ data }) => {
      const upload = JSON.parse(data)
      if (upload.id !== id || upload.status !== 'done' && upload.status !== 'failed') return
      events.close()
      done(upload)
    })
    // One that is only cut off comes again by itself.
    events.addEventListener('error', () => {
      if (events.readyState === EventSource.CLOSED) fail(new Error(unknown))
    })
  })
}
