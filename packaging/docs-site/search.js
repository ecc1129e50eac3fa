// Search over the whole site, without a server: lunr, and the text of all sections, are loaded when the field is first used.
const script = document.currentScript
const root = script.dataset.root
const form = document.querySelector('form[role=search]')
const field = form.querySelector('input')
const results = form.querySelector('ol')
let index

// The contents scroll by themselves beside the page, to its entry.
const contents = document.querySelector('nav')
const entry = contents.querySelector('[aria-current]')
if (entry) contents.scrollTop = entry.offsetTop - contents.clientHeight / 3
form.hidden = false

/** Loads a script of the site. A page of a file system may load scripts, and nothing else. */
function load(name) {
  return new Promise((resolve, reject) => {
    const element = document.createElement('script')
    Object.assign(element, { src: root + name, onload: resolve, onerror: reject })
    document.head.append(element)
  })
}

/** Loads the text of the site, and makes the index, once. */
async function open() {
  await Promise.all([load('lunr.min.js'), load('search-text.js')])
  return lunr(function () {
    this.tokenizer.separator = /[^\p{L}\p{N}]+/u
    this.ref('number')
    this.field('title', { boost: 10 })
    this.field('page', { boost: 4 })
    this.field('text')
    searchText.forEach(([, page, title, text], number) => this.add({ number, page, title, text }))
  })
}

/** Shows the sections that contain all words; the last word may be incomplete. */
async function search() {
  const words = field.value.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  results.hidden = words.length === 0
  if (words.length === 0) return
  const found = (await (index ??= open())).query(query => {
    for (const [place, word] of words.entries()) {
      const isLast = place === words.length - 1
      query.term(word, {
        presence: lunr.Query.presence.REQUIRED,
        wildcard: isLast ? lunr.Query.wildcard.TRAILING : lunr.Query.wildcard.NONE,
        usePipeline: !isLast,
      })
    }
  }).slice(0, 20)
  results.replaceChildren(...found.map(({ ref }) => {
    const [address, page, title, text] = searchText[ref]
    const link = Object.assign(document.createElement('a'), { href: root + address })
    link.append(title === page ? title : `${page}: ${title}`)
    const at = Math.max(0, text.toLowerCase().indexOf(words.at(-1)) - 40)
    link.append(Object.assign(document.createElement('small'), { textContent: (at ? '…' : '') + text.slice(at, at + 140) }))
    const item = document.createElement('li')
    item.append(link)
    return item
  }))
  if (found.length === 0) results.append(Object.assign(document.createElement('li'), { textContent: 'Nothing found' }))
}

field.addEventListener('input', search)
field.addEventListener('focus', search)
form.addEventListener('submit', event => {
  event.preventDefault()
  results.querySelector('a')?.click()
})
addEventListener('click', event => { if (!form.contains(event.target)) results.hidden = true })
addEventListener('keydown', event => {
  if (event.key === 'Escape') {
    results.hidden = true
    field.blur()
  } else if (event.key === '/' && !event.target.matches('input')) {
    event.preventDefault()
    field.focus()
  } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && form.contains(event.target)) {
    const stops = [field, ...results.querySelectorAll('a')]
    const next = stops[stops.indexOf(event.target) + (event.key === 'ArrowDown' ? 1 : -1)]
    if (next) { event.preventDefault(); next.focus() }
  }
})
