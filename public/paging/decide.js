/** Part of the window's width that a slow pull must reach to turn the page. */
const FAR = 0.3
/** A flick, CSS pixels per ms. */
const FLICK = 0.35

export function pageTurn(pull, speed, width, neighbours) {
  if (pull > 0 && neighbours.left && speed > -FLICK && (pull > width * FAR || speed > FLICK)) return -1
  if (pull < 0 && neighbours.right && speed < FLICK && (-pull > width * FAR || speed < -FLICK)) return 1
  return 0
}
