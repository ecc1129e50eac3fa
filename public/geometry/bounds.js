/**
 * Returns the smallest rectangle around points.
 * @param {import('./types.js').Point[]} points
 * @returns {import('./types.js').Rect}
 */
export function bounds(points) {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  const [x, y] = [Math.min(...xs), Math.min(...ys)]
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y }
}
