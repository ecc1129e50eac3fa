import { matchLocale } from '../../../public/i18n/match-locale.js'
import { formatMessage, formatNumber } from '../../../public/i18n/message.js'
import { createTranslator, localeOf } from '../../../public/i18n/translator.js'
import { viewerTranslator } from '../../../public/i18n/viewer.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'

test('English numbers are as Intl has them, which takes too long to start', () => {
  const few = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })
  const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
  for (const value of [0, 1, 7, 12, 99.5, 100, 123.4, 999, 999.4, 0.5, 0.0123, 1000, 1234, 54_321, 1_234_567, 12_345_678.4]) {
    assert.equal(formatNumber(value, 'en'), (value < 1000 ? few : whole).format(value), String(value))
  }
})

test('numbers are written as each language has them', () => {
  assert.deepEqual(['en', 'de', 'fr', 'zh'].map((language) => formatNumber(1_234_567, language)), ['1,234,567', '1.234.567', '1\u202f234\u202f567', '1,234,567'])
  assert.deepEqual(['en', 'de', 'fr', 'zh'].map((language) => formatNumber(12.5, language)), ['12.5', '12,5', '12,5', '12.5'])
})

test('values stand in their places, in the form of their count', () => {
  const message = { one: '{count} picture of {name}', other: '{count} pictures of {name}' }
  assert.equal(formatMessage(message, { count: 1, name: 'a' }, 'en'), '1 picture of a')
  assert.equal(formatMessage(message, { count: 1200, name: '{count}' }, 'en'), '1,200 pictures of {count}')
  assert.equal(formatMessage({ one: 'une', other: 'plusieurs' }, { count: 0 }, 'fr'), 'une', 'nothing is one in French')
  assert.equal(formatMessage({ other: '{count} 张' }, { count: 1 }, 'zh'), '1 张')
})

test('the first of the reader\'s languages that there are words in counts, whatever its country', () => {
  for (const [tags, tag] of [
    [['de-AT', 'en'], 'de-AT'], [['pt-BR', 'fr-CA', 'en'], 'fr-CA'], [['en-GB', 'de'], 'en-GB'], [['zh-Hans-CN'], 'zh-Hans-CN'],
    [['zh-TW', 'zh', 'en-US'], 'zh'], [['zh-Hant-HK', 'en'], 'en'], [['pt', 'ja'], 'en'], [[], 'en'], [['constructor'], 'en'], [['DE_ch'], 'DE_ch'],
  ]) assert.equal(matchLocale(tags), tag)
})

test('an element speaks the language of what it is in, through shadow roots, else that of the reader', () => {
  const page = { lang: 'pt', parentNode: { parentNode: null } }
  const host = { lang: 'fr', parentNode: page }
  const inside = { lang: '', parentNode: { host, parentNode: null } }
  assert.equal(localeOf(inside), 'fr')
  assert.equal(localeOf(page), 'en')
  assert.equal(localeOf({ lang: 'de-CH', parentNode: host }), 'de')
})

test('where a language has not come, English is spoken', () => {
  const t = createTranslator('viewer', { greeting: 'Hello, {name}', list: ['a'] })({ lang: 'de', parentNode: null })
  assert.equal(t('greeting', { name: 1000 }), 'Hello, 1,000')
  assert.deepEqual(t('list'), ['a'])
  assert.equal(viewerTranslator()('scale', { percent: 12 }), '12%')
})
