import { Cropper } from '../crop/cropper.js'
import { cropService } from '../crop/crop-rect.js'
import { menusTranslator } from '../i18n/menus.js'
import { viewerTranslator } from '../i18n/viewer.js'
import { Measurer } from '../measure/measurer.js'
import { pairList, showDialog } from '../viewer/dialog.js'
import { button, createElement } from '../viewer/dom.js'
import { citation, detailPairs } from './details.js'
import { showDownloads } from './download.js'
import { showMenu } from './menu.js'
import { canShare, copy, saveView, share, viewAddress } from './share.js'

export { snapshot } from '../drawing/snapshot.js'
export { showFilmstrip } from '../paging/filmstrip.js'
export { loadMenuStyles } from './style.js'

/**
 * Shows the menu of the viewer.
 * @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer
 * @param {{ x: number, y: number, opener?: HTMLElement }} point the position for `showMenu`, in CSS pixels of the viewer
 */
export function showViewMenu(viewer, point) {
  const root = viewer.shadowRoot
  const { source, viewport } = viewer
  if (!source || !viewport || viewer.hasAttribute('cropping')) return
  const t = menusTranslator(viewer)
  const item = (name, run) => ({ name: t(name), run })
  showMenu(root, point, [
    item('save', () => saveView(viewer)),
    item('copyLink', () => copy(viewer, t('copyLink'), viewAddress(viewer), t('linkCopied'))),
    ...canShare() ? [item('share', () => share(source.title, viewAddress(viewer)))] : [],
    item('download', () => showDownloads(viewer)),
    item('cite', () => copy(viewer, t('cite'), citation(source, viewport, viewAddress(viewer), t), t('citationCopied'))),
    item('flip', () => viewer.flip()),
    ...cropService(source) ? [item('crop', () => new Cropper(viewer))] : [],
    ...source.details.micronsPerPixel > 0 ? [item('measure', () => new Measurer(viewer))] : [],
    ...source.layers?.length > 1 ? [item('layers', () => showLayers(viewer))] : [],
    item('details', () => showDetails(viewer)),
    ...viewer.images.length > 1 ? [item('filmstrip', () => viewer.run('filmstrip'))] : [],
    item('keys', () => showKeys(viewer)),
    // Actions of the page, such as deletion, come last.
    ...viewer.actions,
  ], viewerTranslator(viewer)('more'))
}

/** Shows the list of layers, with the current one selected. */
function showLayers(viewer) {
  const { layers, layer } = viewer.source
  const list = createElement('div', { className: 'lines' }, ...layers.map(({ label }, index) => {
    const choose = async () => {
      dialog.close()
      await viewer.showLayer(index)
    }
    return createElement('button', { type: 'button', className: 'line', textContent: label, onclick: choose, ariaPressed: String(index === layer) })
  }))
  const dialog = showDialog(viewer.shadowRoot, menusTranslator(viewer)('layers'), [list])
  list.children[layer]?.focus({ preventScroll: true })
}

function showDetails(viewer) {
  const { shadowRoot, source, actions } = viewer
  const t = menusTranslator(viewer)
  showDialog(shadowRoot, t('details'), [
    pairList(detailPairs(source, t, viewer)), ...actions.map(({ name, run }) => button('wide', name, run))])
}

/** Shows the list of keys. */
export function showKeys(viewer) {
  const t = menusTranslator(viewer)
  showDialog(viewer.shadowRoot, t('keys'), [pairList(t('keyList'))])
}
