/**
 * Returns the gesture handlers for `bindPointerEvents` that move a camera.
 * @param {(change: (camera: import('../viewer/camera.js').Camera, now: number) => void | false) => void} apply applies
 *   a change to the camera, if there is one; `now` is in ms
 */
export function gestureHandlers(apply) {
  return {
    grab: (points) => apply((camera) => camera.grab(points)),
    drag: (points) => apply((camera) => camera.drag(points)),
    release: (velocity) => apply((camera, now) => camera.release(velocity, now)),
    doubleTap: (point) => apply((camera, now) => camera.doubleTap(point, now)),
    quickZoom: (anchor, travel) => apply((camera) => camera.quickZoom(anchor, travel)),
    wheel: (point, factor, isPinch) => apply((camera, now) => camera.wheel(point, factor, now, isPinch)),
    scroll: ({ x, y }) => apply((camera) => camera.scroll(x, y)),
  }
}
