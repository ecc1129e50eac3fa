import { reading } from '../text/reading.js'

const load = () => import('./view-menu.js').catch(() => null)

/** Loads it while nothing else is to be done. */
export function loadAhead() { load() }

/**
 * Has thumbnails shown or hidden, as the viewer's attribute says by then: not before its first picture is there.
 * @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer
 * @param {import('../paging/pager.js').Pager} pager
 */
export function stripLater(viewer, pager) {
  const show = () => later(viewer, ({ showFilmstrip }) => showFilmstrip(viewer, pager))
  if (viewer.isComplete || !viewer.hasAttribute('filmstrip')) show()
  else viewer.addEventListener('complete', show, { once: true })
}

/**
 * Does something with what the first view does without: menu, dialogs, cropper. It is loaded once somebody asks for it
 * or the first picture is complete.
 * @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer is told where it cannot be had
 * @param {(menus: typeof import('./view-menu.js')) => void} act
 */
export async function later(viewer, act) {
  const menus = await load()
  if (!menus) return viewer.say(reading(viewer)('notLoaded'))
  await menus.styledMenus(viewer.shadowRoot)
  act(menus)
}
