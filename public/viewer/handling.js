import { PutAway } from '../gestures/put-away.js'
import { later } from '../menus/later.js'
import { isOverlaid } from '../steering/overlays.js'
import { steering } from './camera.js'

function buzz() {
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(8)
}

const WAY = 24 // CSS px that a mouse goes before the chrome comes back

export function gestures(viewer, pager) {
  let wasOutside, from
  // Where a mouse hid the chrome.
  let hidden = null
  const away = new PutAway()
  const showChrome = (isShown) => {
    viewer.toggleAttribute('quiet', !isShown)
    viewer.dispatchEvent(new Event('chrome'))
  }
  const menu = (point) => later(viewer, ({ showViewMenu }) => showViewMenu(viewer, point))
  const act = (change) => viewer.change(change, 'user')
  return {
    ...steering(act),
    grab: (points) => {
      pager.finish()
      // Pages turn without a picture, too.
      from = viewer.viewport ? null : points[0].x
      act((camera) => {
        viewer.toggleAttribute('held', true)
        away.begin(points, camera.viewport.scale <= camera.limits.minimum * 1.001)
        camera.grab(points)
        if (points.length > 1) pager.pull(0)
      })
    },
    drag: (points) => from !== null ? pager.pull(points[0].x - from) : act((camera) => {
      camera.drag(points)
      away.move(points)
      pager.pull(camera.pull)
      if (camera.isOutside && !wasOutside) buzz()
      wasOutside = camera.isOutside
    }),
    release: (velocity, isBroken) => {
      viewer.toggleAttribute('held', false)
      wasOutside = false
      const isAway = away.ends(velocity) && !isBroken && !viewer.hasAttribute('cropping')
      act((camera, now) => camera.release(velocity, now))
      pager.release(velocity.x, isBroken)
      if (isAway) viewer.dispatchEvent(new Event('leave'))
    },
    tap: (point) => {
      if (isOverlaid(viewer, point) || viewer.hasAttribute('cropping')) return
      if (viewer.getAttribute('tap') === 'leave') return viewer.dispatchEvent(new Event('leave'))
      const isShown = viewer.hasAttribute('quiet')
      hidden = !isShown && point.kind === 'mouse' ? point : null
      showChrome(isShown)
    },
    hover: (point) => {
      if (!hidden || Math.hypot(point.x - hidden.x, point.y - hidden.y) < WAY) return
      hidden = null
      if (viewer.hasAttribute('quiet')) showChrome(true)
    },
    longPress: (point) => {
      buzz()
      menu(point)
    },
    menu,
  }
}
