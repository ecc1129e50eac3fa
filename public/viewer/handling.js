import { steering } from './camera.js'
import { showViewMenu } from './view-menu.js'

function buzz() {
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(8)
}

export function gestures(viewer, pager) {
  let wasOutside = false
  const act = (change) => viewer.change(change)
  return {
    ...steering(act),
    grab: (points) => {
      pager.finish()
      act((camera) => {
        viewer.toggleAttribute('held', true)
        camera.grab(points)
        if (points.length > 1) pager.pull(0)
      })
    },
    drag: (points) => act((camera) => {
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
      showViewMenu(viewer, point)
    },
    menu: (point) => showViewMenu(viewer, point),
  }
}
