import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { languageOf } from '../../../public/text/choice.js'
import { FILES } from '../../../public/text/files.js'

const PUBLIC = fileURLToPath(new URL('../../../public/', import.meta.url))
// As `make lint` has it: Debian's node-typescript.
const typescript = createRequire(import.meta.url)('/usr/share/nodejs/typescript')

const read = (path) => readFileSync(join(PUBLIC, path), 'utf8')
const english = JSON.parse(read('text/en.json'))
const languages = Object.fromEntries(Object.entries(FILES).map(([language, path]) => [language, JSON.parse(read(path))]))
const scripts = readdirSync(PUBLIC, { recursive: true }).filter((path) => path.endsWith('.js')).map((path) => [path, read(path)])

const isPlural = (message) => typeof message === 'object' && 'other' in message
const placeholders = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()

/** Each text of a file, by where it stands; of a plural its most general form. */
function texts(value, path = '') {
  if (typeof value === 'string') return [[path, value]]
  if (isPlural(value)) return [[path, value.other]]
  return Object.entries(value).flatMap(([key, each]) => texts(each, path ? `${path}.${key}` : key))
}

test('each file has every text that English has, and no other', () => {
  assert.deepEqual(Object.keys(languages), ['de', 'fr', 'zh'])
  for (const [language, words] of Object.entries(languages)) {
    assert.deepEqual(texts(words).map(([path]) => path).sort(), texts(english).map(([path]) => path).sort(), language)
  }
})

test('each text has its values in their places, whatever the language and the count', () => {
  const at = new Map(texts(english))
  const forms = (value, path = '') => typeof value === 'string' ? [[path, value]]
    : isPlural(value) ? Object.values(value).map((form) => [path, form])
      : Object.entries(value).flatMap(([key, each]) => forms(each, path ? `${path}.${key}` : key))
  for (const [language, words] of Object.entries({ en: english, ...languages })) {
    for (const [path, form] of forms(words)) {
      assert.ok(form.trim(), `${language}: ${path} is empty`)
      const missing = placeholders(at.get(path)).filter((name) => !placeholders(form).includes(name))
      // "One part" needs no number.
      assert.deepEqual(missing.filter((name) => name !== 'count'), [], `${language}: ${path}`)
      assert.deepEqual(placeholders(form).filter((name) => !placeholders(at.get(path)).includes(name)), [], `${language}: ${path}`)
    }
  }
})

test('each plural has a form for every count of its language', () => {
  const walk = (value, language, path) => {
    if (typeof value === 'string') return
    if (!isPlural(value)) return Object.entries(value).forEach(([key, each]) => walk(each, language, `${path}.${key}`))
    const categories = [0, 1, 2, 3, 5, 11, 21, 100].map((count) => new Intl.PluralRules(language).select(count))
    for (const category of categories) assert.ok(category in value, `${language}: ${path} for ${category}`)
  }
  for (const [language, words] of Object.entries({ en: english, ...languages })) walk(words, language, '')
})

test('translations are translated', () => {
  for (const [language, words] of Object.entries(languages)) {
    const at = new Map(texts(english))
    const taken = texts(words).filter(([path, text]) => text === at.get(path) && /\p{Letter}{2,}( \p{Letter}+){3}/u.test(text))
    assert.deepEqual(taken.map(([path]) => path), [], language)
  }
})

test('what the scripts say is in their group, and nothing in the files is never said', () => {
  const groups = Object.keys(english)
  for (const [path, source] of scripts) {
    if (path.startsWith('text/')) continue
    const own = groups.filter((group) => new RegExp(`import\\([^)]*text/${group}\\.js|import \\{ ${group} \\} from`).test(source))
    const known = new Set(own.flatMap((group) => Object.keys(english[group])))
    for (const [, group, key] of source.matchAll(/\b(\w+)\([^()]*\)\('(\w+)'/g)) {
      if (groups.includes(group)) assert.ok(key in english[group], `${path} says ${group}.${key}`)
    }
    if (!own.length) continue
    for (const [, key] of source.matchAll(/\bsay\('(\w+)'/g)) assert.ok(known.has(key), `${path} says ${key}, which is not in ${own}`)
  }
  const quoted = new Set(scripts.flatMap(([, source]) => [...source.matchAll(/'([\w-]+)'/g), ...source.matchAll(/\b(\w+): '/g)].map(([, key]) => key)))
  for (const group of groups) {
    for (const key of Object.keys(english[group])) {
      assert.ok(quoted.has(key) || key === 'needsScript', `nothing says ${group}.${key}`)
    }
  }
})

/** What stands in quotation marks in a script, but for what developers alone read: errors, and what the console is told. */
function literals(path, source) {
  const found = []
  const visit = (node) => {
    if (typescript.isNewExpression(node) && /Error|Tile|Archive/.test(node.expression.getText(file))) return
    if (typescript.isImportDeclaration(node) || typescript.isExportDeclaration(node)) return
    if (typescript.isStringLiteralLike(node) || typescript.isTemplateHead(node) || typescript.isTemplateMiddleOrTemplateTail(node)) found.push(node.text)
    typescript.forEachChild(node, visit)
  }
  const file = typescript.createSourceFile(path, source, typescript.ScriptTarget.ES2022)
  visit(file)
  return found
}

test('no words stand in scripts but in these files', () => {
  // Names that a machine reads.
  const names = new Set(['Arrow', 'Page', 'Canvas', 'Choice', 'Manifest', 'Range', 'Annotation', 'Image', 'Size', 'Format', 'Width', 'Height',
    'Overlap', 'Location', 'Content-Type', 'Escape', 'Enter', 'Tab', 'Home', 'End', 'Delete', 'Files', 'Ziggurat', 'WebP', 'ETag', 'TileSize',
    'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'If-Match', 'Retry-After', 'Upload-Offset', 'Tus-Resumable',
    'ImageService3', 'Upload-Length', 'Upload-Metadata'])
  const words = /^[A-Z][a-z]+([ .,:…]|$)|\p{Letter}{2,} \p{Letter}{2,}.*[.?!…]$|\p{Script=Han}|[äöüßéèà]/u
  const faulty = "const a = make('p', { title: 'Download' }); say(`Nothing found for ${a}.`); throw new Error('Not seen by people.')"
  assert.deepEqual(literals('', faulty).filter((text) => words.test(text)), ['Download', 'Nothing found for '])
  const faults = []
  for (const [path, source] of scripts) {
    for (const text of literals(path, source)) if (words.test(text) && !names.has(text)) faults.push(`${path}: ${text}`)
  }
  assert.deepEqual(faults, [])
})

test('no words stand in pages but in these files', () => {
  for (const page of ['index.html', 'view.html']) {
    const source = read(page)
    const told = [...source.matchAll(/<p lang="([\w-]+)">([^<]*)<\/p>/g)].map(([, tag, text]) => [languageOf(tag), text])
    assert.deepEqual(told, Object.entries({ en: english, ...languages }).map(([language, words]) => [language, words.browsing.needsScript]))
    const rest = source.replace(/<noscript>[^]*<\/noscript>/, '').replaceAll(/<title>Ziggurat<\/title>|Ziggurat<\/h1>/g, '')
    assert.deepEqual([...rest.matchAll(/>([^<>]*\p{Letter}[^<>]*)</gu)].map(([, text]) => text), [], page)
    assert.deepEqual([...rest.matchAll(/\b(alt|title|placeholder|aria-label)="[^"]+"/g)].map(([text]) => text), [], page)
  }
})
