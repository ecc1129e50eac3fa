const PAUSE = 200 // ms without an event, after which another hand may be at another device
const MOUSE = 30 // CSS px that a mouse turns at once and fingers hardly begin with
const PINCH = 50 // CSS px that no pinch goes at once
const TICK = 120 // of `wheelDelta`, which a notch of a mouse's wheel turns it by
const NOTCH = 53 // CSS px that a notch counts at least
const SLOW = 30 // CSS px that any turn of Safari's mice counts at least

/**
 * An event of a wheel, as browsers tell it. Firefox tells lines to whom reads `deltaMode` first, and pixels to others.
 * @typedef {object} WheelMove
 * @property {number} deltaX in the unit of `deltaMode`
 * @property {number} deltaY
 * @property {number} deltaMode 0: CSS pixels, 1: lines, 2: pages
 * @property {number} [wheelDeltaX] the same the other way round, by the device's own steps; not every browser has it
 * @property {number} [wheelDeltaY]
 * @property {boolean} [ctrlKey] a pinch on a trackpad comes with it, too
 * @property {boolean} [metaKey]
 */

/**
 * Tells a mouse's wheel from two fingers on a trackpad, which browsers do not.
 *
 * It goes by what the events are like, and keeps to it as long as they come without a pause: fingers that were told from
 * their first, small moves are not taken for a mouse when they are thrown. A wheel that turns freely, in steps finer than
 * notches, is like a trackpad.
 */
export class WheelClassifier {
  /** @type {'mouse' | 'trackpad'} what the last event came from */
  kind = 'mouse'
  #time = -Infinity

  /**
   * What an event asks for: to zoom at the pointer, or to move what is seen.
   * @param {WheelMove} move
   * @param {number} time ms
   * @param {number} [ratio] device pixels a CSS pixel, by which Chromium divides steps on some systems
   * @returns {'zoom' | 'move'}
   */
  read(move, time, ratio = 1) {
    if (move.ctrlKey || move.metaKey) return 'zoom'
    const goesOn = time - this.#time < PAUSE
    this.#time = time
    // Fingers seldom begin with just what a notch is.
    const told = device(move, ratio) ?? (goesOn ? null : 'mouse')
    const isThrown = goesOn && this.kind === 'trackpad' && move.deltaMode === 0
    if (told && !isThrown) this.kind = told
    return this.kind === 'mouse' ? 'zoom' : 'move'
  }
}

/**
 * What an event alone tells of its device; null where it may be either.
 * @param {WheelMove} move
 * @param {number} ratio
 */
function device({ deltaMode, deltaX, deltaY, wheelDeltaX = 0, wheelDeltaY = 0 }, ratio) {
  if (deltaMode !== 0) return 'mouse'
  if (deltaX !== 0 && deltaY !== 0) return 'trackpad'
  const delta = Math.abs(deltaY || deltaX)
  const steps = Math.abs(deltaY !== 0 ? wheelDeltaY : wheelDeltaX)
  // Made by a program, or by a browser that tells no steps.
  if (steps === 0 || isAbout(steps, delta)) return delta >= MOUSE ? 'mouse' : 'trackpad'
  // A Mac's pixels: whole ones are of fingers, but for those that could be a notch.
  if (isAbout(steps, 3 * delta)) return !Number.isInteger(delta) ? 'mouse' : steps % TICK === 0 ? null : 'trackpad'
  return isNotches(steps, 1) || isNotches(steps, ratio) ? 'mouse' : 'trackpad'
}

/** Whether steps, which are whole numbers, are of one or more notches. @param {number} steps @param {number} ratio */
function isNotches(steps, ratio) {
  const notches = Math.round(steps * ratio / TICK)
  // What is left of a division is cut off.
  return notches > 0 && Math.abs(steps - notches * TICK / ratio) < (ratio === 1 ? 1e-9 : 1)
}

/** @param {number} value @param {number} other */
function isAbout(value, other) { return Math.abs(value / other - 1) < 0.01 }

/** Whether an event is a pinch on a trackpad, which comes as a wheel with the Control key. @param {WheelMove} move */
export function isPinch({ deltaMode, deltaY, ctrlKey }) { return Boolean(ctrlKey) && deltaMode === 0 && Math.abs(deltaY) < PINCH }

/**
 * By how much an event zooms in: 1 is not at all.
 * @param {WheelMove} move
 */
export function wheelFactor(move) {
  const { deltaMode, deltaY, wheelDeltaY = 0 } = move
  const pixels = Math.abs(deltaY) * [1, 18, 400][deltaMode]
  const isFinger = isPinch(move)
  // On a Mac a slow notch is told as 4 pixels, or less.
  const least = isFinger || wheelDeltaY === 0 ? 0
    : wheelDeltaY % TICK === 0 ? NOTCH * Math.abs(wheelDeltaY) / TICK : isAbout(Math.abs(wheelDeltaY), 3 * pixels) ? SLOW : 0
  const bounded = Math.min(300, Math.max(pixels, least)) * Math.sign(deltaY)
  return Math.exp(-bounded * (isFinger ? 0.01 : 0.002))
}
