import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { languageOf } from '../../../public/i18n/match-locale.js'
import { FILES } from '../../../public/i18n/files.js'

const PUBLIC = fileURLToPath(new URL('../../../public/', import.meta.url))
// As `make lint` has it: Debian's node-typescript.
const typescript = createRequire(import.meta.url)('/usr/share/nodejs/typescript')

const read = (path) => readFileSync(join(PUBLIC, path), 'utf8')
const english = JSON.parse(read('i18n/en.json'))
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
    if (path.startsWith('i18n/')) continue
    const own = groups.filter((group) => new RegExp(`import\\([^)]*i18n/${group}\\.js|import \\{ ${group}Translator \\} from`).test(source))
    const known = new Set(own.flatMap((group) => Object.keys(english[group])))
    for (const [, group, key] of source.matchAll(/\b(\w+)Translator\([^()]*\)\('(\w+)'/g)) {
      if (groups.includes(group)) assert.ok(key in english[group], `${path} says ${group}.${key}`)
    }
    if (!own.length) continue
    for (const [, key] of source.matchAll(/\bt\('(\w+)'/g)) assert.ok(known.has(key), `${path} says ${key}, which is not in ${own}`)
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
  const names = new Set(['Arrow', 'Page', 'Canvas', 'Choice', 'Manifest', 'Collection', 'Range', 'Annotation', 'Image', 'Size', 'Format', 'Width', 'Height',
    'Overlap', 'Location', 'Content-Type', 'Escape', 'Enter', 'Tab', 'Home', 'End', 'Delete', 'Files', 'Ziggurat', 'WebP', 'ETag', 'TileSize',
    'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'If-Match', 'Retry-After', 'Upload-Offset', 'Tus-Resumable',
    'ImageService3', 'Upload-Length', 'Upload-Metadata'])
  const words = /^[A-Z][a-z]+([ .,:…]|$)|\p{Letter}{2,} \p{Letter}{2,}.*[.?!…]$|\p{Script=Han}|[äöüßéèà]/u
  const faulty = "const a = createElement('p', { title: 'Download' }); t(`Nothing found for ${a}.`); throw new Error('Not seen by people.')"
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
    assert.deepEqual(told, Object.entries({ en: english, ...languages }).map(([language, words]) => [language, words.gallery.needsScript]))
    const rest = source.replace(/<noscript>[^]*<\/noscript>/, '').replaceAll(/<title>Ziggurat<\/title>|Ziggurat<\/h1>/g, '')
    assert.deepEqual([...rest.matchAll(/>([^<>]*\p{Letter}[^<>]*)</gu)].map(([, text]) => text), [], page)
    assert.deepEqual([...rest.matchAll(/\b(alt|title|placeholder|aria-label)="[^"]+"/g)].map(([text]) => text), [], page)
  }
})

/** Each form of each text of a file, by where it is. */
function forms(value, path = '') {
  if (typeof value === 'string') return [[path, value]]
  return Object.entries(value).flatMap(([key, each]) => forms(each, path ? `${path}.${key}` : key))
}

/** All forms of all languages: language, path, text. */
const everyForm = Object.entries({ en: english, ...languages }).flatMap(([language, words]) => forms(words).map(([path, text]) => [language, path, text]))

/** The rules of one language: a pattern that no text may match, and an example that shows that the pattern works. */
const RULES = {
  en: [
    [/\bpictures?\b/i, 'No pictures yet.', 'the word is "image"'],
    [/\b(?:words|tell|told|mend\w*|anew|lately|turn\w*|taken|faults?|kinds?|nobody|everybody)\b/i, 'Turn left', 'not a word of this interface'],
    [/\d[ ](?:%|[nµm]?m|[kMG]B)\b|\} (?:%|[nµm]?m\b|[kMG]B\b)|\}\u00a0%/, '{} mm', 'a no-break space before a unit, none before %'],
    [/["']/, "doesn't", 'typographic quotes'],
    [/\btrash\b/, 'Moved to trash', 'the Trash is a name'],
  ],
  de: [
    [/\b(?:Sie|Ihnen|Ihren?|Ihrem|du|dein\w*|euch)\b/, 'Bitte prüfen Sie', 'no form of address'],
    [/(?:\}|\d) (?:%|[nµm]?m\b|[kMG]B\b)|[\p{L}] …|\}%/u, 'Wird geladen …', 'a no-break space before units and the ellipsis'],
    [/["'“](?=[\p{L}{])/u, '"Ordner"', 'German quotes'],
    [/\b(?:sicher[nt]|gesichert)\b/i, 'Sichern', 'the word is "speichern"'],
  ],
  fr: [
    [/[^\u00a0\u202f][:;!?»%](?![\]/])|«[^\u00a0\u202f]|(?:\}|\d) (?:[nµm]?m\b|[kMG]o\b)/, 'Envoi : 5 %', 'a no-break space inside quotes, and before : ; ! ? % and units'],
    [/["']/, "l'image", 'typographic quotes'],
    [/(?<!\p{L})(?:tu|ton|tes|toi)(?!\p{L})/iu, 'Choisis ton image', 'formal address'],
  ],
  zh: [
    [/\p{Script=Han}[,;:!?()]|[,;:!?()]\p{Script=Han}/u, '图片,', 'full-width punctuation'],
    [/\p{Script=Han} \p{Script=Han}/u, '图片 列表', 'no spaces between characters'],
    [/\p{Script=Han}[A-Za-z0-9{]|[A-Za-z0-9}]\p{Script=Han}/u, '第{}页', 'a space between characters and letters or digits'],
    [/你|图像|照片(?!。)/u, '图像', 'formal address; the word is 图片'],
    [/["']/, '"图片"', 'Chinese quotes'],
  ],
}

test('each language keeps its rules for words, spaces and punctuation', () => {
  for (const [language, rules] of Object.entries(RULES)) {
    for (const [pattern, example, rule] of rules) {
      assert.match(example, pattern, `${language}: ${rule}`)
      const faulty = everyForm.filter(([own, path, text]) => own === language && path !== 'menus.keyList.12.0' && pattern.test(text.replaceAll(/\{\w+\}/g, '{}')))
      assert.deepEqual(faulty.map(([, path, text]) => `${path}: ${text}`), [], `${language}: ${rule}`)
    }
  }
})

/** Texts that are a button, an entry of a menu or a title: they end without a full stop and are short. */
const LABELS = {
  viewer: ['zoomIn', 'zoomOut', 'fit', 'fullscreen', 'previous', 'next', 'play', 'pause', 'more', 'back', 'close', 'tryAgain', 'filmstrip'],
  menus: ['save', 'share', 'copyLink', 'cite', 'flip', 'crop', 'measure', 'layers', 'details', 'keys', 'ratio', 'anyRatio', 'ownRatio',
    'reset', 'straighten', 'saveCopy', 'cancel', 'cropAgain', 'download', 'done', 'identifier', 'storage', 'size'],
  gallery: ['search', 'all', 'sort', 'orders.name', 'orders.-date', 'orders.date', 'orders.-added', 'orders.-size', 'addPictures',
    'clearSearch', 'allFolders', 'allPictures'],
  spaces: ['unlock', 'lock', 'unlockNow', 'checking', 'password'],
  editing: ['addPictures', 'choosePictures', 'takePhoto', 'cancel', 'trash', 'restore', 'select', 'leave', 'delete', 'moveOut', 'undo',
    'save', 'showCopy', 'useTheirs'],
}
/** Letters of a label. A row of the crop bar, 320 CSS pixels wide, has room for two such buttons. */
const LONGEST = { en: 24, de: 28, fr: 28, zh: 12 }

test('labels are short, begin with a capital letter and have no full stop', () => {
  const labels = new Set(Object.entries(LABELS).flatMap(([group, keys]) => keys.map((key) => `${group}.${key}`)))
  const known = new Set(everyForm.map(([, path]) => path))
  assert.deepEqual([...labels].filter((path) => !known.has(path)), [], 'each is a text')
  for (const [language, path, text] of everyForm) {
    if (!labels.has(path)) continue
    assert.ok([...text].length <= LONGEST[language], `${language}: ${path} is too long: ${text}`)
    assert.doesNotMatch(text, /[.。]$|^\p{Ll}/u, `${language}: ${path}`)
  }
})

test('labels are in sentence case', () => {
  const names = /^(?:Trash|Page|Up|Down|Home|Esc|Space|Ctrl|QR|JPEG|MB|GB|JavaScript|Safari)$/
  for (const [language, path, text] of everyForm) {
    if (language !== 'en' || path.startsWith('menus.keyList')) continue
    const inner = [...text.matchAll(/(?<![.?!]) ([A-Z]\w*)/g)].map(([, word]) => word).filter((word) => !names.test(word))
    assert.deepEqual(inner, [], `${path}: ${text}`)
  }
})
