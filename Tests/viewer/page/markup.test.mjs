import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const PUBLIC = fileURLToPath(new URL('../../../public/', import.meta.url))
const read = (path) => readFileSync(join(PUBLIC, path), 'utf8')

test('the page of a picture stands the same in its own document and in the gallery, which opens it above', () => {
  const [, own] = /<body class="view">\n([^]*?)<noscript>/.exec(read('view.html'))
  const [, above] = /<template id="page">\n([^]*?)<\/template>/.exec(read('index.html'))
  assert.equal(above, own)
})

/** A module and all that it imports at once, from where it is imported first. */
function closure(start, found = new Set()) {
  if (found.has(start)) return found
  found.add(start)
  for (const [, path] of read(start).matchAll(/^(?:import|export) (?:[^'\n]* from )?'(\.[^']+)'/gm)) {
    closure(normalize(join(dirname(start), path)), found)
  }
  return found
}

test('each page names all modules that it needs at once, so that they come together', () => {
  for (const [page, scripts] of [['index.html', ['gallery/preload.js', 'gallery/main.js']], ['view.html', ['page/preload.js', 'page/main.js']]]) {
    const needed = new Set(scripts.flatMap((script) => [...closure(script)]))
    for (const script of scripts) needed.delete(script)
    const named = [...read(page).matchAll(/<link rel="modulepreload" href="\/([^"]+)">/g)].map(([, path]) => path)
    assert.deepEqual(named, [...needed].sort(), page)
  }
})
