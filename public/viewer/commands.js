import { withMenus } from '../menus/lazy-menus.js'
import { requestClose } from './viewer-gestures.js'
import { nextZoomLevel } from './zoom-levels.js'

const STEP = { pan: 96, zoom: 1.5 }

/**
 * Returns the actions of keys and buttons, by name.
 * @param {import('./ziggurat-viewer.js').ZigguratViewer} viewer
 * @param {import('../paging/pager.js').Pager} pager
 * @returns {Record<string, () => void>}
 */
export function commands(viewer, pager) {
  // Pans where the image continues in that direction, otherwise turns to the page there.
  const arrow = (x, y) => () => {
    const steps = pager.stepsToward(x, y)
    let turnsPage = true
    viewer.change((camera, now) => {
      turnsPage = steps !== 0 && !camera.hasRoom(x)
      if (turnsPage) return false
      camera.panBy(x * STEP.pan, y * STEP.pan, now)
    })
    if (turnsPage) viewer.goBy(steps)
  }
  return {
    ArrowLeft: arrow(-1, 0), ArrowRight: arrow(1, 0), ArrowUp: arrow(0, -1), ArrowDown: arrow(0, 1),
    pageLeft: () => viewer.goBy(pager.stepsToward(-1, 0)),
    pageRight: () => viewer.goBy(pager.stepsToward(1, 0)),
    zoomIn: () => viewer.zoomBy(STEP.zoom),
    zoomOut: () => viewer.zoomBy(1 / STEP.zoom),
    whole: () => viewer.fit(),
    original: () => viewer.fit('none'),
    fit: () => viewer.change((camera, now) => camera.fit(nextZoomLevel(camera), now)),
    rotate: () => viewer.rotate(90),
    flip: () => viewer.flip(),
    PageUp: () => viewer.goBy(-1),
    PageDown: () => viewer.goBy(1),
    play: () => viewer.animation?.toggle(),
    step: () => viewer.animation?.step(1),
    stepBack: () => viewer.animation?.step(-1),
    fullscreen: () => {
      if (document.fullscreenElement) document.exitFullscreen()
      else (viewer.screen ?? viewer).requestFullscreen().catch(() => {})
    },
    close: () => document.fullscreenElement ? document.exitFullscreen() : requestClose(viewer, 'key'),
    filmstrip: () => {
      viewer.toggleAttribute('filmstrip')
      viewer.dispatchEvent(new Event('ui-toggle'))
    },
    help: () => withMenus(viewer, ({ showKeys }) => showKeys(viewer)),
    more: () => {
      const button = viewer.shadowRoot.querySelector('.more')
      const [box, own] = [button.getBoundingClientRect(), viewer.getBoundingClientRect()]
      const point = { x: box.left - own.left, y: box.top - own.top, opener: button }
      withMenus(viewer, ({ showViewMenu }) => showViewMenu(viewer, point))
    },
  }
}
