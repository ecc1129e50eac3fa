import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSource } from '../../../public/sources/open.js'
import { SourceError } from '../../../public/sources/source-error.js'
import { webURL, withPath } from '../../../public/web-url.js'
import { DOCUMENTS, HOST, addressesOf, changed, makePage, places, serve } from '../sources/documents.mjs'

makePage()

/** Addresses that would run a script, read a file, or show another host than they lead to. */
const ATTACKS = [
  'javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', '\u0000\u0001javascript:alert(1)', 'java\tscript:alert(1)', 'java\nscript:alert(1)',
  'java\r\nscript:alert(1)', 'javascript\t:alert(1)', 'javascript://images.example/%0aalert(1)', 'javascript:/*/full/max*/alert(1)//info.json',
  'vbscript:msgbox(1)', 'data:text/html,<script>alert(1)</script>', 'DATA:text/html;base64,PHNjcmlwdD4=', 'data:image/svg+xml,<svg onload="alert(1)"/>',
  'file:///etc/passwd', 'blob:https://page.example/1234', 'filesystem:https://page.example/temporary/a', 'about:blank', 'ws://images.example/', 'ftp://images.example/a',
  'view-source:https://page.example/', 'intent://page#Intent;scheme=http;end', 'chrome://settings', 'mailto:a@example.org', 'https://user:secret@images.example/a',
  'https://page.example@other.example/a', 'http:\\\\other.example\\a', '\\\\other.example\\a', '//other.example/a', '/\t/other.example/a', 'https:other', 'javascript&colon;alert(1)',
  '%6aavascript:alert(1)', '\u00a0javascript:alert(1)', 'javascript\u200b:alert(1)', 'ｊavascript:alert(1)', '../../../a', '?javascript:alert(1)', '#javascript:alert(1)', '',
]

function assertSafe(address, about) {
  // As the browser will read it, from a page whose scheme is not one that it may have.
  const { protocol, username, password, host } = new URL(address)
  assert.ok(['http:', 'https:'].includes(protocol), `${about}: ${address}`)
  assert.deepEqual([username, password], ['', ''], `${about}: ${address}`)
  assert.ok(host, about)
}

test('only addresses with http or https pass, however they are spelled', () => {
  for (const attack of ATTACKS) {
    // Browsers read addresses as the URL Standard has it, and so does node.
    const isSafe = ['http:', 'https:'].includes(new URL(attack, 'https://page.example/album/').protocol)
    if (isSafe) assertSafe(webURL(attack).href, attack)
    else assert.throws(() => webURL(attack), (error) => error instanceof SourceError && error.reason === 'unsafeAddress', attack)
  }
  for (const wrong of [undefined, null, 1, {}, ['javascript:alert(1)'], { href: 'javascript:alert(1)' }, 'http://[bad', `https://e.org/${'a'.repeat(1 << 16)}`]) {
    assert.throws(() => webURL(wrong), SourceError)
  }
  assert.equal(webURL('https://user:secret@images.example/a').href, 'https://images.example/a')
  assert.equal(webURL(new URL('https://images.example/a')).href, 'https://images.example/a')
  assert.throws(() => webURL(new URL('javascript:alert(1)')), SourceError)
})

test('another path of a server stays on that server', () => {
  const url = new URL('https://images.example//other.example/a.dzi?a=1#b')
  for (const path of ['//other.example/a_files', '\\\\other.example\\a', '/../../a', '/a?b#c', '']) {
    assert.equal(withPath(url, path).host, 'images.example', path)
  }
  assert.equal(withPath(url, '/b', '?c').href, 'https://images.example/b?c')
})

test('tiles of a descriptor whose path begins with two slashes come from its own host', async () => {
  const asked = serve('Deep Zoom', DOCUMENTS['Deep Zoom'].document)
  const { fetch } = globalThis
  globalThis.fetch = (address, options) => fetch(String(address).replace('//other.example', ''), options)
  const source = await openSource(`${HOST}//other.example/dzi/harbour.dzi`)
  assert.equal(new URL(source.tileURL(0, 0, 0)).host, 'images.example')
  assert.ok(asked.length)
})

for (const [name, { at, opens = at, document }] of Object.entries(DOCUMENTS)) {
  test(`${name}: as it is, it opens`, async () => {
    const asked = serve(name, document)
    const getView = name === 'API description of a view' ? async () => 'width=900&height=600' : undefined
    const source = await openSource(HOST + opens, undefined, getView)
    const found = await addressesOf(source)
    for (const address of [...asked, ...found]) assertSafe(address, name)
    assert.ok(asked.length && (found.length || source.tileBlob))
  })

  test(`${name}: whatever address stands in whichever place, none but http and https is used`, async () => {
    const getView = name === 'API description of a view' ? async () => 'width=900&height=600' : undefined
    let refused = 0
    for (const place of places(document)) {
      for (const attack of ATTACKS) {
        const about = `${name}, ${place.join('.')}: ${JSON.stringify(attack)}`
        const asked = serve(name, changed(document, place, attack))
        let found = []
        try {
          found = await addressesOf(await openSource(HOST + opens, undefined, getView))
        } catch (error) {
          if (!(error instanceof SourceError)) throw new Error(about, { cause: error })
          refused += 1
        }
        for (const address of [...asked, ...found]) {
          if (address instanceof SourceError) refused += 1
          else if (address instanceof Error) throw new Error(about, { cause: address })
          else assertSafe(address, about)
        }
      }
    }
    // The others hold no addresses.
    if (/URL|info|manifest|state|description of a view|^API description$/.test(name)) assert.ok(refused > 0, name)
  })
}

test('what is opened is an address like any other: an attribute, a content state in a link', async () => {
  serve('manifest 3', DOCUMENTS['manifest 3'].document)
  const encoded = (state) => Buffer.from(encodeURIComponent(typeof state === 'string' ? state : JSON.stringify(state))).toString('base64url')
  for (const attack of ATTACKS.filter((each) => !['http:', 'https:'].includes(new URL(each, 'https://page.example/').protocol))) {
    for (const what of [attack, encoded({ id: attack, type: 'Manifest' }), `?iiif-content=${encoded({ id: attack, type: 'Manifest' })}`, `/?iiif-content=${encoded(attack)}`]) {
      await assert.rejects(openSource(what), SourceError, what)
    }
  }
  const source = await openSource(`?iiif-content=${encoded({ id: `${HOST}/manifest3`, type: 'Manifest' })}`)
  assert.equal(source.album.items.length, 3)
})
