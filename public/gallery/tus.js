import { serverURL } from '../urls.js'
import { request, webURL } from '../web-url.js'

const root = serverURL('api/uploads')
const PIECE = 8 << 20 // bytes
const base64 = (words) => btoa(String.fromCharCode(...new TextEncoder().encode(words)))
const memory = (file) => `upload ${file.name} ${file.size} ${file.lastModified}`
// Names of private images are deleted with the session.
const store = ({ folder }) => folder ? sessionStorage : localStorage
const pause = (seconds) => new Promise((go) => setTimeout(go, seconds * 1000))

/** Sends a request. Resolves to an object with status 0 if there is no response. */
function ask(method, path, signal, headers, body) {
  return request(path, { method, signal, body, headers: { 'Tus-Resumable': '1.0.0', ...headers } }).catch(() => ({ status: 0 }))
}

const isPassing = (status) => status === 0 || status === 409 || status === 429 || status >= 500 && status !== 507

/**
 * Uploads a file by tus 1.0, and resumes an earlier attempt. Resolves to the id of the upload. Rejected with an `Error` with
 * the response's `status`, or if the signal aborts.
 */
export async function send(file, { signal, started, waiting }) {
  let path = store(file).getItem(memory(file))
  let offset = -1
  for (let tries = 0; ; ) {
    signal.throwIfAborted()
    if (path && offset < 0) {
      const head = await ask('HEAD', path, signal)
      if (head.status === 200) offset = Number(head.headers.get('Upload-Offset'))
      else if (!isPassing(head.status)) path = null
    }
    let answer = { status: 0 }
    if (!path) {
      const folder = file.folder && `,folder ${base64(file.folder)}`
      const words = `filename ${base64(file.name)},filetype ${base64(file.type || '-')}${folder}`
      // Not aborted: the server may have created the upload, and only the response contains the address to cancel it.
      answer = await ask('POST', root, undefined, { 'Upload-Length': file.size, 'Upload-Metadata': words })
      if (answer.status === 201) {
        path = webURL(answer.headers.get('Location')).pathname
        if (signal.aborted) await ask('DELETE', path)
        signal.throwIfAborted()
        offset = 0
        store(file).setItem(memory(file), path)
      }
    }
    if (path && offset >= 0) {
      const id = path.split('/').pop()
      started(id)
      if (offset >= file.size) {
        store(file).removeItem(memory(file))
        return id
      }
      const headers = { 'Upload-Offset': offset, 'Content-Type': 'application/offset+octet-stream' }
      answer = await ask('PATCH', path, signal, headers, file.slice(offset, offset + PIECE))
      if (answer.status === 204) {
        offset = Number(answer.headers.get('Upload-Offset'))
        tries = 0
        continue
      }
      offset = -1
    }
    signal.throwIfAborted()
    if (!isPassing(answer.status)) {
      if (answer.status !== 507) store(file).removeItem(memory(file))
      throw Object.assign(new Error(`${answer.status} for an upload`), { status: answer.status })
    }
    tries += 1
    waiting()
    await pause(Math.min(2 ** Math.min(tries, 4) / 2, 10))
  }
}

/** Returns the maximum size of an upload in bytes; 0 if the server does not state it. */
export async function largest() {
  const answer = await ask('OPTIONS', root)
  return Number(answer.headers?.get('Tus-Max-Size') ?? 0)
}

/**
 * Cancels an upload; the server deletes it.
 * @param {File} file
 * @param {string} [id] the server's id of the upload
 */
export function cancel(file, id) {
  // The address from an earlier visit, if the server has not been contacted since.
  const path = id ? `${root}/${id}` : store(file).getItem(memory(file))
  store(file).removeItem(memory(file))
  return path && ask('DELETE', path)
}
