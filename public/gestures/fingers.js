/** @typedef {{ x: number, y: number }} Point CSS pixels */

/** The middle between fingers. @param {Point[]} points @returns {Point} */
export function midpoint(points) {
  const sum = points.reduce((a, b) => ({ x: a.x + b.x, y: a.y + b.y }))
  return { x: sum.x / points.length, y: sum.y / points.length }
}

/** How far apart two fingers are, CSS pixels. @param {Point[]} points */
export function distance([a, b]) { return Math.hypot(a.x - b.x, a.y - b.y) }

/** In which direction the second of two fingers lies, degrees. @param {Point[]} points */
export function angle([a, b]) { return Math.atan2(b.y - a.y, b.x - a.x) * 180 / Math.PI }
