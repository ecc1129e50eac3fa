import { gestureHandlers } from '../control/gesture-handlers.js'
import { isOverlaid } from '../control/overlays.js'
import { CloseGesture } from '../gestures/close-gesture.js'
import { TrackpadPan } from '../gestures/trackpad-pan.js'
import { viewerTranslator } from '../i18n/viewer.js'
import { withMenus } from '../menus/lazy-menus.js'

function vibrate() {
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(8)
}

const SHOW_DISTANCE = 24 // CSS px of mouse movement that show the controls again
const LIFT_DELAY = 160 // ms without a movement, after which fingers have left the trackpad

/**
 * Dispatches `close`: the user wants to close the image.
 * @param {EventTarget} viewer
 * @param {'key' | 'tap' | 'swipe' | 'pinch'} cause
 */
export function requestClose(viewer, cause) { viewer.dispatchEvent(new CustomEvent('close', { detail: { cause } })) }

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
export function viewerGestures(viewer, pager) {
  const closeGesture = new CloseGesture()
  const trackpadPan = new TrackpadPan()
  let wasOutside, from, grabbed, isOwnGesture, releaseTimer
  // The position at which a mouse click hid the controls.
  let hiddenAt = null
  const showUI = (isShown) => {
    if (isShown) viewer.removeAttribute('ui')
    else viewer.setAttribute('ui', 'hidden')
    viewer.dispatchEvent(new Event('ui-toggle'))
  }
  const menu = (point) => withMenus(viewer, ({ showViewMenu }) => showViewMenu(viewer, point))
  const apply = (change) => viewer.change(change, 'user')
  const isCropping = () => viewer.hasAttribute('cropping')
  /** Whether the surrounding page has priority for gestures; never in fullscreen mode. */
  const isCooperative = () => viewer.getAttribute('gesture-handling') === 'cooperative' && !document.fullscreenElement
  /** Whether a gesture in that direction turns the page: the image ends there and a page follows. */
  const turnsPage = (x, y) => {
    let canPan = false
    apply((camera) => {
      canPan = camera.canPan(x, y)
      return false
    })
    return !canPan && !isCropping() && pager.stepsToward(x, y) !== 0
  }
  return {
    ...gestureHandlers(apply),
    grab: (points) => {
      clearTimeout(releaseTimer)
      pager.finish()
      from = points[0]
      isOwnGesture = false
      grabbed = null
      apply((camera) => {
        grabbed = camera
        viewer.toggleAttribute('held', true)
        closeGesture.begin(points, camera.viewport.scale <= camera.limits.minimum * 1.001)
        camera.grab(points)
        if (points.length > 1) pager.pull(0)
      })
    },
    drag: (points) => {
      const [{ x, y, kind }] = points
      // A vertical touch belongs to the page, which the browser recognizes one event later.
      isOwnGesture ||= points.length > 1 || kind !== 'touch' || !isCooperative() || Math.abs(x - from.x) > Math.abs(y - from.y)
      if (!isOwnGesture) return
      let isGrabbed = false
      apply((camera) => {
        isGrabbed = camera === grabbed
        if (!isGrabbed || !camera.isHeld) return false
        camera.drag(points)
        closeGesture.move(points)
        pager.pull(camera.pull)
        if (camera.isOutside && !wasOutside) vibrate()
        wasOutside = camera.isOutside
      })
      // Pages also turn without an image, and while another one is loading.
      if (!isGrabbed && points.length === 1) pager.pull(x - from.x)
    },
    release: (velocity, isCancelled) => {
      viewer.toggleAttribute('held', false)
      wasOutside = false
      const cause = closeGesture.end(velocity)
      apply((camera, now) => camera.release(velocity, now))
      pager.release(velocity.x, isCancelled)
      if (cause && !isCancelled && !isCropping()) requestClose(viewer, cause)
      if (isCancelled && isCooperative()) viewer.showMessage(viewerTranslator(viewer)('twoFingers'))
    },
    scroll: (move) => {
      clearTimeout(releaseTimer)
      const action = trackpadPan.read(move, turnsPage)
      if (action === 'move') apply((camera) => camera.scroll(move.x, move.y))
      if (action !== 'pull' && action !== 'turn') return
      if (pager.animation) pager.finish()
      const { axis, pull } = trackpadPan
      const steps = axis === 'x' ? pager.stepsToward(-Math.sign(pull), 0) : pager.stepsToward(0, -Math.sign(pull))
      pager.pull(-steps * pager.sign * Math.abs(pull))
      if (action === 'turn') pager.release(Math.sign(pager.offset))
      else releaseTimer = setTimeout(() => pager.release(0, true), LIFT_DELAY)
    },
    ignoresWheel: (event) => {
      if (!isCooperative() || event.ctrlKey || event.metaKey) return false
      const t = viewerTranslator(viewer)
      viewer.showMessage(t('scrollToZoom', { key: /Mac/.test(navigator.platform) ? '⌘' : t('controlKey') }))
      return true
    },
    tap: (point) => {
      if (isOverlaid(viewer, point) || isCropping()) return
      if (viewer.getAttribute('tap') === 'close') return requestClose(viewer, 'tap')
      const isShown = !isUIShown(viewer)
      hiddenAt = !isShown && point.kind === 'mouse' ? point : null
      showUI(isShown)
    },
    hover: (point) => {
      if (!hiddenAt || Math.hypot(point.x - hiddenAt.x, point.y - hiddenAt.y) < SHOW_DISTANCE) return
      hiddenAt = null
      if (!isUIShown(viewer)) showUI(true)
    },
    longPress: (point) => {
      vibrate()
      menu(point)
    },
    menu,
  }
}
