import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

// Every place where a script gives an address to the browser: the address is a constant, one of the server's own paths, or
// the result of `webURL`.

const PUBLIC = fileURLToPath(new URL('../../../public/', import.meta.url))
const typescript = createRequire(import.meta.url)('/usr/share/nodejs/typescript')
const files = readdirSync(PUBLIC, { recursive: true })

/** Properties and attributes that a browser follows or loads. */
const FOLLOWED = new Set(['href', 'src', 'srcset', 'action', 'formAction', 'poster', 'ping', 'background', 'backgroundImage'])
/** Functions and classes that take an address, by the argument's number. */
const TAKES = {
  fetch: 0, importScripts: 0, Worker: 0, SharedWorker: 0, EventSource: 0, WebSocket: 0, URL: 0, sendBeacon: 1,
  'location.assign': 0, 'location.replace': 0, 'window.open': 0, 'navigator.sendBeacon': 0, 'serviceWorker.register': 0,
}
/** What makes markup or code of text: used nowhere. */
const NEVER = new Set(['innerHTML', 'outerHTML', 'srcdoc', 'cssText', 'insertAdjacentHTML', 'setHTMLUnsafe', 'createContextualFragment', 'document.write', 'document.writeln',
  'eval', 'Function', 'XMLHttpRequest'])
/** Functions that answer with `webURL`'s result or with a path of the server's own. */
const SAFE = new Set(['webURL', 'serverURL', 'viewURL', 'apiURL', 'formatQuery', 'fileAddress', 'URL.createObjectURL'])
/** The rest, each with its reason. */
const KNOWN = {
  'web-url.js': ['new URL(text, base)', 'new URL(url)'],
  'gallery/grid.js': [
    'img.src = img.src', // again
    'src: tileURL(level, column, row)', // of `zigguratSource`, which begins with `webURL`
    'new URL(document.baseURI)',
  ],
  'page/page.js': ['this.back.href = gallery'], // the document's own address, or `place`
  'page/preload.js': ['new URL(location.href)'],
  'editing/viewer-actions.js': ['location.replace(page.back.href)'],
  'menus/share.js': ['new URL(location.href)'],
  'crop/crop-rect.js': ['new URL(image)'], // a URL already, and its result goes through `fileAddress`
  'i18n/preload.js': ['new URL(root + FILES[language], location.href)', 'fetch(address)'], // constants
  'i18n/translator.js': ['new URL(FILES[language], root)'],
  // The viewer's attribute, which `openSource` gives to `webURL`.
  'compare/ziggurat-compare.js': ['viewer.setAttribute(\'src\', src)'],
  'viewer/ziggurat-viewer.js': ['this.setAttribute(\'src\', url)'],
  'viewer/deprecated.js': ['element.setAttribute(current, on)'], // names and values of its own table
  'embed/main.js': ['viewer.setAttribute(field.dataset.attribute, value)'], // names of the page's own fields
  'offline/service-worker.js': ['new URL(path, root)', 'fetch(request)'], // the browser's own requests, and files that are listed
  'offline/cache-policy.js': ['new URL(url)'], // reads its path alone
}

