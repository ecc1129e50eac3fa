/**
 * Keeps two viewers in step: what moves one moves the other, so that the same part of both images stays in the middle. Images
 * of other sizes are laid over each other.
 * @param {ZigguratViewer} one the viewer that the other follows first
 * @param {ZigguratViewer} other
 * @returns {() => void} ends it
 */
export function syncViewers(one, other) {
  const ending = new AbortController()
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
      // Who gets another size alone keeps its own view: both would answer the other's for good.
      if (cause !== 'resize') follow(leader, follower)
    }, { signal: ending.signal })
  }
  follow(one, other)
  return () => ending.abort()
}

/**
 * The part of another image that a viewport of one shows.
 * @param {Viewport} viewport
 * @param {{ width: number, height: number }} image pixels
 * @param {{ width: number, height: number }} other pixels
 * @returns {{ scale: number, center: { x: number, y: number }, rotation: Rotation }} the center in the other's pixels
 */
export function counterpart({ scale, imageCenter: { x, y }, rotation }, image, other) {
  return {
    scale: scale * image.width / other.width,
    center: { x: x * other.width / image.width, y: y * other.height / image.height }, rotation,
  }
}
