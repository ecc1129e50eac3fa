const PAUSE = 200 // ms without an event, after which another device may be in use
const MOUSE = 30 // CSS px of a single mouse event, with which a touch rarely starts
const PINCH = 50 // CSS px that a single pinch event never reaches
const TICK = 120 // `wheelDelta` of one notch of a mouse wheel
const NOTCH = 53 // minimum CSS px of a notch
const SLOW = 30 // minimum CSS px of any mouse event in Safari

/**
 * The properties of a wheel event. Firefox reports lines if `deltaMode` is read first, and pixels otherwise.
 * @typedef {object} WheelMove
 * @property {number} deltaX in the unit of `deltaMode`
 * @property {number} deltaY
 * @property {number} deltaMode 0: CSS pixels, 1: lines, 2: pages
 * @property {number} [wheelDeltaX] the opposite of `deltaX` in steps of the device; not in every browser
 * @property {number} [wheelDeltaY]
 * @property {boolean} [ctrlKey] also set for a pinch on a trackpad
 * @property {boolean} [metaKey]
 */

/**
 * Distinguishes a mouse wheel from two fingers on a trackpad, which browsers do not.
 *
 * It classifies events by their values, and keeps the result while they arrive without a pause. A touch that was recognized
 * by its first, small movements is therefore not mistaken for a mouse when it becomes fast. A free-spinning wheel with steps
 * finer than notches counts as a trackpad.
 */
export class WheelClassifier {
  /** @type {'mouse' | 'trackpad'} the source of the last event */
  kind = 'mouse'
  #time = -Infinity

  /**
   * Returns the action for an event: zoom at the pointer, or pan.
   * @param {WheelMove} move
   * @param {number} time ms
   * @param {number} [ratio] device pixels per CSS pixel; Chromium divides steps by it on some systems
   * @returns {'zoom' | 'move'}
   */
  read(move, time, ratio = 1) {
    if (move.ctrlKey || move.metaKey) return 'zoom'
    const isContinued = time - this.#time < PAUSE
    this.#time = time
    // A touch rarely starts with exactly the value of a notch.
    const kind = device(move, ratio) ?? (isContinued ? null : 'mouse')
    const isMomentum = isContinued && this.kind === 'trackpad' && move.deltaMode === 0
    if (kind && !isMomentum) this.kind = kind
    return this.kind === 'mouse' ? 'zoom' : 'move'
  }
}

/**
 * Classifies an event by its values alone; null if they are ambiguous.
 * @param {WheelMove} move
 * @param {number} ratio
 */
function device({ deltaMode, deltaX, deltaY, wheelDeltaX = 0, wheelDeltaY = 0 }, ratio) {
  if (deltaMode !== 0) return 'mouse'
  if (deltaX !== 0 && deltaY !== 0) return 'trackpad'
  const delta = Math.abs(deltaY || deltaX)
  const steps = Math.abs(deltaY !== 0 ? wheelDeltaY : wheelDeltaX)
  // Created by a program, or by a browser that reports no steps.
  if (steps === 0 || isAbout(steps, delta)) return delta >= MOUSE ? 'mouse' : 'trackpad'
  // Pixels of a Mac: whole numbers are from a touch, except those that may be a notch.
  if (isAbout(steps, 3 * delta)) return !Number.isInteger(delta) ? 'mouse' : steps % TICK === 0 ? null : 'trackpad'
  return isNotches(steps, 1) || isNotches(steps, ratio) ? 'mouse' : 'trackpad'
}

/**
 * Whether steps, which are whole numbers, correspond to one or more notches.
 * @param {number} steps
 * @param {number} ratio
 */
function isNotches(steps, ratio) {
  const notches = Math.round(steps * ratio / TICK)
  // The remainder of the division is truncated.
  return notches > 0 && Math.abs(steps - notches * TICK / ratio) < (ratio === 1 ? 1e-9 : 1)
}

/**
 * Whether two values differ by less than 1%.
 * @param {number} value
 * @param {number} other
 */
function isAbout(value, other) { return Math.abs(value / other - 1) < 0.01 }

/**
 * Whether an event is a pinch on a trackpad, which browsers report as a wheel event with the Control key.
 * @param {WheelMove} move
 */
export function isPinch({ deltaMode, deltaY, ctrlKey }) { return Boolean(ctrlKey) && deltaMode === 0 && Math.abs(deltaY) < PINCH }

/**
 * Returns the factor by which an event zooms in; 1 for no change.
 * @param {WheelMove} move
 */
export function wheelFactor(move) {
  const { deltaMode, deltaY, wheelDeltaY = 0 } = move
  const pixels = Math.abs(deltaY) * [1, 18, 400][deltaMode]
  const isFinger = isPinch(move)
  // A Mac reports a slow notch as 4 pixels or less.
  const minimum = isFinger || wheelDeltaY === 0 ? 0
    : wheelDeltaY % TICK === 0 ? NOTCH * Math.abs(wheelDeltaY) / TICK : isAbout(Math.abs(wheelDeltaY), 3 * pixels) ? SLOW : 0
  const bounded = Math.min(300, Math.max(pixels, minimum)) * Math.sign(deltaY)
  return Math.exp(-bounded * (isFinger ? 0.01 : 0.002))
}
