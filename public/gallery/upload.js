import { place } from '../place.js'
import { text } from '../text/writing.js'
import { showDialog } from '../viewer/dialog.js'
import { button, make } from '../viewer/element.js'
import { icon } from './icons.js'
import { cancel, send } from './tus.js'

const AT_ONCE = 3
/** A phone, or what is held like one: it has no other to send pictures to it, and nothing to drop. */
const isPhone = matchMedia('(pointer: coarse) and (hover: none)').matches

/** The button that opens the panel; what is dropped on the page opens it, too. */
export function showUploads(header, reload, rights) {
  const panel = new Panel(reload, rights)
  header.append(button('round add', text.addPictures, () => panel.open(), icon('add')))
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
  constructor(reload, { writable, spaceWritable }) {
    this.reload = () => {
      clearTimeout(this.timer)
      this.timer = setTimeout(reload, 500)
    }
    this.rows = new Map()
    this.queue = []
    /** Names of what this page sends: the server may tell of it before this page knows what it is called there. */
    this.queued = new Set()
    this.sending = 0
    this.left = make('p', { className: 'left', hidden: true })
    this.list = make('ul', { ariaLive: 'polite' })
    this.phone = make('figure', { hidden: true })
    this.into = make('input', { type: 'checkbox', checked: spaceWritable, disabled: !writable })
    this.parts = [
      make('p', { textContent: isPhone ? text.choosePhone : text.dropHere }),
      make('label', { className: 'into', hidden: !spaceWritable }, this.into, text.intoSpace),
      ...this.choice('choose', text.choosePictures, { multiple: true }),
      ...this.choice('camera', text.takePhoto, {}), this.left, this.list, this.phone]
  }

  choice(id, words, properties) {
    const onchange = () => {
      this.add(field.files)
      field.value = ''
    }
    const field = make('input', { type: 'file', accept: 'image/*', id, hidden: true, onchange, ...properties })
    if (!properties.multiple) field.setAttribute('capture', 'environment')
    return [field, button('wide', words, () => field.click())]
  }

  open() {
    if (this.dialog?.open) return
    this.dialog = showDialog(document.body, text.addPictures, this.parts, 'uploads')
    this.listen()
    if (!this.into.disabled && !isPhone) this.showPhone()
  }

  async showPhone() {
    const answer = await fetch(place('api/qr.svg'))
    if (answer.status !== 200) return
    const src = URL.createObjectURL(await answer.blob())
    this.phone.replaceChildren(make('img', { alt: text.phoneCode, width: 164, height: 164, src }),
      make('figcaption', { textContent: text.phone }))
    this.phone.hidden = false
  }

  listen() {
    if (this.events) return
    this.events = new EventSource(place('api/events'))
    this.unfinished = new Map()
    this.events.addEventListener('upload', ({ data }) => {
      const upload = JSON.parse(data)
      const { id, name, stage } = upload
      const row = this.rows.get(id)
      if (row) return row.tell(upload)
      const isMine = JSON.stringify([localStorage, sessionStorage]).includes(id)
      const isOver = stage === 'done' || stage === 'failed'
      if (!isMine && !isOver && !this.queued.has(name)) return this.follow(upload)
      // Of an earlier visit: no page may keep a file.
      if (stage === 'receiving' && isMine) this.unfinished.set(id, name)
      else this.unfinished.delete(id)
      this.tellLeft()
    })
  }

  /** Another device's, as far as it is told. */
  follow(upload) {
    const row = new Row({ name: upload.name }, this)
    row.button.hidden = true
    row.item.classList.add('other')
    row.item.title = text.fromOthers
    this.rows.set(upload.id, row)
    row.tell(upload)
  }

  tellLeft() {
    this.left.hidden = this.unfinished.size === 0
    this.left.textContent = text.unfinished([...this.unfinished.values()].join(', '))
  }

  started(id, row) {
    this.rows.set(id, row)
    if (this.unfinished?.delete(id)) this.tellLeft()
  }

  add(files) {
    for (const file of files) {
      file.folder = this.into.checked ? '~/' : ''
      this.queued.add(file.name)
      this.queue.push(new Row(file, this))
    }
    this.pump()
  }

  pump() {
    while (this.sending < AT_ONCE && this.queue.length) {
      this.sending += 1
      this.queue.shift().run().finally(() => {
        this.sending -= 1
        this.pump()
      })
    }
  }
}

class Row {
  constructor(file, panel) {
    this.file = file
    this.panel = panel
    this.abort = new AbortController()
    this.name = make('a', { textContent: file.name })
    this.bar = make('progress', { max: 2, value: 0, ariaLabel: file.name })
    this.words = make('span', { textContent: text.queued })
    this.button = button('wide', text.cancel, () => this.cancel())
    this.item = make('li', {}, this.name, this.bar, this.words, this.button)
    panel.list.append(this.item)
  }

  async run() {
    if (this.abort.signal.aborted) return
    try {
      await send(this.file, {
        signal: this.abort.signal,
        started: (id) => this.panel.started(this.id = id, this),
        waiting: () => this.show(this.bar.value, text.waitingForServer),
      })
      const answer = await fetch(place(`api/uploads/${this.id}`))
      if (answer.ok) this.tell(await answer.json())
    } catch (error) {
      if (!this.abort.signal.aborted) this.end('failed', error.refusal ?? text.tryAgain)
    }
  }

  show(value, words) {
    this.bar.value = value
    this.words.textContent = words
  }

  tell({ stage, offset, length, progress, image, duplicate, reason }) {
    if (this.isOver) return
    if (stage === 'receiving') this.show(offset / length, text.sendingPart(offset / length))
    if (stage === 'waiting') this.show(1, reason ?? text.waitingForTiling)
    if (stage === 'tiling') this.show(1 + progress, text.tilingPart(progress))
    if (stage === 'failed') this.end(stage, reason)
    if (stage === 'done') {
      this.end(stage, duplicate ? text.thereAlready : text.added)
      this.name.href = place(`view/${encodeURIComponent(image)}`)
      if (!duplicate) this.panel.reload()
    }
  }

  end(name, words) {
    this.isOver = true
    this.item.classList.add(name)
    this.show(2, words)
    this.bar.hidden = this.button.hidden = true
  }

  cancel() {
    this.abort.abort()
    cancel(this.file, this.id)
    this.end('failed', text.cancelled)
  }
}
