import { serverURL } from '../urls.js'
import { request, webURL } from '../web-url.js'

const root = serverURL('api/uploads')
const CHUNK_SIZE = 8 << 20 // bytes
const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)))
const storageKey = (file) => `upload ${file.name} ${file.size} ${file.lastModified}`
// Names of private images are deleted with the session.
const storageFor = ({ folder }) => folder ? sessionStorage : localStorage
const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

/** Sends a request. Resolves to an object with status 0 if there is no response. */
function sendRequest(method, path, signal, headers, body) {
  return request(path, { method, signal, body, headers: { 'Tus-Resumable': '1.0.0', ...headers } }).catch(() => ({ status: 0 }))
}

const isTransient = (status) => status === 0 || status === 409 || status === 429 || status >= 500 && status !== 507

/**
 * Uploads a file by tus 1.0, and resumes an earlier attempt. Resolves to the id of the upload. Rejected with an `Error` with
 * the response's `status`, or if the signal aborts.
 */
export async function send(file, { signal, started, waiting }) {
  let path = storageFor(file).getItem(storageKey(file))
  let offset = -1
  for (let attempts = 0; ; ) {
    signal.throwIfAborted()
    if (path && offset < 0) {
      const head = await sendRequest('HEAD', path, signal)
      if (head.status === 200) offset = Number(head.headers.get('Upload-Offset'))
      else if (!isTransient(head.status)) path = null
    }
    let response = { status: 0 }
    if (!path) {
      const folder = file.folder && `,folder ${base64(file.folder)}`
      const metadata = `filename ${base64(file.name)},filetype ${base64(file.type || '-')}${folder}`
      // Not aborted: the server may have created the upload, and only the response contains the address to cancel it.
      response = await sendRequest('POST', root, undefined, { 'Upload-Length': file.size, 'Upload-Metadata': metadata })
      if (response.status === 201) {
        path = webURL(response.headers.get('Location')).pathname
        if (signal.aborted) await sendRequest('DELETE', path)
        signal.throwIfAborted()
        offset = 0
        storageFor(file).setItem(storageKey(file), path)
      }
    }
    if (path && offset >= 0) {
      const id = path.split('/').pop()
      started(id)
      if (offset >= file.size) {
        storageFor(file).removeItem(storageKey(file))
        return id
      }
      const headers = { 'Upload-Offset': offset, 'Content-Type': 'application/offset+octet-stream' }
      response = await sendRequest('PATCH', path, signal, headers, file.slice(offset, offset + CHUNK_SIZE))
      if (response.status === 204) {
        offset = Number(response.headers.get('Upload-Offset'))
        attempts = 0
        continue
      }
      offset = -1
    }
    signal.throwIfAborted()
    if (!isTransient(response.status)) {
      if (response.status !== 507) storageFor(file).removeItem(storageKey(file))
      throw Object.assign(new Error(`${response.status} for an upload`), { status: response.status })
    }
    attempts += 1
    waiting()
    await sleep(Math.min(2 ** Math.min(attempts, 4) / 2, 10))
  }
}

/** Returns the maximum size of an upload in bytes; 0 if the server does not state it. */
export async function maxUploadSize() {
  const response = await sendRequest('OPTIONS', root)
  return Number(response.headers?.get('Tus-Max-Size') ?? 0)
}

/**
 * Cancels an upload; the server deletes it.
 * @param {File} file
 * @param {string} [id] the server's id of the upload
 */
export function cancel(file, id) {
  // The address from an earlier visit, if the server has not been contacted since.
  const path = id ? `${root}/${id}` : storageFor(file).getItem(storageKey(file))
  storageFor(file).removeItem(storageKey(file))
  return path && sendRequest('DELETE', path)
}
