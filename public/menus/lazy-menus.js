import { viewerTranslator } from '../i18n/viewer.js'

/** Loads the code that the first view does not need: menus, dialogs, the cropper and snapshots. */
export function loadMenus() { return import('./view-menu.js') }

/** Loads it in advance; to be called when the browser is idle. */
export function preloadMenus() { loadMenus().catch(() => {}) }

/**
 * Shows or hides the filmstrip according to the viewer's attribute, but not before the first image is complete.
 * @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer
 * @param {import('../paging/pager.js').Pager} pager
 */
export function showFilmstripLazily(viewer, pager) {
  const show = () => withMenus(viewer, ({ showFilmstrip }) => showFilmstrip(viewer, pager))
  if (viewer.isComplete || !viewer.hasAttribute('filmstrip')) show()
  else viewer.addEventListener('complete', show, { once: true })
}

/**
 * Runs a function with the menus' code. It is loaded on first use, or when the first image is complete.
 * @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer shows a message if loading fails
 * @param {(menus: typeof import('./view-menu.js')) => void} callback
 */
export async function withMenus(viewer, callback) {
  const menus = await loadMenus().catch(() => null)
  if (!menus) return viewer.showMessage(viewerTranslator(viewer)('notLoaded'))
  await menus.loadMenuStyles(viewer.shadowRoot)
  callback(menus)
}
