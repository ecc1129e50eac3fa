import { showViewMenu } from './view-menu.js'

function buzz() {
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(8)
}

export function gestures(viewer, stage, pager) {
  let wasOutside = false
  const act = (change) => {
    if (!stage.camera) return
    change(stage.camera, performance.now())
    stage.disturb()
  }
  const handler = {
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
    release: (velocity) => act((camera, now) => {
      viewer.toggleAttribute('held', false)
      wasOutside = false
      camera.release(velocity, now)
      pager.release(velocity.x)
    }),
    tap: () => {
      viewer.toggleAttribute('quiet')
      viewer.dispatchEvent(new Event('chrome'))
    },
    doubleTap: (point) => act((camera, now) => camera.doubleTap(point, now)),
    longPress: (point) => {
      buzz()
      showViewMenu(viewer, point)
    },
    menu: (point) => showViewMenu(viewer, point),
    quickZoom: (anchor, travel) => act((camera) => camera.quickZoom(anchor, travel)),
    wheel: (point, factor) => act((camera, now) => camera.wheel(point, factor, now)),
  }
  return handler
}
