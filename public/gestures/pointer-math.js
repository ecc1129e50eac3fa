/** @typedef {{ x: number, y: number }} Point CSS pixels */

/**
 * Returns the midpoint of fingers.
 * @param {Point[]} points
 * @returns {Point}
 */
export function midpoint(points) {
  const sum = points.reduce((a, b) => ({ x: a.x + b.x, y: a.y + b.y }))
  return { x: sum.x / points.length, y: sum.y / points.length }
}

/**
 * Returns the distance between two fingers in CSS pixels.
 * @param {Point[]} points
 */
export function distance([a, b]) { return Math.hypot(a.x - b.x, a.y - b.y) }

/**
 * Returns the angle from the first to the second finger in degrees, clockwise from the x axis.
 * @param {Point[]} points
 */
export function angle([a, b]) { return Math.atan2(b.y - a.y, b.x - a.x) * 180 / Math.PI }
