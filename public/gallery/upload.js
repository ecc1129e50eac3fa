import { editingTranslator } from '../i18n/editing.js'
import { serverURL } from '../urls.js'
import { showDialog } from '../viewer/dialog.js'
import { button, createElement } from '../viewer/dom.js'
import { icon } from './icons.js'
import { cancel, maxUploadSize, send } from './tus.js'

const MAX_CONCURRENT = 3
/** Messages about an image that could not be built, by the API's `errorCode`. */
const ERROR_MESSAGES = { kind: 'noImage', slide: 'slide', damaged: 'damaged', pixels: 'tooLarge', late: 'late', cancelled: 'cancelled' }
/** Messages about a refused file, by response status. */
const STATUS_MESSAGES = { 400: 'notTaken', 401: 'notAllowed', 403: 'notAllowed', 413: 'tooLong', 415: 'noImage', 507: 'noRoom' }
/** Whether the device is a phone or tablet. The page then offers neither pairing nor drag and drop. */
const isPhone = matchMedia('(pointer: coarse) and (hover: none)').matches

/** Adds the button that opens the upload panel. Dropping files on the page opens it, too. */
export function showUploads(header, reload, rights) {
  const panel = new Panel(reload, rights)
  header.append(button('round add', editingTranslator()('addPictures'), () => panel.open(), icon('add')))
  addEventListener('dragover', (event) => {
    if (!event.dataTransfer.types.includes('Files')) return
    event.preventDefault()
    document.body.classList.add('dropping')
  })
  for (const name of ['dragleave', 'drop']) {
    addEventListener(name, (event) => event.relatedTarget || document.body.classList.remove('dropping'))
  }
  addEventListener('drop', (event) => {
    if (!event.dataTransfer.files.length) return
    event.preventDefault()
    panel.open()
    panel.add(event.dataTransfer.files)
  })
}

class Panel {
  constructor(reload, { canWrite, canWriteSpace }) {
    const t = this.t = editingTranslator()
    this.reload = () => {
      clearTimeout(this.timer)
      this.timer = setTimeout(reload, 500)
    }
    this.rows = new Map()
    this.queue = []
    /** Names of files that this page uploads. The server's event may arrive before this page knows the upload's id. */
    this.queued = new Set()
    this.sending = 0
    this.unfinishedNote = createElement('p', { className: 'left', hidden: true })
    this.list = createElement('ul', { ariaLive: 'polite' })
    this.phone = createElement('figure', { hidden: true })
    this.intoSpace = createElement('input', { type: 'checkbox', checked: canWriteSpace, disabled: !canWrite })
    this.parts = [
      createElement('p', { textContent: t(isPhone ? 'choosePhone' : 'dropHere') }),
      createElement('label', { className: 'into', hidden: !canWriteSpace }, this.intoSpace, t('intoSpace')),
      ...this.fileInput('choose', t('choosePictures'), { multiple: true }),
      ...this.fileInput('camera', t('takePhoto'), {}), this.unfinishedNote, this.list, this.phone]
  }

  fileInput(id, label, properties) {
    const onchange = () => {
      this.add(field.files)
      field.value = ''
    }
    // On a desktop, browsers would hide RAW files and slides with this filter.
    const accept = isPhone ? 'image/*' : ''
    const field = createElement('input', { type: 'file', accept, id, hidden: true, onchange, ...properties })
    if (!properties.multiple) field.setAttribute('capture', 'environment')
    return [field, button('wide', label, () => field.click())]
  }

  open() {
    if (this.dialog?.open) return
    this.dialog = showDialog(document.body, this.t('addPictures'), this.parts, 'uploads')
    this.subscribe()
    if (!this.intoSpace.disabled && !isPhone) this.showPhone()
  }

  async showPhone() {
    const response = await fetch(serverURL('api/pairing.svg'))
    if (response.status !== 200) return
    const src = URL.createObjectURL(await response.blob())
    this.phone.replaceChildren(createElement('img', { alt: this.t('phoneCode'), width: 164, height: 164, src }),
      createElement('figcaption', { textContent: this.t('phone') }))
    this.phone.hidden = false
  }

