import { boundedText } from './bounded.js'
import { openSource } from './open.js'

/** At most this many lists of pages, each as long as the server makes it. */
const LISTS = 100

/**
 * A book of the API: its pages are an album, open at the cover.
 * @param {{ id: string, cover?: string }} book its description
 * @param {URL} address
 * @param {AbortSignal} [signal]
 */
export async function bookSource({ id, cover }, address, signal) {
  const list = new URL(address.pathname.replace(/\/[^/]*$/, ''), address)
  const pages = []
  let cursor = ''
  for (let count = 0; count < LISTS; count += 1) {
    list.search = new URLSearchParams({ in: id, ...cursor && { cursor } })
    const answer = await fetch(list, { signal })
    if (!answer.ok) throw Object.assign(new Error(`${answer.status} for ${list}`), { status: answer.status })
    const { images, next } = JSON.parse(await boundedText(answer))
    pages.push(...images.map((image) => image.id))
    if (!next) break
    cursor = next
  }
  const items = pages.map((page) => `${list.origin}${list.pathname}/${encodeURIComponent(page)}`)
  if (!items.length) throw new Error('the book has no pages')
  const index = Math.max(pages.indexOf(cover), 0)
  return { ...await openSource(items[index], signal), album: { items, index } }
}
