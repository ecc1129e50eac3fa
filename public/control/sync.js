/**
 * Synchronizes two viewers: when one moves, the other shows the same part of its image in the middle. Images of different
 * sizes are superimposed.
 * @param {ZigguratViewer} one the viewer that the other one follows first
 * @param {ZigguratViewer} other
 * @returns {() => void} a function that ends the synchronization
 */
export function syncViewers(one, other) {
  const abort = new AbortController()
  let isFollowing = false
  const follow = (leader, follower) => {
    if (isFollowing || !leader.viewport || !follower.viewport) return
    isFollowing = true
    try {
      follower.follow(counterpart(leader.viewport, leader.source.pyramid.imageSize, follower.source.pyramid.imageSize))
    } finally {
      isFollowing = false
    }
  }
  for (const [leader, follower] of [[one, other], [other, one]]) {
    leader.addEventListener('viewport', ({ detail: { cause } }) => {
      // A viewer that is only resized keeps its view. Otherwise both would react to each other forever.
      if (cause !== 'resize') follow(leader, follower)
    }, { signal: abort.signal })
  }
  follow(one, other)
  return () => abort.abort()
}

/**
 * Returns the part of another image that corresponds to a viewport of one image.
 * @param {Viewport} viewport
 * @param {{ width: number, height: number }} image the size of the image, in pixels
 * @param {{ width: number, height: number }} other the size of the other image, in pixels
 * @returns {{ scale: number, center: { x: number, y: number }, rotation: Rotation }} the center is in pixels of the other
 *   image
 */
export function counterpart({ scale, imageCenter: { x, y }, rotation }, image, other) {
  return {
    scale: scale * image.width / other.width,
    center: { x: x * other.width / image.width, y: y * other.height / image.height }, rotation,
  }
}
