/**
 * Returns the gesture handlers for `bindPointerEvents` that move a camera.
 * @param {(change: (camera: import('../viewer/camera.js').Camera, now: number) => void | false) => void} act applies a
 *   change to the camera, if there is one; `now` is in ms
 */
export function gestureHandlers(act) {
  return {
    grab: (points) => act((camera) => camera.grab(points)),
    drag: (points) => act((camera) => camera.drag(points)),
    release: (velocity) => act((camera, now) => camera.release(velocity, now)),
    doubleTap: (point) => act((camera, now) => camera.doubleTap(point, now)),
    quickZoom: (anchor, travel) => act((camera) => camera.quickZoom(anchor, travel)),
    wheel: (point, factor, isPinch) => act((camera, now) => camera.wheel(point, factor, now, isPinch)),
    scroll: ({ x, y }) => act((camera) => camera.scroll(x, y)),
  }
}
