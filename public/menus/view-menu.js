import { Cropper } from '../crop/cropper.js'
import { cropService } from '../crop/frame.js'
import { text } from '../text/english.js'
import { pairList, showDialog } from '../viewer/dialog.js'
import { button } from '../viewer/element.js'
import { citation, detailPairs } from '../viewer/words.js'
import { showDownloads } from './download.js'
import { showMenu } from './menu.js'
import { canShare, copy, saveView, share, viewAddress } from './share.js'

export { showFilmstrip } from '../paging/filmstrip.js'
export { styledMenus } from './style.js'

/**
 * What can be done with the picture.
 * @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer
 * @param {{ x: number, y: number }} point where the menu's corner is, CSS pixels of the viewer
 */
export function showViewMenu(viewer, point) {
  const root = viewer.shadowRoot
  const { source, viewport } = viewer
  if (!source || !viewport || viewer.hasAttribute('cropping')) return
  const item = (name, run) => ({ name, run })
  showMenu(root, point, [
    item(text.save, () => saveView(viewer)),
    item(text.copyLink, () => copy(viewer, text.copyLink, viewAddress(viewer))),
    ...canShare() ? [item(text.share, () => share(source.title, viewAddress(viewer)))] : [],
    item(text.download, () => showDownloads(viewer)),
    item(text.cite, () => copy(viewer, text.cite, citation(source, viewport, viewAddress(viewer)))),
    item(text.flip, () => viewer.flip()),
    ...cropService(source) ? [item(text.crop, () => new Cropper(viewer))] : [],
    item(text.details, () => showDetails(viewer)),
    ...viewer.images.length > 1 ? [item(text.filmstrip, () => viewer.run('filmstrip'))] : [],
    item(text.keys, () => showKeys(viewer)),
    // What cannot be taken for anything else stands last.
    ...viewer.actions,
  ], text.more)
}

function showDetails(viewer) {
  const { shadowRoot, source, actions } = viewer
  showDialog(shadowRoot, text.details, [
    pairList(detailPairs(source)), ...actions.map(({ name, run }) => button('wide', name, run))])
}

/** The list of keys. */
export function showKeys(viewer) {
  showDialog(viewer.shadowRoot, text.keys, [pairList(text.keyList)])
}
