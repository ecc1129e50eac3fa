import { reading } from '../text/reading.js'

/** What the first view does without: menu, dialogs, cropper, what writes a view as a picture. */
export function loadMenus() { return import('./view-menu.js') }

/** Loads it while nothing else is to be done. */
export function preloadMenus() { loadMenus().catch(() => {}) }

/**
 * Has thumbnails shown or hidden, as the viewer's attribute says by then: not before its first picture is there.
 * @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer
 * @param {import('../paging/pager.js').Pager} pager
 */
export function showFilmstripLazily(viewer, pager) {
  const show = () => withMenus(viewer, ({ showFilmstrip }) => showFilmstrip(viewer, pager))
  if (viewer.isComplete || !viewer.hasAttribute('filmstrip')) show()
  else viewer.addEventListener('complete', show, { once: true })
}

/**
 * Does something with what the first view does without. It is loaded once somebody asks for it or the first picture is complete.
 * @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer is told where it cannot be had
 * @param {(menus: typeof import('./view-menu.js')) => void} act
 */
export async function withMenus(viewer, act) {
  const menus = await loadMenus().catch(() => null)
  if (!menus) return viewer.say(reading(viewer)('notLoaded'))
  await menus.styledMenus(viewer.shadowRoot)
  act(menus)
}
