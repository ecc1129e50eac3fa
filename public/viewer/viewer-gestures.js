import { gestureHandlers } from '../control/gesture-handlers.js'
import { isOverlaid } from '../control/overlays.js'
import { CloseGesture } from '../gestures/close-gesture.js'
import { TrackpadPan } from '../gestures/trackpad-pan.js'
import { viewerTranslator } from '../i18n/viewer.js'
import { withMenus } from '../menus/lazy-menus.js'

function buzz() {
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(8)
}

const WAY = 24 // CSS px of mouse movement that show the controls again
const LIFTED = 160 // ms without a movement, after which fingers have left the trackpad

/**
 * Dispatches `close`: the user wants to close the image.
 * @param {EventTarget} viewer
 * @param {'key' | 'tap' | 'swipe' | 'pinch'} cause
 */
export function close(viewer, cause) { viewer.dispatchEvent(new CustomEvent('close', { detail: { cause } })) }

/**
 * Whether the controls are shown.
 * @param {Element} viewer
 */
function isUIShown(viewer) { return viewer.getAttribute('ui') !== 'hidden' }

/**
 * Returns the gesture handlers of a viewer for `bindPointerEvents`.
 * @param {import('./ziggurat-viewer.js').ZigguratViewer} viewer
 * @param {import('../paging/pager.js').Pager} pager
 */
export function gestures(viewer, pager) {
  const away = new CloseGesture()
  const scrolling = new TrackpadPan()
  let wasOutside, from, grabbed, isOurs, letGo
  // The position at which a mouse click hid the controls.
  let hidden = null
  const showUI = (isShown) => {
    if (isShown) viewer.removeAttribute('ui')
    else viewer.setAttribute('ui', 'hidden')
    viewer.dispatchEvent(new Event('ui-toggle'))
  }
  const menu = (point) => withMenus(viewer, ({ showViewMenu }) => showViewMenu(viewer, point))
  const act = (change) => viewer.change(change, 'user')
  const isCropping = () => viewer.hasAttribute('cropping')
  /** Whether the surrounding page has priority for gestures; never in fullscreen mode. */
  const isGuest = () => viewer.getAttribute('gesture-handling') === 'cooperative' && !document.fullscreenElement
  /** Whether a gesture in that direction turns the page: the image ends there and a page follows. */
  const turns = (x, y) => {
    let canPan = false
    act((camera) => {
      canPan = camera.canPan(x, y)
      return false
    })
    return !canPan && !isCropping() && pager.wayOf(x, y) !== 0
  }
  return {
    ...gestureHandlers(act),
    grab: (points) => {
      clearTimeout(letGo)
      pager.finish()
      from = points[0]
      isOurs = false
      grabbed = null
      act((camera) => {
        grabbed = camera
        viewer.toggleAttribute('held', true)
        away.begin(points, camera.viewport.scale <= camera.limits.minimum * 1.001)
        camera.grab(points)
        if (points.length > 1) pager.pull(0)
      })
    },
    drag: (points) => {
      const [{ x, y, kind }] = points
      // A vertical touch belongs to the page, which the browser recognizes one event later.
      isOurs ||= points.length > 1 || kind !== 'touch' || !isGuest() || Math.abs(x - from.x) > Math.abs(y - from.y)
      if (!isOurs) return
      let isGrabbed = false
      act((camera) => {
        isGrabbed = camera === grabbed
        if (!isGrabbed || !camera.isHeld) return false
        camera.drag(points)
        away.move(points)
        pager.pull(camera.pull)
        if (camera.isOutside && !wasOutside) buzz()
        wasOutside = camera.isOutside
      })
      // Pages also turn without an image, and while another one is loading.
      if (!isGrabbed && points.length === 1) pager.pull(x - from.x)
    },
    release: (velocity, isBroken) => {
      viewer.toggleAttribute('held', false)
      wasOutside = false
      const cause = away.ends(velocity)
      act((camera, now) => camera.release(velocity, now))
      pager.release(velocity.x, isBroken)
      if (cause && !isBroken && !isCropping()) close(viewer, cause)
      if (isBroken && isGuest()) viewer.showMessage(viewerTranslator(viewer)('twoFingers'))
    },
    scroll: (move) => {
      clearTimeout(letGo)
      const what = scrolling.read(move, turns)
      if (what === 'move') act((camera) => camera.scroll(move.x, move.y))
      if (what !== 'pull' && what !== 'turn') return
      if (pager.turning) pager.finish()
      const { along, pull } = scrolling
      const way = along === 'x' ? pager.wayOf(-Math.sign(pull), 0) : pager.wayOf(0, -Math.sign(pull))
      pager.pull(-way * pager.sign * Math.abs(pull))
      if (what === 'turn') pager.release(Math.sign(pager.offset))
      else letGo = setTimeout(() => pager.release(0, true), LIFTED)
    },
    leaves: (event) => {
      if (!isGuest() || event.ctrlKey || event.metaKey) return false
      const t = viewerTranslator(viewer)
      viewer.showMessage(t('scrollToZoom', { key: /Mac/.test(navigator.platform) ? '⌘' : t('controlKey') }))
      return true
    },
    tap: (point) => {
      if (isOverlaid(viewer, point) || isCropping()) return
      if (viewer.getAttribute('tap') === 'close') return close(viewer, 'tap')
      const isShown = !isUIShown(viewer)
      hidden = !isShown && point.kind === 'mouse' ? point : null
      showUI(isShown)
    },
    hover: (point) => {
      if (!hidden || Math.hypot(point.x - hidden.x, point.y - hidden.y) < WAY) return
      hidden = null
      if (!isUIShown(viewer)) showUI(true)
    },
    longPress: (point) => {
      buzz()
      menu(point)
    },
    menu,
  }
}
