import { deepZoomSource } from './deep-zoom.js'
import { firstView } from './first-view.js'
import { tryFormats } from './formats.js'
import { iiifSource } from './iiif.js'
import { zigguratSource } from './ziggurat.js'

export async function openSource(url, signal, look) {
  const address = new URL(url, document.baseURI)
  if (look && /\/api\/images\/[^/]+$/.test(address.pathname)) {
    const source = await firstView(address, await look(), signal)
    if (source) return source
  }
  const answer = await fetch(address, { signal })
  if (!answer.ok) throw Object.assign(new Error(answer.status), { status: answer.status })
  const text = await answer.text()
  if (text.trimStart().startsWith('<')) return deepZoomSource(text, address)
  const description = JSON.parse(text)
  // Anybody's server may call anything so.
  if (!Array.isArray(description.preferredFormats)) delete description.preferredFormats
  await tryFormats(description.preferredFormats ?? [description.format])
  const isIIIF = description.protocol === 'http://iiif.io/api/image'
  return isIIIF ? iiifSource(description) : zigguratSource(description, address)
}
