import { later } from '../menus/later.js'
import { steering } from './camera.js'

function buzz() {
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(8)
}

export function gestures(viewer, pager) {
  let wasOutside, from
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
        camera.grab(points)
        if (points.length > 1) pager.pull(0)
      })
    },
    drag: (points) => from !== null ? pager.pull(points[0].x - from) : act((camera) => {
      camera.drag(points)
      pager.pull(camera.pull)
      if (camera.isOutside && !wasOutside) buzz()
      wasOutside = camera.isOutside
    }),
    release: (velocity, isBroken) => {
      viewer.toggleAttribute('held', false)
      wasOutside = false
      act((camera, now) => camera.release(velocity, now))
      pager.release(velocity.x, isBroken)
    },
    tap: () => {
      if (viewer.hasAttribute('cropping')) return
      viewer.toggleAttribute('quiet')
      viewer.dispatchEvent(new Event('chrome'))
    },
    longPress: (point) => {
      buzz()
      menu(point)
    },
    menu,
  }
}
