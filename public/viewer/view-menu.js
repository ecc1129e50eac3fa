import { Cropper, cropService } from '../crop/cropper.js'
import { text } from '../text/english.js'
import { copyText, pairList, showDialog } from './dialog.js'
import { button, make } from './element.js'
import { linkHash } from './link.js'
import { showMenu } from './menu.js'
import { citation, detailPairs } from './words.js'

export function viewAddress(viewer) {
  const url = new URL(location.href)
  if (viewer.viewport) url.hash = linkHash(viewer.viewport)
  return url.href
}

export function showViewMenu(viewer, point) {
  const root = viewer.shadowRoot
  const { source, viewport } = viewer
  if (!source || !viewport || viewer.hasAttribute('cropping')) return
  const copy = async (heading, words) => {
    if (await copyText(root, heading, words)) viewer.say(text.copied)
  }
  const item = (name, run) => ({ name, run })
  showMenu(root, point, [
    item(text.save, () => save(viewer)),
    item(text.copyLink, () => copy(text.copyLink, viewAddress(viewer))),
    item(text.cite, () => copy(text.cite, citation(source, viewport, viewAddress(viewer)))),
    item(text.flip, () => viewer.flip()),
    ...cropService(source) ? [item(text.crop, () => new Cropper(viewer))] : [],
    item(text.details, () => showDetails(viewer)),
    ...viewer.actions,
    item(text.keys, () => showKeys(viewer)),
  ], text.more)
}

function showDetails(viewer) {
  const { shadowRoot, source, actions } = viewer
  showDialog(shadowRoot, text.details, [
    pairList(detailPairs(source)), ...actions.map(({ name, run }) => button('wide', name, run))])
}

export function showKeys(viewer) {
  showDialog(viewer.shadowRoot, text.keys, [pairList(text.keyList)])
}

async function save(viewer) {
  const href = URL.createObjectURL(await viewer.snapshot())
  make('a', { href, download: `${viewer.source?.title || 'view'}.png` }).click()
  setTimeout(() => URL.revokeObjectURL(href), 10_000)
}