  subscribe() {
    if (this.events) return
    this.events = new EventSource(serverURL('api/events'))
    this.unfinished = new Map()
    this.events.addEventListener('upload', ({ data }) => {
      const upload = JSON.parse(data)
      const { id, name, status } = upload
      const row = this.rows.get(id)
      if (row) return row.update(upload)
      const isMine = JSON.stringify([localStorage, sessionStorage]).includes(id)
      const isFinished = status === 'done' || status === 'failed'
      if (!isMine && !isFinished && !this.queued.has(name)) return this.addForeignUpload(upload)
      // An upload of an earlier visit; pages cannot keep files.
      if (status === 'receiving' && isMine) this.unfinished.set(id, name)
      else this.unfinished.delete(id)
      this.updateUnfinished()
    })
  }

  /** Shows an upload of another device. */
  addForeignUpload(upload) {
    const row = new Row({ name: upload.name }, this)
    row.button.hidden = true
    row.item.classList.add('other')
    row.item.title = this.t('fromOthers')
    this.rows.set(upload.id, row)
    row.update(upload)
  }

  updateUnfinished() {
    this.unfinishedNote.hidden = this.unfinished.size === 0
    this.unfinishedNote.textContent = this.t('unfinished', { names: [...this.unfinished.values()].join(', ') })
  }

  started(id, row) {
    this.rows.set(id, row)
    if (this.unfinished?.delete(id)) this.updateUnfinished()
  }

  add(files) {
    for (const file of files) {
      file.folder = this.intoSpace.checked ? '~/' : ''
      this.queued.add(file.name)
      this.queue.push(new Row(file, this))
    }
    this.startNext()
  }

  startNext() {
    while (this.sending < MAX_CONCURRENT && this.queue.length) {
      this.sending += 1
      this.queue.shift().run().finally(() => {
        this.sending -= 1
        this.startNext()
      })
    }
  }
}

class Row {
  constructor(file, panel) {
    this.file = file
    this.panel = panel
    const t = this.t = editingTranslator()
    this.abort = new AbortController()
    this.name = createElement('a', { textContent: file.name })
    this.bar = createElement('progress', { max: 2, value: 0, ariaLabel: file.name })
    this.statusText = createElement('span', { textContent: t('queued') })
    this.button = button('wide', t('cancel'), () => this.cancel())
    this.item = createElement('li', {}, this.name, this.bar, this.statusText, this.button)
    panel.list.append(this.item)
  }

  async run() {
    if (this.abort.signal.aborted) return
    try {
      await send(this.file, {
        signal: this.abort.signal,
        started: (id) => this.panel.started(this.id = id, this),
        waiting: () => this.show(this.bar.value, this.t('waitingForServer')),
      })
      const response = await fetch(serverURL(`api/uploads/${this.id}`))
      if (response.ok) this.update(await response.json())
    } catch (error) {
      if (!this.abort.signal.aborted) this.finish('failed', await this.refusal(error.status))
    }
  }

  /**
   * Returns the localized reason for a refusal.
   * @param {number} [status] the status of the response, if there was one
   */
  async refusal(status) {
    const maxSize = status === 413 ? await maxUploadSize() : 0
    if (maxSize && maxSize < this.file.size) return this.t('tooLongFor', { megabytes: maxSize >> 20 })
    return this.t(STATUS_MESSAGES[status] ?? 'tryAgain')
  }

  show(value, text) {
    this.bar.value = value
    this.statusText.textContent = text
  }

  update({ status, offset, length, progress, image, duplicate, errorCode }) {
    if (this.isFinished) return
    if (status === 'receiving') this.show(offset / length, this.t('sendingPart', { percent: wholePercent(offset / length) }))
    if (status === 'waiting') this.show(1, this.t(errorCode ? 'delayed' : 'waitingForTiling'))
    if (status === 'tiling') this.show(1 + progress, this.t('tilingPart', { percent: wholePercent(progress) }))
    if (status === 'failed') this.finish(status, this.t(ERROR_MESSAGES[errorCode] ?? 'notPrepared'))
    if (status === 'done') {
      this.finish(status, this.t(duplicate ? 'thereAlready' : 'added'))
      this.name.href = serverURL(`view/${encodeURIComponent(image)}`)
      if (!duplicate) this.panel.reload()
    }
  }

  finish(name, text) {
    this.isFinished = true
    this.item.classList.add(name)
    this.show(2, text)
    this.bar.hidden = this.button.hidden = true
  }

  cancel() {
    this.abort.abort()
    cancel(this.file, this.id)
    this.finish('failed', this.t('cancelled'))
  }
}

/**
 * Converts a fraction to whole percent, rounded down.
 * @param {number} part
 * @returns {number}
 */
function wholePercent(part) { return Math.floor(part * 100) }