/** What a script gives to the browser without having it from `webURL` or from itself. */
function faultsOf(source) {
  const file = typescript.createSourceFile('script.js', source, typescript.ScriptTarget.ES2022, true)
  const faults = []
  const constants = new Map()
  const text = (node) => node.getText(file)
  const isSafe = (node, depth = 0) => {
    if (!node || depth > 8) return false
    if (typescript.isStringLiteralLike(node)) return true
    if (typescript.isParenthesizedExpression(node) || typescript.isAwaitExpression(node)) return isSafe(node.expression, depth + 1)
    if (typescript.isConditionalExpression(node)) return isSafe(node.whenTrue, depth + 1) && isSafe(node.whenFalse, depth + 1)
    if (typescript.isBinaryExpression(node) && ['??', '||'].includes(node.operatorToken.getText(file))) return isSafe(node.left, depth + 1) && isSafe(node.right, depth + 1)
    if (typescript.isPropertyAccessExpression(node) && ['href', 'pathname'].includes(node.name.text)) return isSafe(node.expression, depth + 1)
    if (typescript.isCallExpression(node)) return SAFE.has(text(node.expression))
    if (typescript.isNewExpression(node) && text(node.expression) === 'URL') {
      const [address, base] = node.arguments
      return isSafe(address, depth + 1) && (base === undefined || text(base) === 'import.meta.url' || text(base) === 'location.href' && SAFE.has(text(address).split('(')[0]))
    }
    if (typescript.isIdentifier(node)) return constants.has(node.text) && constants.get(node.text).every((value) => isSafe(value, depth + 1))
    return false
  }
  const each = (node, visit) => {
    visit(node)
    typescript.forEachChild(node, (child) => each(child, visit))
  }
  each(file, (node) => {
    if (!typescript.isVariableDeclaration(node) || !typescript.isIdentifier(node.name) || !node.initializer) return
    constants.set(node.name.text, [...constants.get(node.name.text) ?? [], node.initializer])
  })
  each(file, (node) => {
    const name = typescript.isPropertyAccessExpression(node) ? node.name.text : typescript.isIdentifier(node) ? node.text : ''
    if (NEVER.has(name) || NEVER.has(text(node))) faults.push(text(node))
    if ((typescript.isStringLiteralLike(node) || typescript.isTemplateHead(node) || typescript.isTemplateMiddleOrTemplateTail(node))
      && /url\(|javascript:/i.test(node.text)) faults.push(text(node))
    if (typescript.isBinaryExpression(node) && node.operatorToken.getText(file) === '=') {
      const { left, right } = node
      const isFollowed = typescript.isPropertyAccessExpression(left) && FOLLOWED.has(left.name.text) || text(left) === 'location'
      if (isFollowed && !isSafe(right)) faults.push(text(node))
    }
    if (typescript.isPropertyAssignment(node) && FOLLOWED.has(text(node.name)) && !isSafe(node.initializer)) faults.push(text(node))
    if (typescript.isShorthandPropertyAssignment(node) && FOLLOWED.has(node.name.text) && !isSafe(node.name)) faults.push(text(node))
    if (typescript.isCallExpression(node) && node.expression.kind === typescript.SyntaxKind.ImportKeyword && !isSafe(node.arguments[0])) faults.push(text(node))
    if (!typescript.isCallExpression(node) && !typescript.isNewExpression(node)) return
    const called = text(node.expression)
    const takes = Object.keys(TAKES).find((each) => called === each || called.endsWith(`.${each}`))
    if (takes && !isSafe(node) && !isSafe(node.arguments?.[TAKES[takes]])) faults.push(text(node))
    if (/\.setAttribute$/.test(called)) {
      const [attribute, value] = node.arguments
      if (!typescript.isStringLiteralLike(attribute) || FOLLOWED.has(attribute.text)) if (!isSafe(value)) faults.push(text(node))
    }
  })
  return faults
}

test('a script that gives the browser an address of others is found', () => {
  for (const source of [
    'a.href = x', 'a.href = `${x}/info.json`', 'createElement("a", { href: x })', 'createElement("a", { href })', 'img.src = x.href', 'location = x', 'location.href = x',
    'location.assign(x)', 'window.open(x)', 'fetch(x)', 'fetch(`${x}`)', 'await fetch(new URL(x))', 'new URL(x, base)', 'new Worker(x)', 'import(x)',
    'e.setAttribute("href", x)', 'e.setAttribute(name, x)', 'e.innerHTML = x', 'e.insertAdjacentHTML("beforeend", x)', 'document.write(x)', 'eval(x)',
    's.background = `url(${x})`', 'e.style.cssText = x', 'let u = webURL(y); { let u = x; a.href = u }', 'new EventSource(x)', 'globalThis.fetch(x)',
  ]) assert.ok(faultsOf(source).length, source)
  for (const source of [
    'a.href = webURL(x).href', 'a.href = webURL(x, base)', 'fetch(serverURL("api"))', 'const u = webURL(x); fetch(u)', 'a.href = "/"', 'import("./a.js")',
    'new URL("./a.css", import.meta.url)', 'e.setAttribute("view", x)', 'const href = URL.createObjectURL(b); createElement("a", { href })',
  ]) assert.deepEqual(faultsOf(source), [], source)
})

test('every address that scripts give to the browser is their own or comes through webURL', () => {
  const found = {}
  const known = new Set()
  for (const path of files.filter((each) => each.endsWith('.js'))) {
    const all = faultsOf(readFileSync(join(PUBLIC, path), 'utf8'))
    all.forEach((fault) => known.add(`${path} ${fault}`))
    const faults = all.filter((fault) => !KNOWN[path]?.includes(fault))
    if (faults.length) found[path] = faults
  }
  assert.deepEqual(found, {})
  const stale = Object.entries(KNOWN).flatMap(([path, each]) => each.map((text) => `${path} ${text}`)).filter((each) => !known.has(each))
  assert.deepEqual(stale, [], 'exceptions that nothing needs')
})

test('style sheets name the files beside them alone', () => {
  for (const path of files.filter((each) => each.endsWith('.css'))) {
    for (const [, address] of readFileSync(join(PUBLIC, path), 'utf8').matchAll(/(?:url\(|@import )\s*["']?([^"')\s]+)/g)) {
      assert.match(address, /^(\/?[\w./-]+|#[\w-]+|data:image\/svg\+xml[^<]*)$/, path)
    }
  }
})
