import { text } from '../text/english.js'

const load = () => import('./view-menu.js').catch(() => null)

/** Loads it while nothing else is to be done. */
export function loadAhead() { load() }

/**
 * Does something with what the first view does without: menu, dialogs, cropper. It is loaded once somebody asks for it
 * or the first picture is complete.
 * @param {import('../viewer/ziggurat-viewer.js').ZigguratViewer} viewer is told where it cannot be had
 * @param {(menus: typeof import('./view-menu.js')) => void} act
 */
export async function later(viewer, act) {
  const menus = await load()
  if (menus) act(menus)
  else viewer.say(text.notLoaded)
}
