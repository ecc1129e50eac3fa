import { text } from '../text/writing.js'
import { icon } from '../viewer/icons.js'
import { Refusal, cancel, send } from './tus.js'

/** Files that are sent at the same time. */
const AT_ONCE = 3

const make = (name, parent, properties) => {
  const element = Object.assign(document.createElement(name), properties)
  parent?.append(element)
  return element
}

/** Puts the button that opens the panel for uploads into the header; pictures may be dropped anywhere. */
export function showUploads(header, reload) {
  const panel = new Panel(reload)
  const button = make('button', header, { id: 'add', type: 'button', title: text.addPictures, onclick: () => panel.open() })
  button.setAttribute('aria-label', text.addPictures)
  button.append(icon('add'))
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
  constructor(reload) {
    this.reload = () => {
      clearTimeout(this.timer)
      this.timer = setTimeout(async () => {
        // The browser keeps the list for some seconds.
        await fetch('/api/images?limit=200', { cache: 'reload' })
        reload()
      }, 500)
    }
    this.rows = new Map()
    this.queue = []
    this.sending = 0
    const dialog = make('dialog', document.body, { className: 'unlock uploads' })
    dialog.setAttribute('aria-labelledby', 'uploads-title')
    make('h2', dialog, { id: 'uploads-title', textContent: text.addPictures })
    make('p', dialog, { textContent: text.dropHere })
    this.choice(dialog, 'choose', text.choosePictures, { multiple: true })
    this.choice(dialog, 'camera', text.takePhoto).setAttribute('capture', 'environment')
    make('button', dialog, { type: 'button', textContent: text.close, onclick: () => dialog.close() })
    this.left = make('p', dialog, { className: 'left', hidden: true })
    this.list = make('ul', dialog)
    this.list.setAttribute('aria-live', 'polite')
    this.phone = make('figure', dialog, { hidden: true })
    this.dialog = dialog
  }

  choice(parent, id, words, properties) {
    const field = make('input', parent, { type: 'file', accept: 'image/*', id, hidden: true, ...properties })
    field.onchange = () => {
      this.add(field.files)
      field.value = ''
    }
    make('button', parent, { type: 'button', textContent: words, onclick: () => field.click() })
    return field
  }

  open() {
    if (this.dialog.open) return
    this.dialog.showModal()
    this.listen()
    this.showPhone()
  }

  /** The same page's address for a phone in the same network. */
  async showPhone() {
    const answer = await fetch('/api/qr.svg')
    if (answer.status !== 200) return
    this.phone.replaceChildren()
    this.phone.hidden = false
    const picture = make('img', this.phone, { alt: text.phoneCode, width: 164, height: 164 })
    picture.src = URL.createObjectURL(await answer.blob())
    make('figcaption', this.phone, { textContent: text.phone })
  }

  listen() {
    if (this.events) return
    this.events = new EventSource('/api/events')
    this.unfinished = new Map()
    this.events.addEventListener('upload', ({ data }) => {
      const upload = JSON.parse(data)
      const row = this.rows.get(upload.id)
      if (row) return row.tell(upload)
      // Of an earlier visit: the file must be chosen again, since no page may keep it.
      if (upload.stage === 'receiving') this.unfinished.set(upload.id, upload.name)
      else this.unfinished.delete(upload.id)
      const names = [...this.unfinished.values()]
      this.left.hidden = names.length === 0
      this.left.textContent = text.unfinished(names.join(', '))
    })
  }

  add(files) {
    for (const file of files) this.queue.push(new Row(file, this))
    this.pump()
  }

  async pump() {
    while (this.sending < AT_ONCE && this.queue.length) {
      this.sending += 1
      this.queue.shift().run().finally(() => {
        this.sending -= 1
        this.pump()
      })
    }
  }
}

/** One file's line: its name, how far it is, and what became of it. */
class Row {
  constructor(file, panel) {
    this.file = file
    this.panel = panel
    this.abort = new AbortController()
    const item = make('li', panel.list)
    this.name = make('a', item, { textContent: file.name })
    this.bar = make('progress', item, { max: 2, value: 0 })
    this.bar.setAttribute('aria-label', file.name)
    this.words = make('span', item, { textContent: text.queued })
    this.button = make('button', item, { type: 'button', textContent: text.cancel, onclick: () => this.cancel() })
    this.item = item
  }

  async run() {
    if (this.abort.signal.aborted) return
    try {
      await send(this.file, {
        signal: this.abort.signal,
        started: (id) => {
          this.id = id
          this.panel.rows.set(id, this)
          this.panel.unfinished?.delete(id)
        },
        progress: (part) => this.show(part, text.sendingPart(part)),
        waiting: () => this.show(this.bar.value, text.waitingForServer),
      })
      const answer = await fetch(`/api/uploads/${this.id}`)
      if (answer.ok) this.tell(await answer.json())
    } catch (error) {
      if (!this.abort.signal.aborted) this.fail(error instanceof Refusal ? error.message : text.tryAgain)
    }
  }

  /** - value: 0 to 1 while it is sent, on to 2 while it is tiled. */
  show(value, words) {
    this.bar.value = value
    this.words.textContent = words
  }

  tell({ stage, progress, image, duplicate, reason }) {
    if (this.isOver) return
    if (stage === 'waiting') this.show(1, reason ?? text.waitingForTiling)
    if (stage === 'tiling') this.show(1 + progress, text.tilingPart(progress))
    if (stage === 'failed') this.fail(reason)
    if (stage === 'done') {
      this.end('done', duplicate ? text.thereAlready : text.added)
      this.name.href = `/view/${encodeURIComponent(image)}`
      if (!duplicate) this.panel.reload()
    }
  }

  fail(words) { this.end('failed', words) }

  end(name, words) {
    this.isOver = true
    this.item.className = name
    this.show(2, words)
    this.bar.hidden = this.button.hidden = true
  }

  cancel() {
    this.abort.abort()
    cancel(this.file, this.id)
    this.fail(text.cancelled)
  }
}
